"""A link that was up, or ought to be, and is down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Level, Severity, Verdict, View
from supernoded_link_ber.health.ports import Past, Ports, remember
from supernoded_link_ber.health.seeing import STATE, list_told, name_all, name_source
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall

PHYSICAL, DOWNED, RECENT = "link.phys_state", "link.downed", "link.recent_downs"


class DownRule:
    """Raises a link that all who can tell call down, if it was up before or a cable is declared to be in it."""

    kind, scope = "link.down", NODE

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.watches: Mapping[str, float] = ports.gallery.watches
        self._recall = Recall[None](ports.gallery, self.kind, (STATE,))

    def start(self) -> Past:
        """No link was ever up."""
        return Past()

    def judge(self, seen: View, memory: Past) -> tuple[Past, Sequence[Verdict]]:
        """The level of every link."""
        glimpses = self._recall.look(seen)
        past = remember(memory, glimpses, seen.now)
        return past, self._recall.ask(glimpses, {}, lambda glimpse, _: (None, self._judge(glimpse, past)))[1]

    def _judge(self, seen: Glimpse, past: Past) -> Verdict:
        port, told = seen.port, seen.states
        ups, downs = [s for s, state in told.items() if state], [s for s, state in told.items() if not state]
        severity = Severity.CRITICAL
        unseen: tuple[str, ...] = ()
        if not told:
            newest = seen.newest(STATE, port)
            note = newest.note if newest is not None else ""
            level, text, unseen = Level.UNSURE, f"whether the link is up cannot be seen: {note}", (f"{STATE}: {note}",)
        elif not downs:
            level, text = Level.CLEAR, "the link is up"
        elif ups:
            level, text = Level.UNSURE, f"the link is up by {_name(ups)} and down by {_name(downs)}"
            unseen = (f"{STATE}: its sources contradict each other",)
        else:
            level, severity, text = self._judge_down(seen, port, past)
            unseen = (text,) if level is Level.UNSURE else ()
        return Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, severity=severity, unseen=unseen)

    def _judge_down(self, seen: Glimpse, port: str, past: Past) -> tuple[Level, Severity, str]:
        ports, peer, was_up = self._ports, self._ports.peer(port), port in past.seen_up
        down, towards = _describe(seen, port), f"; its cable goes to {peer}" if peer else ""
        excuse = ports.find_excuse(seen, past.worked.get(port), past.seen_up.get(port))
        if excuse:
            return Level.UNSURE, Severity.WARNING, f"{down}; {excuse}"
        off = ports.is_switched_off(seen, port)
        if off and peer and not was_up:
            return Level.RAISED, Severity.WARNING, f"{down}, it is switched off, but a cable is declared to be in it{towards}"
        if off or (peer and ports.is_switched_off(seen.seen, peer)):
            return Level.CLEAR, Severity.WARNING, f"{down}, {'it' if off else f'{peer} at its other end'} was switched off"
        if was_up:
            return Level.RAISED, Severity.CRITICAL, f"{down}, it was up before{towards}"
        if peer:
            return Level.RAISED, Severity.CRITICAL, f"{down}, it was never seen up, but a cable is declared to be in it{towards}"
        if recorded := _count_recorded(seen, port):
            return Level.RAISED, Severity.WARNING, f"{down}, by its own records it was up before and went down {recorded:.0f} times"
        return Level.CLEAR, Severity.WARNING, f"{down}, it was never seen up and no cable is declared to be in it"


def _describe(seen: Glimpse, port: str) -> str:
    """With the device's own words for it."""
    downs = [reading for reading in list_told(seen, STATE, port).values() if not reading.value]
    physical = seen.good(PHYSICAL, port)
    told = [str(physical.value)] if physical is not None and physical.at >= max(one.at for one in downs) else []
    words = {note.casefold(): note for note in (*(one.note for one in downs), *told) if note}
    words = {low: word for low, word in words.items() if not any(low in other and low != other for other in words)}
    said = name_all(words[low] for low in sorted(words))
    return f"the link is down ({said})" if said else "the link is down"


def _name(sources: Sequence[str]) -> str:
    return name_all(map(name_source, sources))


def _count_recorded(seen: Glimpse, port: str) -> float:
    """How often it went down by a device that keeps records; a mere counter may be as old as the burn-in of the node."""
    keepers = [source for source in seen.sources(RECENT, port) if seen.good(RECENT, port, source)]
    return max((seen.number(DOWNED, port, source) or 0.0 for source in keepers), default=0.0)

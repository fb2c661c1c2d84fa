"""A module whose light, current, heat or supply is outside its own limits, that sees no light, or that is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.bounds import MEASURED, Breach, find_breaches
from supernoded_link_ber.health.ports import ENABLED, Past, Ports, remember
from supernoded_link_ber.health.seeing import STATE, list_numbers, list_told, name_all
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall

LOS, PRESENT, RX = "link.los", "link.present", "link.rx_power"
MOST_TOLD = 3  # findings of one sentence, ours


class OpticMemory(msgspec.Struct, frozen=True):
    """Port -> the names of what is outside, and the past of all."""

    breaches: dict[str, tuple[str, ...]] = {}
    past: Past = Past()


class OpticRule:
    """Raises a module that breaks its own limits. A port that nobody expects to be up may be dark."""

    kind, scope = "link.optic", NODE

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.watches: Mapping[str, float] = ports.gallery.watches
        self._recall = Recall[tuple[str, ...]](ports.gallery, self.kind, (LOS, PRESENT, *MEASURED))

    def start(self) -> OpticMemory:
        """No module was ever seen."""
        return OpticMemory()

    def judge(self, seen: View, memory: OpticMemory) -> tuple[OpticMemory, Sequence[Verdict]]:
        """The level of every port with a module, or with a place for one."""
        glimpses = self._recall.look(seen)
        past = remember(memory.past, glimpses, seen.now)
        breaches, verdicts = self._recall.ask(glimpses, memory.breaches, lambda glimpse, known: self._judge(glimpse, known or (), past))
        return OpticMemory(breaches, past), verdicts

    def _judge(self, seen: Glimpse, known: Sequence[str], past: Past) -> tuple[tuple[str, ...] | None, Verdict]:
        port, lanes = seen.port, seen.lanes
        found = self._find(seen, port, lanes, frozenset(known))
        own = [one for one in found if not seen.is_down or not _is_about_light(one.name)]
        texts, names = [one.text for one in own or found], tuple(one.name for one in own)
        unseen: tuple[str, ...] = ()
        excuse = self._find_excuse(seen, past, own) if texts else ""
        if texts and excuse:
            level, text, names, unseen = Level.UNSURE, f"{texts[0]}; {excuse}", tuple(known), (excuse,)
        elif texts:
            level, text = (
                Level.RAISED,
                "; ".join((*texts[:MOST_TOLD], *([f"and {len(texts) - MOST_TOLD} more"] if texts[MOST_TOLD:] else ()))),
            )
        elif not any(seen.good(quantity, place) for quantity in (*MEASURED, LOS) for place in (port, *lanes.get(quantity, {}).values())):
            newest = next((one for quantity in (PRESENT, *MEASURED, LOS) if (one := seen.newest(quantity, port)) is not None), None)
            note = newest.note if newest is not None and newest.note else "no reading of it is fresh"
            level, text, names, unseen = Level.UNSURE, f"its module cannot be seen: {note}", tuple(known), (f"{PRESENT}: {note}",)
        else:
            level, text = Level.CLEAR, "its module is within its own limits"
        return names or None, Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)

    def _find_excuse(self, seen: Glimpse, past: Past, own: Sequence[Breach]) -> str:
        """Why it is not judged now; empty when it is."""
        excuse = self._ports.find_excuse(seen, past.worked.get(seen.port), past.seen_up.get(seen.port)) or self._find_rest(seen, past)
        excuse = excuse or _find_lag(seen)
        return excuse or ("" if own else "not judged, the link is down, and its other end may send nothing")

    def _find_rest(self, seen: Glimpse, past: Past) -> str:
        """Why nobody expects light in it; empty when somebody does."""
        port = seen.port
        if self._ports.is_switched_off(seen, port):
            return "not judged, the port is switched off"
        if self._ports.is_declared(port) or port in past.seen_up or not seen.states:
            return ""
        return "not judged, the link was never seen up and no cable is declared to be in it"

    def _find(self, seen: Glimpse, port: str, lanes: Mapping[str, Mapping[int, str]], known: frozenset[str]) -> list[Breach]:
        present = list_numbers(seen, PRESENT, port)
        alive = any((seen.number(quantity, port) or 0.0) > 0.0 for quantity in MEASURED)
        if present and not any(present.values()) and not alive:
            return [Breach("absent", "no module is in the cage")]
        return [*find_breaches(seen, port, lanes, known), *self._find_flags(seen, port, lanes.get(LOS, {}))]

    def _find_flags(self, seen: Glimpse, port: str, lanes: Mapping[int, str]) -> list[Breach]:
        """Loss of signal or lock, by lane where it is told by lane; lanes that report the same are named together."""
        alike: dict[frozenset[str], list[int]] = {}
        for number, lane in lanes.items():
            if flags := seen.flags(LOS, lane):
                alike.setdefault(flags, []).append(number)
        if alike:
            told = ((name_all(sorted(flags)), _name_lanes(those)) for flags, those in alike.items())
            return [Breach(f"{LOS} {flags}", f"{those} {flags}") for flags, those in told]
        whole = seen.flags(LOS, port)
        return [Breach(f"{LOS} {name_all(sorted(whole))}", f"it reports {name_all(sorted(whole))}")] if whole else []


def _find_lag(seen: Glimpse) -> str:
    """Light that was read after the state: the link may have gone down, or been switched off, in between. The next poll tells."""
    light = max((one.at for name in (RX, LOS) if (one := seen.good(name, seen.port)) is not None), default=None)
    told = (list_told(seen, quantity, seen.port).values() for quantity in (STATE, ENABLED))
    states = [max(one.at for one in several) for several in told if several]
    is_ahead = light is not None and any(at < light for at in states)
    return "not yet judged, whether the link is up, or switched off, was read before its module was" if is_ahead else ""


def _name_lanes(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"lane {numbers[0]} reports"
    return f"lanes {name_all(map(str, numbers), 16)} report"


def _is_about_light(name: str) -> bool:
    """Whether it is about what arrives: over a link that is down that is the link's trouble, and often the other end's."""
    return RX in name or "rx-" in name

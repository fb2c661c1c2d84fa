"""Views of one link that contradict each other. People are told; nothing is ever taken out for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.bounds import MEASURED
from supernoded_link_ber.health.seeing import STATE, list_lanes, list_ports, list_told, name_all, name_source

PRESENT = "link.present"
CONTRADICTION = "contradiction:"  # how device plugins begin the note of a reading that contradicts its own source
NOTED = (
    "link.ber.post_fec",
    "link.ber.pre_fec",
    "link.fec.corrected",
    "link.fec",
    "link.los",
    "link.speed",
    "link.width",
    "link.neighbour",
)
WATCHED = tuple(dict.fromkeys((STATE, PRESENT, "link.snr", *MEASURED, *NOTED)))
ROUNDS = 3  # times that every source must have been read anew while they contradict each other: more than two polls, ours


class Dispute(msgspec.Struct, frozen=True):
    """How often all sources of a state were read anew and still contradicted each other."""

    rounds: int = 0
    read: dict[str, float] = {}  # source -> when it was read at the begin of this round


class ConflictMemory(msgspec.Struct, frozen=True):
    """Port -> the dispute on its state, and on whether it has a module."""

    states: dict[str, Dispute] = {}
    modules: dict[str, Dispute] = {}


class ConflictRule:
    """Raises a port whose sources contradict each other, or whose module is `not present` and measures all the same."""

    kind, scope = "link.conflict", NODE
    watches: Mapping[str, float] = dict.fromkeys(WATCHED, 120.0)

    def start(self) -> ConflictMemory:
        """No dispute is known."""
        return ConflictMemory()

    def judge(self, seen: View, memory: ConflictMemory) -> tuple[ConflictMemory, Sequence[Verdict]]:
        """The level of every port of which anything was read."""
        lanes: dict[str, list[str]] = {}
        for quantity in WATCHED:
            for port, its in list_lanes(seen, quantity).items():
                lanes.setdefault(port, []).extend(its.values())
        states, modules, verdicts = dict[str, Dispute](), dict[str, Dispute](), list[Verdict]()
        for port in list_ports(seen, *WATCHED):
            places = (port, *dict.fromkeys(lanes.get(port, ())))
            state = _follow(memory.states.get(port, Dispute()), *_find_sides(seen, port))
            absent, live = _find_ghost(seen, port, places)
            module = _follow(memory.modules.get(port, Dispute()), absent, live)
            if state.read:
                states[port] = state
            if module.read:
                modules[port] = module
            found = [*_tell_state(seen, port, state), *_tell_ghost(absent, live, module), *_find_noted(seen, places)]
            verdicts.append(self._judge(seen, port, found, state))
        return ConflictMemory(states, modules), verdicts

    def _judge(self, seen: View, port: str, found: Sequence[str], dispute: Dispute) -> Verdict:
        told = list_told(seen, STATE, port)
        unseen: tuple[str, ...] = ()
        if found:
            level, text = Level.RAISED, f"{'; '.join(found[:4])}; neither view is acted upon"
        elif dispute.read:
            level, text = Level.UNSURE, f"{_name_sides(seen, port)}, not yet for long enough to call it a contradiction"
            unseen = (f"{STATE}: which of its sources is right",)
        else:
            level, text = Level.CLEAR, "its sources agree" if len(told) > 1 else "nothing contradicts itself"
        return Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)


def _follow(before: Dispute, one: Mapping[str, float], other: Mapping[str, float]) -> Dispute:
    """A round is over when everybody on both sides was read anew."""
    if not one or not other:
        return Dispute()
    read = {source: max(one.get(source, 0.0), other.get(source, 0.0)) for source in (*one, *other)}
    if before.read and not all(at > before.read.get(source, -1.0) for source, at in read.items()):
        return before
    return Dispute(min(before.rounds + 1, ROUNDS), read)


def _find_sides(seen: View, port: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Who says up and who says down, and when each was read."""
    told = list_told(seen, STATE, port)
    up, down = ({source: one.at for source, one in told.items() if bool(one.value) is side} for side in (True, False))
    return up, down


def _tell_state(seen: View, port: str, dispute: Dispute) -> list[str]:
    return [f"{_name_sides(seen, port)}, {dispute.rounds} polls long"] if dispute.rounds >= ROUNDS else []


def _name_sides(seen: View, port: str) -> str:
    told = list_told(seen, STATE, port)
    up, down = ([name_source(source) for source, reading in told.items() if bool(reading.value) is side] for side in (True, False))
    return f"the link is up by {name_all(up)} and down by {name_all(down)}"


def _find_ghost(seen: View, port: str, places: Sequence[str]) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Who calls a module absent, and who measures something of it; when each was read."""
    absent = {source: one.at for source, one in list_told(seen, PRESENT, port).items() if not one.value}
    live: dict[str, float] = {}
    for quantity in (*MEASURED, "link.snr") if absent else ():
        for place in places:
            for source, one in list_told(seen, quantity, place).items():
                if isinstance(one.value, int | float) and one.value > 0.0:
                    live[source] = max(one.at, live.get(source, 0.0))
    return absent, live


def _tell_ghost(absent: Mapping[str, float], live: Mapping[str, float], dispute: Dispute) -> list[str]:
    """One source that says both contradicts itself; two may have looked before and after somebody pulled the module."""
    if dispute.rounds < ROUNDS and absent.keys().isdisjoint(live):
        return []
    return [
        f"no module is in the cage by {name_all(map(name_source, absent))}, yet {name_all(map(name_source, live))} reads live values of it"
    ]


def _find_noted(seen: View, places: Sequence[str]) -> list[str]:
    """What a device plugin saw that contradicts itself."""
    notes: dict[str, None] = {}
    for quantity in WATCHED:
        for place in places:
            for source in seen.sources(quantity, place):
                reading = seen.newest(quantity, place, source)
                if reading is not None and reading.note.startswith(CONTRADICTION):
                    notes[reading.note.removeprefix(CONTRADICTION).strip()] = None
    return list(notes)

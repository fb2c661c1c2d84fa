"""Views of one link that contradict each other. People are told; nothing is ever taken out for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, State, Verdict, View
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.health.bounds import MEASURED
from supernoded_link_ber.health.seeing import STATE, list_told, name_all, name_source
from supernoded_link_ber.looking import OF_LANES, Glimpse
from supernoded_link_ber.recalling import Recall

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
ALIVE = (*MEASURED, "link.snr")
ROUNDS = 3  # times that every source must have been read anew while they contradict each other: more than two polls, ours


class Dispute(msgspec.Struct, frozen=True):
    """How often all sources of a state were read anew and still contradicted each other."""

    rounds: int = 0
    read: dict[str, float] = {}  # source -> when it was read at the begin of this round


NO_DISPUTE = Dispute()


class ConflictMemory(msgspec.Struct, frozen=True):
    """Port -> the dispute on its state, and on whether it has a module."""

    disputes: dict[str, tuple[Dispute, Dispute]] = {}


class ConflictRule:
    """Raises a port whose sources contradict each other, or whose module is `not present` and measures all the same."""

    kind, scope = "link.conflict", NODE

    def __init__(self, gallery: Gallery) -> None:
        self.watches: Mapping[str, float] = gallery.watches
        self._recall = Recall[tuple[Dispute, Dispute]](gallery, self.kind, (*WATCHED, *(f"{name}{OF_LANES}" for name in WATCHED)))

    def start(self) -> ConflictMemory:
        """No dispute is known."""
        return ConflictMemory()

    def judge(self, seen: View, memory: ConflictMemory) -> tuple[ConflictMemory, Sequence[Verdict]]:
        """The level of every port of which anything was read."""
        disputes, verdicts = self._recall.ask(self._recall.look(seen), memory.disputes, self._weigh)
        return ConflictMemory({port: pair for port, pair in disputes.items() if pair[0].read or pair[1].read}), verdicts

    def _weigh(self, seen: Glimpse, known: tuple[Dispute, Dispute] | None) -> tuple[tuple[Dispute, Dispute] | None, Verdict]:
        before = known or (NO_DISPUTE, NO_DISPUTE)
        state = _follow(before[0], *_find_sides(seen, seen.port))
        absent, live = _find_ghost(seen)
        module = _follow(before[1], absent, live)
        found = [*_tell_state(seen, seen.port, state), *_tell_ghost(absent, live, module), *_find_noted(seen)]
        return (state, module) if state.read or module.read else None, self._judge(seen, seen.port, found, state)

    def _judge(self, seen: Glimpse, port: str, found: Sequence[str], dispute: Dispute) -> Verdict:
        unseen: tuple[str, ...] = ()
        if found:
            level, text = Level.RAISED, f"{'; '.join(found[:4])}; neither view is acted upon"
        elif dispute.read:
            level, text = Level.UNSURE, f"{_name_sides(seen, port)}, not yet for long enough to call it a contradiction"
            unseen = (f"{STATE}: which of its sources is right",)
        else:
            level, text = Level.CLEAR, "its sources agree" if len(list_told(seen, STATE, port)) > 1 else "nothing contradicts itself"
        return Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)


def _follow(before: Dispute, one: Mapping[str, float], other: Mapping[str, float]) -> Dispute:
    """A round is over when everybody on both sides was read anew."""
    if not one or not other:
        return Dispute()
    read = {source: max(one.get(source, 0.0), other.get(source, 0.0)) for source in (*one, *other)}
    if before.read and not all(at > before.read.get(source, -1.0) for source, at in read.items()):
        return before
    return Dispute(min(before.rounds + 1, ROUNDS), read)


def _find_sides(seen: Glimpse, port: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Who says up and who says down, and when each was read."""
    told = list_told(seen, STATE, port)
    up, down = ({source: one.at for source, one in told.items() if bool(one.value) is side} for side in (True, False))
    return up, down


def _tell_state(seen: Glimpse, port: str, dispute: Dispute) -> list[str]:
    return [f"{_name_sides(seen, port)}, {dispute.rounds} polls long"] if dispute.rounds >= ROUNDS else []


def _name_sides(seen: Glimpse, port: str) -> str:
    told = list_told(seen, STATE, port)
    up, down = ([name_source(source) for source, reading in told.items() if bool(reading.value) is side] for side in (True, False))
    return f"the link is up by {name_all(up)} and down by {name_all(down)}"


def _find_ghost(seen: Glimpse) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Who calls a module absent, and who measures something of it; when each was read."""
    absent = {source: one.at for source, one in list_told(seen, PRESENT, seen.port).items() if not one.value}
    live: dict[str, float] = {}
    for _, one in seen.list_all(ALIVE) if absent else ():
        if one.state is State.GOOD and isinstance(one.value, int | float) and one.value > 0.0:
            live[one.source] = max(one.at, live.get(one.source, 0.0))
    return absent, live


def _tell_ghost(absent: Mapping[str, float], live: Mapping[str, float], dispute: Dispute) -> list[str]:
    """One source that says both contradicts itself; two may have looked before and after somebody pulled the module."""
    if dispute.rounds < ROUNDS and absent.keys().isdisjoint(live):
        return []
    return [
        f"no module is in the cage by {name_all(map(name_source, absent))}, yet {name_all(map(name_source, live))} reads live values of it"
    ]


def _find_noted(seen: Glimpse) -> list[str]:
    """What a device plugin saw that contradicts itself."""
    noted = (one.note.removeprefix(CONTRADICTION).strip() for one in seen.noted if one.note.startswith(CONTRADICTION))
    return list(dict.fromkeys(noted))

"""Silent loss (N6): packets are dropped, and nobody was asked to slow down: no ECN mark, no pause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Severity, State, Verdict, View
from supernoded_network.growth import Meter, list_subjects, say_why
from supernoded_network.settings import NetworkSettings

STATE = "link.state"


class Place(msgspec.Struct, frozen=True):
    """What counts losses in one kind of place, and what counts the signs that senders were told."""

    drops: str
    marks: tuple[str, ...]
    pauses: tuple[str, ...]


PLACES = (
    Place("switch.drops", ("switch.marks",), ("switch.pauses",)),
    Place(
        "link.discards",
        ("link.ecn_marked", "link.cnp_sent", "link.cnp_received"),
        ("link.pauses_sent", "link.pauses_received"),
    ),
)
QUANTITIES = tuple(name for place in PLACES for name in (place.drops, *place.marks, *place.pauses))


class LossRule:
    """Raises a switch or port that drops without a mark and without a pause over the whole window."""

    kind, scope = "link.loss", NODE

    def __init__(self, settings: NetworkSettings) -> None:
        self._window, self._meter = settings.loss_window_s, Meter()
        self.watches: Mapping[str, float] = dict.fromkeys((*QUANTITIES, STATE), settings.loss_window_s)

    def start(self) -> None:
        """It remembers nothing: the window holds all that it needs."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of everything that counts drops."""
        return memory, [self._judge(seen, place, subject) for place in PLACES for subject in list_subjects(seen, [place.drops])]

    def _judge(self, seen: View, place: Place, subject: str) -> Verdict:
        level, text, unseen = self._weigh(seen, place, subject)
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=seen.now, severity=Severity.CRITICAL, unseen=unseen)

    def _weigh(self, seen: View, place: Place, subject: str) -> tuple[Level, str, tuple[str, ...]]:
        drops = self._meter.grow_most(seen, place.drops, subject)
        if drops is None:
            why = say_why(seen, place.drops, subject)
            return Level.UNSURE, f"{subject}: whether it drops cannot be seen: {why}", (why,)
        if not drops:
            return Level.CLEAR, f"{subject}: nothing was dropped in {self._window:.0f} s", ()
        dropped = f"{subject} dropped {drops:.0f} packets in {self._window:.0f} s"
        marks, pauses = self._meter.grow_any(seen, place.marks, subject), self._meter.grow_any(seen, place.pauses, subject)
        if marks or pauses:
            return Level.CLEAR, f"{dropped}, and told senders so: {marks or 0:.0f} marks, {pauses or 0:.0f} pauses", ()
        if was_down(seen, subject):
            return Level.CLEAR, f"{dropped}, while its link was down", ()
        unseen = tuple(say_why(seen, names[0], subject) for names, value in ((place.marks, marks), (place.pauses, pauses)) if value is None)
        if unseen:
            return Level.UNSURE, f"{dropped}, whether senders were told cannot be seen: {'; '.join(unseen)}", unseen
        return Level.RAISED, f"{dropped} with no ECN mark and no pause: silent loss, a threshold of ECN or PFC is wrong", ()


def was_down(seen: View, subject: str) -> bool:
    """Whether its link was seen down in the window: then drops have another cause."""
    readings = (one for source in seen.sources(STATE, subject) for one in seen.window(STATE, subject, source))
    return any(one.state is State.GOOD and one.value == 0.0 for one in readings)

"""A card whose memory fills up: how long until it is full, at the slope of the last minutes (H10). Its own node judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from supernoded.plugin import NODE, Level, Reading, State, Verdict, View
from supernoded_isolation.settings import IsolationSettings

USED, TOTAL = "card.memory_used", "card.memory_total"
LEAST = 6  # readings, below which no slope is believed (ours)
RISES, FALLS = 3, 0.2  # steps up at least (a job that allocates once has one), and the share of steps down at most (ours)
NEAR = 0.5  # share of the memory below which nothing is told, however steep: a job that starts fills it within minutes (ours)


class MemoryRule:
    """Raises a card whose memory will be full within `leak_lead_s` if it goes on as it did."""

    kind, scope = "card.memory", NODE

    def __init__(self, settings: IsolationSettings, is_under_maintenance: Callable[[str], bool]) -> None:
        self._set, self._is_under_maintenance = settings, is_under_maintenance
        self.watches: Mapping[str, float] = {USED: settings.leak_window_s, TOTAL: settings.leak_window_s}

    def start(self) -> None:
        """It remembers nothing: the window holds all that it needs."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every card that tells both."""
        return memory, [self._judge(seen, card) for card in seen.subjects(USED)]

    def _judge(self, seen: View, card: str) -> Verdict:
        looks = [one for one in seen.window(USED, card) if one.state is State.GOOD and isinstance(one.value, float)]
        total = seen.number(TOTAL, card)
        if self._is_under_maintenance(card):
            return self._say(seen, card, Level.UNSURE, f"{card}: under maintenance, it is not judged")
        if seen.number(USED, card) is None or not total or not looks:
            return self._say(seen, card, Level.UNSURE, f"{card}: how much of its memory is used, or how much it has, is not read")
        used = _number(looks[-1])
        slope = measure_rise(looks) if looks[-1].at - looks[0].at >= 0.5 * self._set.leak_window_s else 0.0
        said = f"{card}: {used / 2**30:.1f} of {total / 2**30:.1f} GiB are used"
        left = (total - used) / slope if slope > 0.0 else float("inf")
        if used < NEAR * total or left > self._set.leak_lead_s:
            return self._say(seen, card, Level.CLEAR, said)
        text = (
            f"{said}, {slope * 60 / 2**20:.0f} MiB more each minute: full in {left / 60:.0f} min; save and start the job anew before that"
        )
        return self._say(seen, card, Level.RAISED, text)

    def _say(self, seen: View, card: str, level: Level, text: str) -> Verdict:
        return Verdict(kind=self.kind, subject=card, level=level, text=text, at=seen.now)


def measure_rise(looks: Sequence[Reading]) -> float:
    """B/s by least squares; 0 where it does not go up steadily, or was read too seldom."""
    if len(looks) < LEAST:
        return 0.0
    steps = [_number(after) - _number(before) for before, after in pairwise(looks)]
    if sum(step > 0.0 for step in steps) < RISES or sum(step < 0.0 for step in steps) > FALLS * len(steps):
        return 0.0
    middle = sum(one.at for one in looks) / len(looks)
    spread = sum((one.at - middle) ** 2 for one in looks)
    return sum((one.at - middle) * _number(one) for one in looks) / spread if spread else 0.0


def _number(reading: Reading) -> float:
    return reading.value if isinstance(reading.value, float) else 0.0

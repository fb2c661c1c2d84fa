"""A straggler: its peers wait for it in every step. People are told; nothing is taken out for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Verdict, View
from supernoded_isolation.evidence import RANK_WATCHES, list_jobs
from supernoded_isolation.evidence.pace import PACE_WATCHES, Pace, measure_pace
from supernoded_isolation.evidence.ranks import STEP
from supernoded_isolation.evidence.shared import SHARED_WATCHES, find_heat, find_hog
from supernoded_isolation.settings import IsolationSettings

EVERY_S = 5.0  # s between two looks: numbers of other nodes come as often
MANY = 256  # cards of a job; of more, those that are like their peers are only spoken of now and then (ours)
CLEAR_S = 60.0  # s between two looks at which they are


class Slowness(msgspec.Struct, frozen=True):
    """Card -> the step at which it was first seen to be slow, and the newest one since."""

    steps: dict[str, tuple[float, float]] = {}
    at: float = 0.0  # when they were looked at
    cleared: float = 0.0  # when of all cards was said how they are


class SlowRule:
    """Raises a card on which a rank has been busy for much longer than its peers, over several steps."""

    kind, scope = "card.slow", "spares"
    watches: Mapping[str, float] = {**RANK_WATCHES, **PACE_WATCHES, **SHARED_WATCHES}

    def __init__(self, settings: IsolationSettings) -> None:
        self._set = settings

    def start(self) -> Slowness:
        """None is."""
        return Slowness()

    def judge(self, seen: View, memory: Slowness) -> tuple[Slowness, Sequence[Verdict]]:
        """The level of every card that a job steps on."""
        if 0.0 <= seen.now - memory.at < EVERY_S:
            return memory, ()
        steps, verdicts = dict(memory.steps), list[Verdict]()
        due = not 0.0 <= seen.now - memory.cleared < CLEAR_S
        for job in list_jobs(seen):
            paces, why = measure_pace(seen, job)
            if why:
                slow = [rank.card for rank in job.ranks if rank.card in steps]
                verdicts += [self._say(seen, card, Level.UNSURE, why) for card in slow]
                continue
            told = paces if due or len(paces) <= MANY else [pace for pace in paces if pace.card in steps or self._is_slow(pace)]
            verdicts += self._judge(seen, told, steps)
        return Slowness(steps, seen.now, seen.now if due else memory.cleared), verdicts

    def _is_slow(self, pace: Pace) -> bool:
        return pace.z >= self._set.slow_z and pace.percent >= self._set.slow_percent

    def _judge(self, seen: View, paces: Sequence[Pace], steps: dict[str, tuple[float, float]]) -> Iterator[Verdict]:
        for pace in paces:
            step = seen.number(STEP, pace.rank)
            text = f"{pace.card}: {pace.rank} is busy for {pace.seconds:.2f} s a step, {pace.percent:+.0f} % of its peers, z = {pace.z:.1f}"
            if not self._is_slow(pace) or step is None:
                yield self._clear(seen, pace, step, steps, text)
                continue
            first, newest = steps.get(pace.card, (step, step))
            steps[pace.card] = (min(first, step), max(newest, step))
            over = steps[pace.card][1] - steps[pace.card][0]
            excuse = find_heat(seen, pace.card) or find_hog(seen, pace.card.partition("/")[0])
            if excuse or over < self._set.slow_steps:
                yield self._say(
                    seen, pace.card, Level.UNSURE, f"{text}, {excuse or f'for {over:.0f} steps, {self._set.slow_steps} are the limit'}"
                )
            else:
                yield self._say(seen, pace.card, Level.RAISED, f"{text}, for {over:.0f} steps: the whole job waits for it")

    def _clear(self, seen: View, pace: Pace, step: float | None, steps: dict[str, tuple[float, float]], text: str) -> Verdict:
        """After as many steps as it took to raise it: while a job saves all cards are busy alike, and no step is done."""
        first, newest = steps.get(pace.card, (0.0, 0.0))
        if step is not None and newest - first >= self._set.slow_steps and 0.0 <= step - newest < self._set.slow_steps:
            return self._say(seen, pace.card, Level.UNSURE, f"{text}, for {step - newest:.0f} steps, {self._set.slow_steps} are waited for")
        steps.pop(pace.card, None)
        return self._say(seen, pace.card, Level.CLEAR, text)

    def _say(self, seen: View, card: str, level: Level, text: str) -> Verdict:
        return Verdict(kind=self.kind, subject=card, level=level, text=text, at=seen.now)

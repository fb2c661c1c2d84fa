"""Whether packing still gives and costs what it did at first (C12). Pure.

The claims of the documents are no measure for a site: its own first rounds are. What drifts by much says that the job saves something else
now, or that processors or storage are not what they were.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from statistics import median

import msgspec

ROUNDS = 8  # of a baseline, and of what is compared with it (ours): one odd round moves no median
LEAST = 1_000_000  # bytes of a round that tells anything (ours)
RATIO, CPU, TIME = 1.5, 2.0, 3.0  # times by which each may differ (ours): storage that others use as well varies most


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """One round, or all: bytes before and after packing, and what copying took of a processor and in all, seconds."""

    before: int = 0
    after: int = 0
    cpu_s: float = 0.0
    copy_s: float = 0.0

    def since(self, earlier: Packed) -> Packed:
        """What came after `earlier`."""
        return Packed(
            before=self.before - earlier.before,
            after=self.after - earlier.after,
            cpu_s=self.cpu_s - earlier.cpu_s,
            copy_s=self.copy_s - earlier.copy_s,
        )


class Drift:
    """A baseline out of the first rounds, and the newest beside it."""

    def __init__(self) -> None:
        self._first: list[Packed] = []
        self._newest: deque[Packed] = deque(maxlen=ROUNDS)
        self._sum = Packed()

    def note(self, total: Packed) -> None:
        """The sums after a round; one that packed little is counted with the next."""
        done = total.since(self._sum)
        if done.before < LEAST or done.after <= 0 or done.copy_s <= 0.0:
            return
        self._sum = total
        if len(self._first) < ROUNDS:
            self._first.append(done)
        else:
            self._newest.append(done)

    def judge(self) -> list[str]:
        """A sentence for each thing that has drifted; none before there is enough of both."""
        if len(self._newest) < ROUNDS:
            return []
        return [text for measure, times, words in MEASURES if (text := _compare(self._first, self._newest, measure, times, words))]


def _compare(first: Iterable[Packed], newest: Iterable[Packed], measure: Callable[[Packed], float], times: float, words: str) -> str:
    was, now = median(map(measure, first)), median(map(measure, newest))
    if was / times <= now <= was * times:
        return ""
    return f"zstd now {words.format(now)}, in its first {ROUNDS} rounds {words.format(was)} (C12)"


MEASURES: tuple[tuple[Callable[[Packed], float], float, str], ...] = (
    (lambda one: one.before / one.after, RATIO, "packs {:.3g}:1"),
    (lambda one: 100.0 * one.cpu_s / one.copy_s, CPU, "takes {:.3g} % of a processor"),
    (lambda one: 1e9 * one.copy_s / one.before, TIME, "needs {:.3g} s for a gigabyte"),
)

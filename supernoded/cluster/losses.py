"""How much of what other nodes tell is lost on the way: a broker drops what is not fetched in time, and says so to nobody. Pure."""

from __future__ import annotations

from collections.abc import Callable

WINDOW = 10.0  # seconds over which it is counted: every node tells twice (ours)
SHARE = 0.05  # of the messages, beyond which it is a trouble: one of a node is made up for by its next, 5 s later (ours)
MOST = 1000  # messages missed at a time; beyond that it is another link or life, and no loss (ours)


class Losses:
    """Counts by the numbers of messages. `report` is given a sentence, or nothing when all is well."""

    def __init__(self, now: float, report: Callable[[str], None]) -> None:
        self._report = report
        self.begin(now)

    def begin(self, now: float) -> None:
        """Nothing was heard yet."""
        self._last: dict[str, tuple[str, int]] = {}  # node -> life, and the number of its last message
        self._heard = self._lost = 0
        self._since = now

    def hear(self, node: str, life: str, number: int) -> None:
        """One message of a node."""
        before = self._last.get(node)
        self._last[node] = life, number
        self._heard += 1
        if before is not None and before[0] == life and 0 < number - before[1] <= MOST:
            self._lost += number - before[1] - 1

    def look(self, now: float) -> None:
        """Say how it was, when it was counted for long enough."""
        if 0.0 <= now - self._since < WINDOW:
            return
        told = self._heard + self._lost
        self._report(self._describe(now - self._since) if self._lost > SHARE * told else "")
        self._heard = self._lost = 0
        self._since = now

    def _describe(self, seconds: float) -> str:
        share = 100 * self._lost / (self._heard + self._lost)
        what = f"{share:.0f} % of the {self._heard + self._lost} messages that other nodes told in {seconds:.0f} s were lost"
        return f"{what}, the limit is {100 * SHARE:.0f} %: the roles here see them late; give this daemon a core of its own, or fewer roles"

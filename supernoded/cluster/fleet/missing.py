"""Which nodes are gone, told to all roles: whoever works on a job that had ranks there is seldom the one that hears the beats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from supernoded.clock import Clock
from supernoded.cluster.fleet.muster import FLEET
from supernoded.model import Level, Reading, Verdict
from supernoded.reading import make_reading

QUANTITY, KIND = "fleet.gone", "node.gone"


class GoneSensor:
    """Reads what the rules of the role `fleet` hold for gone, which takes two views; UNKNOWN while `find_doubt` says why nobody may judge.

    `find_verdicts` gives what those rules said last while this node has the role, else None.
    """

    scope, period, timeout = FLEET, 1.0, 1.0

    def __init__(
        self, node: str, clock: Clock, find_verdicts: Callable[[], Iterable[Verdict] | None], find_doubt: Callable[[float], str]
    ) -> None:
        self.name = f"fleet@{node}"
        self._clock, self._find_verdicts, self._find_doubt = clock, find_verdicts, find_doubt

    async def read(self) -> Sequence[Reading]:
        """One set of flags, the names of the nodes; nothing once the role is another's."""
        verdicts, now = self._find_verdicts(), self._clock.now()
        if verdicts is None:
            return []
        doubt = self._find_doubt(now)
        gone = frozenset(one.subject for one in verdicts if one.kind == KIND and one.level is Level.RAISED)
        return [make_reading(FLEET, QUANTITY, None if doubt else gone, "flags", now, doubt)]

"""How often a job fails, for the interval between its checkpoints: failures seen, and the seconds in which they were seen. No I/O."""

from __future__ import annotations


class Failures:
    """Of one job. A failure is one, however many ranks it takes with it, until all are back and have done a step."""

    def __init__(self, count: int, watched: float) -> None:
        self.count = count
        self._watched = watched
        self._since: float | None = None  # since when ranks are here
        self._failing = False
        self._fresh: dict[int, int] = {}  # ranks that have started anew and done no step yet -> the newest step there was before

    def find_watched(self, now: float) -> float:
        """Seconds for which ranks were here."""
        return self._watched + (max(0.0, now - self._since) if self._since is not None else 0.0)

    def start(self, rank: int, furthest: int) -> None:
        """A process that has done no step is here as this rank; steps up to `furthest` were done before."""
        self._fresh[rank] = furthest

    def pass_step(self, rank: int, step: int) -> None:
        """A rank has done a step. The first of a new process may be one that was done before: the job fell back to an older checkpoint."""
        if step <= self._fresh.pop(rank, -1):
            self._fail()

    def look(self, now: float, *, here: bool, lost: bool, missing: bool) -> None:
        """Whether ranks are here; whether some are lost for good, or missing just now."""
        if here != (self._since is not None):
            self._watched, self._since = self.find_watched(now), now if here else None
        if lost:
            self._fail()
        elif here and not missing and not self._fresh:
            self._failing = False

    def _fail(self) -> None:
        self.count += not self._failing
        self._failing = True

"""What is wrong with a job's checkpoints, as an event at once: storage that is full, a vault that is gone, a snapshot that was refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.history import View
from supernoded.model import NODE, Level, Severity, Verdict

TROUBLE = "checkpoint.trouble"
FRESH = 10.0  # seconds: ten readings of the sensor


class TroubleRule:
    """Raises a job as long as its vault says that something is wrong."""

    kind, scope = TROUBLE, NODE
    watches: Mapping[str, float] = {TROUBLE: FRESH}

    def start(self) -> None:
        """It remembers nothing."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every job that ranks of this node have told of."""
        return memory, [self._judge(seen, subject) for subject in seen.subjects(TROUBLE)]

    def _judge(self, seen: View, subject: str) -> Verdict:
        told = seen.text(TROUBLE, subject)
        level = Level.UNSURE if told is None else Level.RAISED if told else Level.CLEAR
        text = f"{subject}: {told or ('its checkpoints are well' if told is not None else 'nothing is told of its checkpoints')}"
        unseen = (text,) if told is None else ()
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=seen.now, severity=Severity.WARNING, unseen=unseen)

"""Things that people work on: their troubles are theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from supernoded.plugin import Level, Rule, Verdict, View

M = TypeVar("M")


class Spared(Generic[M]):
    """A rule that is unsure about subjects under maintenance."""

    def __init__(self, rule: Rule[M], is_under_maintenance: Callable[[str], bool]) -> None:
        self.kind, self.scope = rule.kind, rule.scope
        self.watches: Mapping[str, float] = rule.watches
        self._rule, self._spares = rule, is_under_maintenance

    def start(self) -> M:
        """The rule's own memory."""
        return self._rule.start()

    def judge(self, seen: View, memory: M) -> tuple[M, Sequence[Verdict]]:
        """The rule's own verdicts, but for those on what is under maintenance."""
        memory, verdicts = self._rule.judge(seen, memory)
        return memory, [self._spare(verdict) for verdict in verdicts]

    def _spare(self, verdict: Verdict) -> Verdict:
        if verdict.level is not Level.RAISED or not self._spares(verdict.subject):
            return verdict
        return msgspec.structs.replace(verdict, level=Level.UNSURE, text=f"{verdict.subject}: under maintenance; {verdict.text}")

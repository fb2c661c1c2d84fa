"""Ask the rules: on news and every few seconds, each with its own memory, which outlives a restart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from supernoded.history import History
from supernoded.model import Level, Verdict
from supernoded.parts import Rule
from supernoded.supervisor import Health, describe

Deliver = Callable[[Verdict], None]


class Bench:
    """The rules of one scope and what each remembers."""

    def __init__(self, rules: Sequence[Rule[Any]], history: History, health: Health, deliver: Deliver) -> None:
        self._rules, self._history, self._health, self._deliver = rules, history, health, deliver
        self._memories: dict[str, Any] = {rule.kind: rule.start() for rule in rules}
        self._levels: dict[tuple[str, str], Verdict] = {}  # the last word on each subject, for status and for a rule that breaks
        self._saved: dict[str, bytes] = {}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Take up the memories of an earlier life; one that no longer fits its rule starts anew, and that is said."""
        for rule in self._rules:
            body = saved.get(rule.kind)
            if body is None:
                continue
            try:
                self._memories[rule.kind] = msgspec.json.decode(body, type=type(self._memories[rule.kind]))
            except msgspec.DecodeError as error:
                self._health.report(f"memory of rule {rule.kind}", f"does not fit this version and starts anew: {error}")

    def snapshot(self) -> dict[str, bytes]:
        """The memories that changed since the last snapshot, as JSON."""
        changed = {}
        for kind, memory in self._memories.items():
            body = msgspec.json.encode(memory)
            if memory is not None and self._saved.get(kind) != body:
                changed[kind] = self._saved[kind] = body
        return changed

    def judge(self, now: float, fresh: Iterable[str] | None = None) -> None:
        """Ask every rule that watches one of the fresh quantities; None = all of them."""
        news = None if fresh is None else set(fresh)
        for rule in self._rules:
            if news is None or not news.isdisjoint(rule.watches):
                self._ask(rule, now)

    def _ask(self, rule: Rule[Any], now: float) -> None:
        view = self._history.view(now, rule.watches)
        try:
            memory, verdicts = rule.judge(view, self._memories[rule.kind])
        except Exception as error:  # noqa: BLE001 - a plugin's bug costs its own verdicts, nothing else
            self._break(rule, now, describe(error))
            return
        self._memories[rule.kind] = memory
        self._health.report(f"rule {rule.kind}", "")
        for verdict in verdicts:
            self._levels[verdict.kind, verdict.subject] = verdict
            self._deliver(verdict)

    def _break(self, rule: Rule[Any], now: float, why: str) -> None:
        self._health.report(f"rule {rule.kind}", f"cannot judge, its subjects are unsure: {why}")
        for (kind, subject), _ in list(self._levels.items()):
            if kind == rule.kind:
                self._deliver(Verdict(kind=kind, subject=subject, level=Level.UNSURE, text=f"the rule failed: {why}", at=now))

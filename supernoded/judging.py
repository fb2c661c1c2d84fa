"""Ask the rules: on news and every few seconds, each with its own memory, which outlives a restart. Ask the diagnoses: when it matters."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from supernoded.history import History
from supernoded.model import Cause, Level, Verdict
from supernoded.parts import Diagnosis, Rule
from supernoded.supervisor import BUGS, Health, describe
from supernoded.vetting import vet_cause, vet_verdict

Deliver = Callable[[Verdict], None]

LEAST_INTERVAL = 0.5  # seconds between two questions to one rule about numbers that drift; what turns is judged at once
LONGEST_INTERVAL = 5.0  # seconds after which it is asked even without news, so that age is seen
MANY = 4_000  # series that a rule watches: from here on a question costs tens of milliseconds, and even what turns waits (ours)
SLOWEST = 3.0  # seconds between two questions about the largest of sites (ours)


class Bench:
    """The rules of one scope and what each remembers, and its diagnoses."""

    def __init__(
        self, rules: Sequence[Rule[Any]], history: History, health: Health, deliver: Deliver, diagnoses: Sequence[Diagnosis] = ()
    ) -> None:
        self._history, self._health, self._deliver, self._diagnoses = history, health, deliver, diagnoses
        self._memories: dict[str, Any] = {}
        self._rules = [rule for rule in rules if self._start(rule)]
        self._watchers = _index(self._rules)
        self._levels: dict[tuple[str, str], Verdict] = {}  # the last word on each subject, for status and for a rule that breaks
        self._saved: dict[str, bytes] = {}
        self._unwritable: set[str] = set()  # rules whose memory JSON cannot carry
        self._asked: dict[str, float] = {}  # when each rule was asked last
        self._paces: dict[str, float] = {}  # of each rule, as long as the history has this shape
        self._shape = -1
        self._due: set[str] = set()  # rules with news that wait for their turn

    def _start(self, rule: Rule[Any]) -> bool:
        try:
            self._memories[rule.kind] = rule.start()
        except BUGS as error:  # a plugin's bug costs its own rule, not the start of the daemon
            self._health.report(f"rule {rule.kind}", f"cannot start and is not asked: {describe(error)}")
            return False
        return True

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Take up the memories of an earlier life; one that no longer fits its rule starts anew, and that is said."""
        for rule in self._rules:
            body = saved.get(rule.kind)
            if body is None:
                continue
            try:
                self._memories[rule.kind] = msgspec.json.decode(body, type=type(self._memories[rule.kind]))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                self._health.report(f"memory of rule {rule.kind}", f"does not fit this version and starts anew: {error}")

    def snapshot(self) -> dict[str, bytes]:
        """The memories that changed since the last snapshot, as JSON."""
        changed = {}
        for kind, memory in self._memories.items():
            try:
                body = msgspec.json.encode(memory)
            except BUGS as error:  # whatever a plugin remembers: it costs its own memory
                self._unwritable.add(kind)
                self._health.report(f"snapshot of rule {kind}", f"cannot be written, a restart forgets it: {describe(error)}")
                continue
            if kind in self._unwritable:
                self._unwritable.discard(kind)
                self._health.report(f"snapshot of rule {kind}", "")
            if memory is not None and self._saved.get(kind) != body:
                changed[kind] = self._saved[kind] = body
        return changed

    def judge(self, now: float, fresh: Iterable[str] | None = None, turned: Collection[str] = ()) -> None:
        """Ask every rule that watches one of the fresh quantities; None = all of them.

        One that has just been asked waits for its turn, unless it watches one of the quantities of which something has turned: where a
        thousand nodes tell that their ranks wait, one question is the answer to all of them.
        """
        urgent = set(turned)
        for rule in self._rules if fresh is None else self._find_watchers({*fresh, *turned}):
            pace = self._find_pace(rule)
            if fresh is None or (not pace and not urgent.isdisjoint(rule.watches)):
                self._ask(rule, now)
            else:
                self._ask_in_turn(rule, max(pace, LEAST_INTERVAL), now)

    def _find_watchers(self, quantities: Iterable[str]) -> list[Rule[Any]]:
        """The rules that watch one of them, in their order."""
        return [self._rules[place] for place in sorted({place for name in quantities for place in self._watchers.get(name, ())})]

    def _find_pace(self, rule: Rule[Any]) -> float:
        """Seconds between two questions about what turns: none where a rule looks at little, more the more it looks at."""
        if self._shape != self._history.shape:
            self._shape, self._paces = self._history.shape, {}
        pace = self._paces.get(rule.kind)
        if pace is None:
            series = self._history.count(rule.watches)
            pace = self._paces[rule.kind] = 0.0 if series < MANY else min(LEAST_INTERVAL * series / MANY, SLOWEST)
        return pace

    def _ask_in_turn(self, rule: Rule[Any], pace: float, now: float) -> None:
        since = now - self._asked.get(rule.kind, -math.inf)
        if 0.0 <= since < pace:
            self._due.add(rule.kind)
        else:
            self._ask(rule, now)

    def catch_up(self, now: float) -> None:
        """Ask the rules whose news had to wait, and those that have not been asked for long."""
        for rule in self._rules:
            since = now - self._asked.get(rule.kind, -math.inf)
            wait = self._find_pace(rule) if rule.kind in self._due else LONGEST_INTERVAL
            if not 0.0 <= since < wait:
                self._ask(rule, now)

    def diagnose(self, subjects: Iterable[str], now: float) -> tuple[Cause, ...]:
        """What explains the trouble of these subjects, the best first; the same cause of two of them is told once, where it weighs most."""
        found: dict[tuple[str, str], Cause] = {}
        for subject in subjects:
            for diagnosis in self._diagnoses:
                for cause in self._explain(diagnosis, subject, now):
                    key = cause.name, cause.subject
                    if key not in found or found[key].weight < cause.weight:
                        found[key] = cause
        return tuple(sorted(found.values(), key=lambda cause: (-cause.weight, cause.name, cause.subject)))

    def _explain(self, diagnosis: Diagnosis, subject: str, now: float) -> Sequence[Cause]:
        name = f"diagnosis {diagnosis.name}"
        try:
            causes = [vet_cause(cause) for cause in diagnosis.diagnose(self._history.view(now, diagnosis.watches), subject)]
        except BUGS as error:  # a plugin's bug costs its own explanation, nothing else
            self._health.report(name, f"cannot explain {subject}: {describe(error)}")
            return ()
        self._health.report(name, "")
        return causes

    def last_words(self) -> list[Verdict]:
        """What each rule last said of each subject, sorted by subject and kind."""
        return sorted(self._levels.values(), key=lambda verdict: (verdict.subject, verdict.kind))

    def forget(self, horizon: float) -> None:
        """Drop the last word on subjects of which no rule has said anything since."""
        self._levels = {key: verdict for key, verdict in self._levels.items() if verdict.at >= horizon}

    def _ask(self, rule: Rule[Any], now: float) -> None:
        self._asked[rule.kind] = now
        self._due.discard(rule.kind)
        view = self._history.view(now, rule.watches)
        try:
            memory, said = rule.judge(view, self._memories[rule.kind])
            verdicts = [vet_verdict(verdict, rule.kind) for verdict in said]
        except BUGS as error:  # a plugin's bug costs its own verdicts, nothing else
            self._break(rule, now, describe(error))
            return
        self._memories[rule.kind] = memory
        self._health.report(f"rule {rule.kind}", "")
        for verdict in verdicts:
            self._levels[verdict.kind, verdict.subject] = verdict
            self._deliver(verdict)

    def _break(self, rule: Rule[Any], now: float, why: str) -> None:
        self._health.report(f"rule {rule.kind}", f"cannot judge, its subjects are unsure: {why}")
        for kind, subject in list(self._levels):
            if kind == rule.kind:
                self._levels[kind, subject] = unsure = _make_unsure(kind, subject, now, why)
                self._deliver(unsure)


def _index(rules: Sequence[Rule[Any]]) -> dict[str, list[int]]:
    """The places of the rules that watch a quantity."""
    places: dict[str, list[int]] = {}
    for place, rule in enumerate(rules):
        for quantity in rule.watches:
            places.setdefault(quantity, []).append(place)
    return places


def _make_unsure(kind: str, subject: str, now: float, why: str) -> Verdict:
    return Verdict(kind=kind, subject=subject, level=Level.UNSURE, text=f"the rule failed: {why}", at=now)

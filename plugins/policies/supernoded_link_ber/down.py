"""A link that was up and is down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Severity, Verdict, View

STATE = "link.state"


class DownMemory(msgspec.Struct, frozen=True):
    """The links that were ever seen up."""

    seen_up: tuple[str, ...] = ()


class DownRule:
    """Raises a link that went down. One that was never up is not provisioned, or not yet trained, and is nobody's trouble."""

    kind, scope = "link.down", NODE
    watches: Mapping[str, float] = {STATE: 60.0}

    def start(self) -> DownMemory:
        """No link was ever up."""
        return DownMemory()

    def judge(self, seen: View, memory: DownMemory) -> tuple[DownMemory, Sequence[Verdict]]:
        """The level of every link."""
        states = {subject: seen.number(STATE, subject) for subject in seen.subjects(STATE)}
        ups = {subject for subject, state in states.items() if state}
        if not ups.issubset(memory.seen_up):
            memory = DownMemory(tuple(sorted(ups.union(memory.seen_up))))
        known = set(memory.seen_up)
        return memory, [self._judge(seen, subject, state, subject in known) for subject, state in states.items()]

    def _judge(self, seen: View, subject: str, state: float | None, was_up: bool) -> Verdict:
        newest = seen.newest(STATE, subject)
        note = newest.note if newest is not None else ""
        unseen: tuple[str, ...] = ()
        if state is None:
            level, text = Level.UNSURE, f"{subject}: whether the link is up cannot be seen: {note}"
            unseen = (f"{STATE}: {note}",)
        elif state:
            level, text = Level.CLEAR, f"{subject}: the link is up"
        else:
            level = Level.RAISED if was_up else Level.CLEAR
            text = f"{subject}: the link is down{f' ({note})' if note else ''}, {'it was up before' if was_up else 'it was never seen up'}"
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=seen.now, severity=Severity.CRITICAL, unseen=unseen)

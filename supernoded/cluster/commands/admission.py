"""Whether a command whose seal is good is taken: once, in time, by who may ask, and not too often."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from supernoded.clock import Clock
from supernoded.cluster.commands.numbers import Taken
from supernoded.cluster.commands.words import Command, find_fault, find_right
from supernoded.cluster.digests import Speaker
from supernoded.errors import JournalError
from supernoded.journal.leases import FIXED
from supernoded.journal.writer import Journal
from supernoded.model import NODE

SEEN = 1_000  # ids that are remembered, so that what a broker delivers again is let pass in silence
MOST_SCOPES = 4_096  # whose epochs are remembered


class Roles(Protocol):
    """Who has which role, as far as is known."""

    @property
    def roles(self) -> Mapping[str, str]:
        """Role -> node."""
        ...

    def epoch(self, role: str) -> int:
        """The newest epoch that is known of it."""
        ...


class No(NamedTuple):
    """Why it is not taken. With `failed` it may have been done before, so nobody may conclude that it was not."""

    text: str
    failed: bool = False


class Admission:
    """Remembers what has come: numbers by key (kept in the journal), ids, and the epochs of scopes."""

    def __init__(self, who: Speaker, journal: Journal, clock: Clock, roles: Roles) -> None:
        self._who, self._clock, self._roles = who, clock, roles
        self._taken = Taken(journal)
        self._seen: deque[tuple[str, str]] = deque(maxlen=SEEN)
        self._epochs: dict[str, int] = {}

    def is_repeated(self, command: Command, key: str) -> bool:
        """Whether the broker has delivered it again: the first of them is answered."""
        seen = key, command.id  # an id alone could be used up by another
        repeated = seen in self._seen
        if not repeated:
            self._seen.append(seen)
        return repeated

    async def judge(self, command: Command, key: str, *, changes: bool) -> No | None:
        """None = it is taken. Its number is used up at first sight, whatever becomes of it; `key` is whose numbers these are."""
        if changes:
            try:
                await self._taken.load()
            except JournalError as error:
                return No(f"it is not known which commands were taken before: {error}", failed=True)
        highest = self._taken.find_highest(key)
        if command.number <= highest:
            text = f"number {command.number} is not above {highest}, it was taken before: a replay, or a sender whose journal was lost"
            return No(f"{text}; then `supernodectl pki rotate {command.sender}` begins anew", failed=True)
        self._taken.take(key, command.number)
        refusal = find_fault(command, self._who.node, self._who.cluster, self._clock.wall()) or self._find_right(command)
        return No(refusal) if refusal else None

    async def keep(self, command: Command, key: str) -> None:
        """That it was taken is durable on return. Raises JournalError."""
        await self._taken.keep(key, command.number)

    def say_unknown(self, scope: str) -> str:
        """What is to be said of a scope that nobody is known to have; empty where it is a node's own, or its holder is known."""
        if scope == NODE or scope in self._roles.roles:
            return ""
        return f"; nobody is known here to have {scope}, so its sender was believed"

    def _find_right(self, command: Command) -> str:
        holder, known = self._roles.roles.get(command.scope), self._roles.epoch(command.scope)
        epoch = max(known, self._epochs.get(command.scope, 0))
        refusal = find_right(command, holder, epoch, fixed=holder is not None and known == FIXED)
        if not refusal and (command.scope in self._epochs or len(self._epochs) < MOST_SCOPES):
            self._epochs[command.scope] = max(command.epoch, epoch)
        return refusal

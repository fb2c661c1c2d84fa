"""The journal without asyncio: transactions on one database, and the spill file while it takes none. One call at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from logging import Logger
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from supernoded.clock import Clock
from supernoded.errors import FencedError, JournalError
from supernoded.journal.database import Database, MovedError
from supernoded.journal.entries import Question, Sentence, Spillable
from supernoded.journal.reserve import Reserve

T = TypeVar("T")

RETRY_SECONDS = 1.0  # between two tries of a database that has failed
_BROKEN = (MovedError, msgspec.MsgspecError, DBAPIError)


class TroubleError(Exception):
    """The database failed; the store has taken note."""


class Store:
    """Performs work on a database, and knows whether the database takes it."""

    def __init__(self, database: Database, reserve: Reserve | None, clock: Clock, log: Logger) -> None:
        self._database, self._reserve, self._clock, self._log = database, reserve, clock, log
        self._failing_since = 0.0
        self._next_try = 0.0
        self._reopen = False  # whether a connection made for reading since the failure must not be used for writing
        self.name = database.name
        self.reason = ""  # why the database takes nothing; empty when it does

    def perform(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in one transaction that is durable on return; a sentence may be durable in the spill file instead.

        Raises FencedError or JournalError; then nothing was acknowledged.
        """
        if self._reserve is not None:
            self._reserve.load()
        if isinstance(work, Question):
            answer: T = self._ask(work)
            return answer
        if self.reason and (self._clock.now() < self._next_try or self._can_spill(work)):
            return self._do_without(work)
        try:
            return self.attempt(work)
        except TroubleError:
            return self._do_without(work)

    def attempt(self, work: Callable[[Connection], T]) -> T:
        """One transaction, twice if the database had to be rebuilt. Raises TroubleError, FencedError or JournalError."""
        if self._reopen:
            self._database.close()
        result = self._guard(lambda: self._transact(work))
        self._leave()
        return result

    def _guard(self, transact: Callable[[], T]) -> T:
        """Run a transaction, again if the database had to be rebuilt. Raises TroubleError, FencedError or JournalError."""
        try:
            return self._rebuild_and(transact)
        except FencedError:
            raise
        except DBAPIError as error:
            if not self._database.is_trouble(error):
                raise JournalError(f"{self.name} refused a statement: {_explain(error)}") from error
            self._enter(error)
            raise TroubleError from error
        except msgspec.MsgspecError as error:
            raise JournalError(f"{self.name} holds a row that makes no sense: {error}") from error
        except (JournalError, OSError) as error:
            self._enter(error)
            raise TroubleError from error

    def _ask(self, question: Question[T]) -> T:
        """Answer from the database, which need not take writes for it, and from the spill file. Raises JournalError."""
        try:
            answer = self._guard(lambda: self._read(question))
        except TroubleError as error:
            raise JournalError(f"{self.name} cannot be read: {self.reason}") from error
        return answer if self._reserve is None else question.overlay(answer, self._reserve.sentences)

    def _read(self, work: Callable[[Connection], T]) -> T:
        connection = self._database.connect()
        with connection.begin():
            self._database.start(connection, writing=False)
            try:
                return work(connection)
            except ValueError as error:  # a text that is no member of its enumeration
                raise msgspec.ValidationError(str(error)) from error

    def shrink(self) -> bool:
        """Give a little of the freed space back; whether there is more. Raises JournalError."""
        try:
            return self._database.shrink()
        except (*_BROKEN, OSError) as error:
            raise JournalError(f"{self.name} cannot be shrunk: {_explain(error)}") from error

    def close(self) -> None:
        """Write what was spilled if the database takes it, and let both files go."""
        if self._reserve is not None and self._reserve.sentences:
            try:
                self.attempt(_do_nothing)
            except (TroubleError, JournalError):
                self._log.warning("journal: %d sentences stay in the spill file until the next start", len(self._reserve.sentences))
        self.let_go()

    def let_go(self) -> None:
        """Let both files go as they are."""
        self._database.close()
        if self._reserve is not None:
            self._reserve.close()

    def size(self) -> int:
        """Bytes the database takes. Raises JournalError."""
        try:
            return self._database.size()
        except (*_BROKEN, OSError) as error:
            raise JournalError(f"{self.name} cannot be measured: {_explain(error)}") from error

    @property
    def health(self) -> str:
        """What is wrong with the database and the spill file, in one sentence; empty when nothing is."""
        trouble = "" if self._reserve is None else self._reserve.trouble
        if not self.reason:
            return trouble
        if self._reserve is None or trouble:
            return f"{self.reason}: intents are refused" + (f", because {trouble}" if trouble else "")
        return f"{self.reason}: intents go to the spill file, which holds {len(self._reserve.sentences)} records"

    def _rebuild_and(self, transact: Callable[[], T]) -> T:
        try:
            return transact()
        except _BROKEN as error:
            if not self._database.is_corrupt(error):
                raise
            self._log.error("journal: %s", self._database.rebuild(_explain(error)))
        return transact()

    def _transact(self, work: Callable[[Connection], T]) -> T:
        connection = self._database.connect()
        spilled = self._reserve.sentences if self._reserve is not None else []
        with connection.begin():
            self._database.start(connection, writing=True, patient=not self.reason)
            for sentence in spilled:
                self._replay(connection, sentence)
            result = work(connection)
            self._database.check_place()
        if self._reserve is not None and spilled:
            self._reserve.forget()
        return result

    def _replay(self, connection: Connection, sentence: Spillable) -> None:
        """Write what was spilled. One that cannot be written for a fault of its own must not keep the rest out."""
        try:
            sentence(connection)
        except (FencedError, DBAPIError) as error:
            if isinstance(error, DBAPIError) and self._database.is_trouble(error):
                raise
            self._log.error("journal: %s of the spill file was refused and is dropped: %s", type(sentence).__name__, _explain(error))

    def _can_spill(self, work: object) -> bool:
        return self._reserve is not None and isinstance(work, Spillable) and not work.fenced

    def _do_without(self, work: Callable[[Connection], T]) -> T:
        """Put a sentence into the spill file and answer from what is known. Raises JournalError."""
        refusal = f"{self.name} takes no writes: {self.reason}"
        if self._reserve is None or not isinstance(work, Spillable) or work.fenced:
            raise JournalError(refusal)
        answer: T = self._answer(work, self._reserve.sentences)
        try:
            self._reserve.keep(work)
        except JournalError as error:
            raise JournalError(f"{refusal}; and {error}") from error
        return answer

    def _answer(self, sentence: Sentence[Any], earlier: Sequence[object]) -> Any:  # Any: mypy cannot tie a sentence's T to its caller's
        """What a failing database still says (a full or locked one can be read), else what was spilled."""
        try:
            known = self._read(sentence.find)
        except (*_BROKEN, JournalError, OSError):
            known = None
        return sentence.answer(earlier) if known is None or sentence.is_overtaken(known, earlier) else known

    def _enter(self, error: Exception) -> None:
        """The database fails."""
        now = self._clock.now()
        self._next_try = now + RETRY_SECONDS
        first, self.reason = not self.reason, _explain(error)
        self._reopen = self._database.must_reopen(error)
        if self._reopen:
            self._database.close()
        if first:
            self._failing_since = now
            self._log.error("journal %s takes no writes: %s", self.name, self.health)

    def _leave(self) -> None:
        """The database works."""
        if self.reason:
            self._log.info("journal %s takes writes again after %.1f s", self.name, self._clock.now() - self._failing_since)
            self.reason, self._reopen = "", False


def _explain(error: Exception) -> str:
    """The driver's own words, without SQLAlchemy's page of parameters."""
    return " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())


def _do_nothing(connection: Connection) -> None:
    """The work of a try that only finds out whether the database takes writes."""

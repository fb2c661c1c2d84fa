"""The journal: one writer on one database. What must be durable is awaited; what may come a moment later is posted and batched."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from logging import Logger, getLogger
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from supernoded.clock import Clock
from supernoded.errors import JournalError
from supernoded.journal.batch import Batch, Work
from supernoded.journal.database import Database, PostgreSQL
from supernoded.journal.entries import Question, intend
from supernoded.journal.reserve import Reserve
from supernoded.journal.spill import Spill
from supernoded.journal.sqlite import SQLite
from supernoded.journal.store import RETRY_SECONDS, Store, TroubleError
from supernoded.journal.thread import Runner, Thread
from supernoded.model import Action

T = TypeVar("T")

QUEUE = 10_000  # entries that may wait
BATCH = 1_000  # entries of one transaction: some 10 ms, for which an intent may have to wait
LINGER_SECONDS = 0.1  # entries of this time share one flush of the disk
CLOSE_SECONDS = 5.0


class Journal:
    """See the module. Not bound to a scope: a node has one of its own, and one on the database that leases its roles."""

    def __init__(self, store: Store, clock: Clock, run: Runner | None, log: Logger) -> None:
        self._store, self._clock, self._log = store, clock, log
        self._thread = Thread(run, store.name, clock, log)
        self._queue: deque[Work] = deque()
        self._news = asyncio.Event()
        self._batch: asyncio.Future[bool] | None = None  # the one under way, or the last
        self._closed = False
        self.dropped = 0  # entries that found no room or were refused, since the start
        self._told_dropped = False

    @property
    def place(self) -> str:
        """Where it writes, without secrets."""
        return self._store.name

    @property
    def waiting(self) -> int:
        """How many entries wait to be written."""
        return len(self._queue)

    @property
    def health(self) -> str:
        """Empty when all is well, else one sentence."""
        sentence = self._thread.trouble or self._store.health
        if sentence and self._queue:
            sentence += f"; {len(self._queue)} entries wait"
        if self._told_dropped:
            sentence = f"{sentence}; " * bool(sentence) + f"{self.dropped} entries were dropped"
        return sentence

    async def commit(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in one transaction that is durable on return. Raises FencedError or JournalError."""
        try:
            return await self._thread.do(lambda: self._store.perform(work))
        finally:
            if self._store.reason:
                self._news.set()  # so that `run` tries the database again

    async def ask(self, question: Question[T]) -> T:
        """Ask without writing; works on a full or locked database too, and so does a question to `commit`. Raises JournalError."""
        return await self.commit(question)

    async def intend(self, action: Action, at: float) -> Action:
        """Make an intent durable. An older intent of this id wins with its deadline; its epoch is renewed. Raises as `commit`."""
        return await self.commit(intend(action, at))

    def post(self, work: Work) -> None:
        """Write `work` soon. Never blocks and never raises; when too many wait, it is dropped, counted and said once."""
        if len(self._queue) >= QUEUE:
            self._drop(f"{QUEUE} entries wait already")
            return
        self._queue.append(work)
        self._news.set()

    async def size(self) -> int:
        """Bytes it takes on the disk. Raises JournalError."""
        return await self._thread.do(self._store.size)

    async def flush(self) -> None:
        """Write what was posted before. Raises JournalError when the database takes nothing; then it waits on."""
        for _ in range(-(-len(self._queue) // BATCH) or 1):
            if not await self._write_batch():
                raise JournalError(f"{self.place} takes no writes: {self._store.reason}; {len(self._queue)} entries wait")

    async def run(self) -> None:
        """Write what is posted, in batches, and try a database that fails again each second; for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._clock.sleep(LINGER_SECONDS)
            while not await self._write_batch():
                await self._clock.sleep(RETRY_SECONDS)
            if self._queue:
                self._news.set()

    async def shrink(self) -> bool:
        """Give a little of the space that was freed back to the disk; whether there is more. Raises JournalError."""
        return await self._thread.do(self._store.shrink)

    async def close(self) -> None:
        """Write what waits if the database takes it, and let it go. Bounded; closing twice changes nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.wait_for(self.flush(), CLOSE_SECONDS)
        except (JournalError, TimeoutError) as error:
            self._log.error("journal: %d entries were not written: %s", len(self._queue), error or "no time left")
        try:
            await self._thread.do(self._store.close, patience=CLOSE_SECONDS)
        except JournalError as error:
            self._log.error("journal: not closed in order: %s", error)
        self._thread.close()

    def abandon(self) -> None:
        """Let go of its files without another write, as a kernel does for a process that is gone."""
        self._closed = True
        self._store.let_go()
        self._thread.close()

    async def _write_batch(self) -> bool:
        """Write the oldest entries. False when the database failed; then they wait on. Goes on to its end when it is cancelled."""
        self._batch = asyncio.ensure_future(self._write_oldest(self._batch))
        return await asyncio.shield(self._batch)

    async def _write_oldest(self, before: asyncio.Future[bool] | None) -> bool:
        if before is not None and not before.done():
            await asyncio.wait([before])
        batch = Batch([self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))])
        if not batch.works and not self._store.reason:
            return True
        try:
            refused = await self._thread.do_to_the_end(lambda: batch.write(self._store))
        except TroubleError:
            self._queue.extendleft(reversed(batch.works))
            return False
        for reason in refused:
            self._drop(reason)
        if not refused and len(self._queue) < QUEUE // 2:
            self._tell_no_drops()
        return True

    def _drop(self, why: str) -> None:
        self.dropped += 1
        if not self._told_dropped:
            self._told_dropped = True
            self._log.error("journal %s: entries are dropped: %s", self.place, why)

    def _tell_no_drops(self) -> None:
        if self._told_dropped:
            self._told_dropped = False
            self._log.info("journal %s: no entries are dropped any more; %d were since the start", self.place, self.dropped)


def open_journal(place: str | Path, clock: Clock, run: Runner | None = None, log: Logger | None = None) -> Journal:
    """A journal on a SQLite file (a path, or `sqlite:///path`; `sqlite://` is in memory) or a PostgreSQL database (its URL).

    Nothing is opened yet: the first work does that, and a database that cannot be opened is one that fails.
    """
    log = log if log is not None else getLogger("supernoded.journal")
    url = str(place)
    if url.startswith("postgres"):
        return Journal(Store(PostgreSQL(url), None, clock, log), clock, run, log)
    if "://" in url and not url.startswith("sqlite://"):
        raise JournalError(f"{url} is no journal: a file, sqlite:///FILE or postgresql://HOST/NAME is")
    path = url.removeprefix("sqlite://").removeprefix("/") if url.startswith("sqlite://") else url
    if not path:
        return Journal(Store(SQLite(None, clock), None, clock, log), clock, run, log)
    file = Path(path)
    database: Database = SQLite(file, clock)
    reserve = Reserve(Spill(file.with_name(file.name + ".spill")), clock, log)
    return Journal(Store(database, reserve, clock, log), clock, run, log)

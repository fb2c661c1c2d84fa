"""What is done by the calendar and not by the second: so far, forgetting. APScheduler stays in this file."""

from __future__ import annotations

import logging
from datetime import UTC

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from supernoded.clock import Clock
from supernoded.errors import JournalError
from supernoded.journal import retention
from supernoded.journal.writer import Journal

MISFIRE_SECONDS = 3600  # a chore that could not start in time is done late, once
MOST_CHUNKS = 2000  # of one round: a million rows
PAUSE_SECONDS = 0.02  # between two chunks, for those who wait to write


class Chores:
    """The calendar of one daemon."""

    def __init__(self, journal: Journal, clock: Clock, limits: retention.Limits, log: logging.Logger) -> None:
        self._journal, self._clock, self._limits, self._log = journal, clock, limits, log
        self._failing = False
        logging.getLogger("apscheduler").setLevel(logging.WARNING)  # it tells of every start and end of a job
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": MISFIRE_SECONDS}
        )
        self._scheduler.add_job(self.forget, CronTrigger(minute=17, timezone=UTC), id="forget", name="journal retention")

    def start(self) -> None:
        """Start the calendar on the running loop."""
        self._scheduler.start()

    def stop(self) -> None:
        """Stop the calendar; a chore under way is given up at its next wait."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    async def forget(self) -> int:
        """Delete what is too old or too much; how many rows went. A journal that takes nothing is left for the next round."""
        try:
            deleted = await forget(self._journal, self._clock, self._limits)
        except JournalError as error:
            if not self._failing:
                self._log.warning("journal retention is put off until the journal takes writes: %s", error)
            self._failing = True
            return 0
        if self._failing:
            self._log.info("journal retention works again: %d rows were deleted", deleted)
            self._failing = False
        return deleted


async def forget(journal: Journal, clock: Clock, limits: retention.Limits) -> int:
    """One round of retention; how many rows went. Raises JournalError."""
    deleted = chunks = 0
    for loose in retention.plan(limits, clock.now()):
        cut = await journal.commit(retention.tighten(loose))
        while chunks < MOST_CHUNKS and (count := await journal.commit(retention.delete_chunk(cut))):
            deleted += count
            chunks += 1
            await clock.sleep(PAUSE_SECONDS)
    while deleted and await journal.shrink():
        await clock.sleep(PAUSE_SECONDS)
    return deleted

"""A snapshot of the memory pool after each checkpoint, on the node that a site has named for it.

It looks for itself: the vault's rounds stand still while a step is flushed, which takes longer than the ranks take to save. One snapshot is
taken at a time, always for the newest step; a step that another has overtaken meanwhile gets none. What fails is told at once, and tried
again after a pause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from supernoded.clock import Clock
from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held, Tier, list_jobs, read_catalogue
from supernoded.job.vault.dsm import list_published, name_snapshot, publish, remove_snapshot, take_snapshot, withdraw_old
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.pool import Pool
from supernoded.job.vault.threads import Beside
from supernoded.settings.vault import Vault

FIRST_PAUSE = 1.0  # seconds before one that failed is tried again; doubled each time

Saved = tuple[int, int]  # a step, and how many of its parts are there
Tell = Callable[[str, Sequence[str]], None]  # a job, and what is wrong with its snapshot


class Snapshots:
    """`tell` hears what is wrong, and of nothing once it is well again. `thread` is where storage may hang."""

    def __init__(
        self, pool: Pool, files: Files, settings: Vault, shared: Tier, root: Path, pen: Pen, clock: Clock, thread: Beside, tell: Tell
    ) -> None:
        self._pool, self._files, self._settings, self._shared, self._root = pool, files, settings, shared, root
        self._pen, self._clock, self._thread, self._tell = pen, clock, thread, tell
        self._seen: dict[str, Saved] = {}
        self._done: dict[str, int] = {}
        self._pause, self._again = 0.0, 0.0

    async def run(self) -> None:
        """Look and take, until cancelled."""
        await self.recall()
        while True:
            await self.turn()
            await self._clock.sleep(self._settings.poll_s)

    async def turn(self) -> None:
        """One look, and all that follows from it."""
        for job, step in self._look():
            await self._try(job, step)

    def _look(self) -> list[tuple[str, int]]:
        """The step of each job that is due: two looks have found as many parts of it as of any, and none newer has a snapshot."""
        seen: dict[str, Saved] = {}
        try:
            for job in list_jobs(self._files, self._shared.root):
                if (saved := find_saved(read_catalogue(self._files, self._shared, job).parts)) is not None:
                    seen[job] = saved
        except OSError:  # the vault's own round tells it
            return []
        before, self._seen = self._seen, seen
        if self._clock.now() < self._again:
            return []
        return [(job, saved[0]) for job, saved in seen.items() if before.get(job) == saved and saved[0] > self._done.get(job, -1)]

    async def recall(self) -> None:
        """What an earlier life has published needs no other snapshot. Storage that cannot be read recalls nothing."""
        try:
            published = await self._thread.start(lambda: list_published(self._files, self._root))
        except OSError:
            return
        self._done = {one.job: one.step for one in reversed(published)}

    async def _try(self, job: str, step: int) -> None:
        try:
            await self._take(job, step)
        except (VaultError, OSError) as error:
            self._pause = min(max(2 * self._pause, FIRST_PAUSE), self._settings.retry_s)
            self._again = self._clock.now() + self._pause
            self._tell(job, [f"step {step} of {job}: {error}"])
            return
        self._done[job], self._pause = step, 0.0
        self._tell(job, [])

    async def _take(self, job: str, step: int) -> None:
        at, table = self._clock.wall(), self._settings.dsm
        taken = await take_snapshot(self._pool, table, name_snapshot(step, at), step, at)
        whole = msgspec.structs.replace(taken, job=job)
        await self._thread.start(lambda: publish(self._files, self._root, whole, self._pen))
        for old in await self._thread.start(lambda: withdraw_old(self._files, self._root, table.keep)):
            await remove_snapshot(self._pool, table, old)


def find_saved(parts: Sequence[Held]) -> Saved | None:
    """The newest step of which there are as many good parts as of any; None where there is none. One in the saving has fewer."""
    counts: dict[int, int] = {}
    for one in parts:
        if not one.fault:
            counts[one.step] = counts.get(one.step, 0) + 1
    most = max(counts.values(), default=0)
    return max(((step, count) for step, count in counts.items() if count == most), default=None)


def describe_published(files: Files, root: Path | None) -> list[str]:
    """A line for each, and how one is brought back: not by us."""
    if root is None:
        return []
    found = list_published(files, root)
    lines = [f"snapshot {one.name} of the memory pool, step {one.step}{f' of {one.job}' if one.job else ''}" for one in found]
    why = "bringing a snapshot of the pool back is its vendor's business: the documents name no command for it, so restore does not do it"
    return [*lines, why] if lines else []

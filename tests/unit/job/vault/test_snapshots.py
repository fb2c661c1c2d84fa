"""A snapshot after each checkpoint: of which step, how often, and what is told when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from supernoded.job.vault.dsm import list_published
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import MARKER
from supernoded.job.vault.pool import Told
from supernoded.job.vault.snapshots import Snapshots, describe_published
from supernoded.settings.vault import Dsm, Vault
from tests.unit.job.vault.saving import JOB, Bench

T = TypeVar("T")
TABLE = Vault(dsm=Dsm(each=True, keep=2), retry_s=4.0)


class Pool:
    """Tools that do what they are asked. `atomic` is what the kernel shows."""

    def __init__(self) -> None:
        self.atomic, self.asked = "1", list[str]()

    def read_atomic(self, path: Path) -> str | None:
        del path
        return self.atomic

    async def run(self, argv: Sequence[str], seconds: float) -> Told:
        del seconds
        self.asked.append(" ".join(argv))
        return Told(0, "checksum OK")


class Inline:
    """No thread at all."""

    def start(self, work: Callable[[], T]) -> asyncio.Future[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            future.set_result(work())
        except OSError as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing to close."""


class Watch:
    def __init__(self, folder: Path, bench: Bench | None = None) -> None:
        self.bench, self.pool, self.told = bench or Bench(folder), Pool(), list[list[str]]()
        pen = Pen(node="n0", pid=1, level=None, headroom=0)
        shared, root = self.bench.shared, self.bench.durable.root
        self.it = Snapshots(
            self.pool, SystemFiles(), TABLE, shared, root, pen, self.bench.clock, Inline(), lambda _, wrong: self.told.append(list(wrong))
        )

    async def look(self, times: int = 1) -> None:
        for _ in range(times):
            await self.it.turn()

    def published(self) -> list[tuple[str, int]]:
        return [(one.job, one.step) for one in list_published(SystemFiles(), self.bench.durable.root)]


async def test_each_step_that_all_have_saved_gets_one_and_the_newest_are_kept(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.bench.save(1, {0: b"half"})
    await watch.look()
    watch.bench.save(1, {1: b"the other half"})
    await watch.look()
    assert watch.published() == []  # of the first step nobody knows how many parts it has: it must not grow any more
    await watch.look(3)
    assert watch.published() == [(JOB, 1)]

    watch.bench.save(2, {0: b"half"})
    await watch.look(3)
    assert watch.published() == [(JOB, 1)]
    for step in (2, 3):
        watch.bench.save(step)
        watch.bench.clock.turn(1.0)
        await watch.look(2)
    assert watch.published() == [(JOB, 3), (JOB, 2)]
    assert [asked for asked in watch.pool.asked if "--delete" in asked] == ["dsm_snapshot --delete ckpt_20270115T080000_step1"]
    assert watch.told == [[], [], []]


async def test_one_that_is_refused_is_told_at_once_and_tried_again_after_a_pause(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.pool.atomic = "0"
    watch.bench.save(7)
    await watch.look(5)
    assert watch.pool.asked == []
    assert watch.published() == []
    (told,) = watch.told
    assert told[0].startswith(f"step 7 of {JOB}: the snapshot ckpt_20270115T080000_step7 is refused, it would not be atomic")

    for _ in range(3):
        watch.bench.clock.turn(5.0)
        await watch.look()
    assert len(watch.told) == 4
    watch.pool.atomic = "1"
    await watch.look(5)
    assert watch.published() == []  # within the pause
    watch.bench.clock.turn(4.0)
    await watch.look()
    assert watch.published() == [(JOB, 7)]
    assert watch.told[-1] == []


async def test_a_folder_that_is_not_mounted_is_told_and_the_next_step_is_tried(tmp_path: Path) -> None:
    watch = Watch(tmp_path, Bench(tmp_path, marked=False))
    watch.bench.save(1)
    await watch.look(2)
    assert "is whole and not published" in watch.told[0][0]
    (watch.bench.durable.root / MARKER).touch()
    watch.bench.clock.turn(5.0)
    watch.bench.save(2)
    await watch.look(2)
    assert watch.published() == [(JOB, 2)]


async def test_another_life_takes_no_second_one_of_the_same_step(tmp_path: Path) -> None:
    first = Watch(tmp_path)
    first.bench.save(4)
    await first.look(2)
    second = Watch(tmp_path, first.bench)
    await second.it.recall()
    await second.look(3)
    assert second.pool.asked == []
    first.bench.save(5)
    await second.look(2)
    assert second.published()[0] == (JOB, 5)


async def test_the_list_says_that_nobody_here_brings_one_back(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    assert describe_published(SystemFiles(), watch.bench.durable.root) == []
    watch.bench.save(4)
    await watch.look(2)
    lines = describe_published(SystemFiles(), watch.bench.durable.root)
    assert lines[0] == f"snapshot ckpt_20270115T080000_step4 of the memory pool, step 4 of {JOB}"
    assert "the documents name no command for it, so restore does not do it" in lines[1]

"""The journal's disk is full, its database locked or broken: judging and acting go on, it is said, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from supernoded.messages import ActionFilter, Actions, IncidentFilter, Incidents, ReadingFilter, Readings, Status
from tests.chaos.chiller import Chiller
from tests.system.daemons import LOOK, NOBODY, Daemon, install, write_port

STEPS = ["note", "save", "fence", "test"]
SETTINGS = """
[guards]
actions_per_minute = 100
[incidents]
clear_after_s = 0
[policies.acme]
mode = "act"
[plugins.fabric]
infiniband = "{folder}/infiniband"
ethernet = "{folder}/none"
period_s = 0.2
[plugins.acme]
wire = "tcp://127.0.0.1:{port}"
period = 0.2
raise_after = 0.2
steer = false
"""


@asynccontextmanager
async def one_daemon(folder: Path, checkout: Path, chiller: Chiller, state: Path | None = None) -> AsyncIterator[Daemon]:
    """A daemon with one link that is up and one chiller, in mode act."""
    write_port(folder / "infiniband", "mlx5_0")
    path = os.pathsep.join(
        (install(folder / "plugins", "acme", "supernoded_acme"), str(checkout / "tests" / "foreign" / "supernoded_acme"))
    )
    async with await asyncio.start_server(chiller.serve, "127.0.0.1", 0) as server:
        settings = NOBODY + SETTINGS.format(folder=folder, port=server.sockets[0].getsockname()[1])
        async with Daemon(folder, settings, environment={"PYTHONPATH": path}, state=state) as daemon:
            yield daemon


def new_chiller() -> Chiller:
    return Chiller(asyncio.get_running_loop().time)


async def settle(daemon: Daemon) -> None:
    """Wait until link and chiller have been seen well."""
    seen = ReadingFilter(subject="n0/[cn]*")
    await daemon.until("readings", Readings, lambda told: len({one.subject for one in told.readings if one.subject != "n0"}) == 2, seen)


async def until_ordered(chiller: Chiller, count: int) -> None:
    """Wait until the chiller has heard so many different orders."""
    async with asyncio.timeout(30):
        while True:
            if len(chiller.counts) >= count:
                return
            await asyncio.sleep(LOOK)


async def judge_and_act(daemon: Daemon, folder: Path, chiller: Chiller) -> None:
    """The link goes down and the chiller fails: both are seen, and the chiller is retired step by step, each order once."""
    write_port(folder / "infiniband", "mlx5_0", up=False)
    chiller.health = "failing"
    await daemon.until("status", Status, lambda told: {one.kind for one in told.newest_incidents} == {"link.down", "x.acme.failing"})
    await until_ordered(chiller, len(STEPS))
    assert [order.rpartition("/")[2] for order in chiller.counts] == STEPS
    assert set(chiller.counts.values()) == {1}


async def is_all_written(daemon: Daemon, chiller: Chiller) -> None:
    """The journal has both incidents, and each order of the chiller with its outcome."""
    await daemon.until("status", Status, lambda told: not told.journal.reason and not told.journal.waiting)
    asked = ActionFilter(policy="acme")
    await daemon.until("actions", Actions, lambda told: [bool(deed.outcome) for deed in told.actions] == [True] * len(STEPS), asked)
    found = await daemon.until("incidents", Incidents, lambda told: len(told.incidents) == 2, IncidentFilter(all=True))
    assert {one.kind for one in found.incidents} == {"link.down", "x.acme.failing"}
    with closing(sqlite3.connect(daemon.journal)) as journal:
        rows = journal.execute("SELECT id, result FROM actions WHERE kind LIKE 'x.acme.%' ORDER BY issued").fetchall()
    assert {order for order, _ in rows} == set(chiller.counts)
    assert [result for _, result in rows] == ["done"] * len(STEPS)
    assert set(chiller.counts.values()) == {1}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small disk: run this test as root")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "small", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    return filler


@pytest.mark.parametrize("killed", [False, True], ids=["going on", "killed"])
async def test_a_full_disk(tmp_path: Path, checkout: Path, small_disk: Path, killed: bool) -> None:
    chiller = new_chiller()
    async with one_daemon(tmp_path, checkout, chiller, small_disk / "state") as daemon:
        await daemon.start()
        await settle(daemon)
        filler = await asyncio.to_thread(fill, small_disk)
        await judge_and_act(daemon, tmp_path, chiller)
        told = await daemon.until("status", Status, lambda told: told.journal.reason)
        assert "full" in told.journal.reason
        assert any(trouble.startswith("journal: ") for trouble in told.troubles)
        await daemon.told.wait("^STATUS=degraded: journal")
        if killed:  # what was acknowledged is in the spill file
            await daemon.kill()
            await daemon.start()
            await daemon.until("status", Status, lambda told: {one.kind for one in told.newest_incidents} >= {"x.acme.failing"})
        filler.unlink()
        await is_all_written(daemon, chiller)
        if not killed:
            await daemon.log.once("ERROR .*takes no writes")
            await daemon.log.once("takes writes again")
        assert await daemon.stop() == 0


async def test_a_database_that_another_process_has_locked(tmp_path: Path, checkout: Path) -> None:
    chiller = new_chiller()
    async with one_daemon(tmp_path, checkout, chiller) as daemon:
        await daemon.start()
        await settle(daemon)
        with closing(sqlite3.connect(daemon.journal, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await judge_and_act(daemon, tmp_path, chiller)
            told = await daemon.until("status", Status, lambda told: told.journal.reason)
            assert "locked" in told.journal.reason
            other.execute("ROLLBACK")
        await is_all_written(daemon, chiller)
        await daemon.log.once("ERROR .*takes no writes")
        await daemon.log.once("takes writes again")
        assert await daemon.stop() == 0


async def test_a_trouble_that_comes_again_while_the_database_is_locked_is_worked_anew(tmp_path: Path, checkout: Path) -> None:
    chiller = new_chiller()
    async with one_daemon(tmp_path, checkout, chiller) as daemon:
        await daemon.start()
        chiller.health = "failing"
        await until_ordered(chiller, len(STEPS))
        asked = ActionFilter(policy="acme")
        await daemon.until("actions", Actions, lambda told: [bool(deed.outcome) for deed in told.actions] == [True] * len(STEPS), asked)
        with closing(sqlite3.connect(daemon.journal, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            chiller.health = "ok"
            await daemon.until("status", Status, lambda told: not told.open_incidents)
            chiller.health = "failing"
            await until_ordered(chiller, 2 * len(STEPS))
            other.execute("ROLLBACK")
        await daemon.until("status", Status, lambda told: not told.journal.reason and not told.journal.waiting)
        await daemon.until("actions", Actions, lambda told: [bool(deed.outcome) for deed in told.actions] == [True] * 2 * len(STEPS), asked)
        found = (await daemon.ask("incidents", Incidents, IncidentFilter(all=True))).incidents
        assert [incident.closed is None for incident in found] == [True, False]
        assert [order.rpartition("/")[0] for order in chiller.counts] == [found[1].id] * len(STEPS) + [found[0].id] * len(STEPS)
        assert set(chiller.counts.values()) == {1}
        assert await daemon.stop() == 0


async def test_a_database_that_is_broken_at_the_start(tmp_path: Path, checkout: Path) -> None:
    chiller = new_chiller()
    async with one_daemon(tmp_path, checkout, chiller) as daemon:
        daemon.journal.parent.mkdir(parents=True)
        daemon.journal.write_bytes(b"no database at all\n" * 1000)
        await daemon.start()
        await settle(daemon)
        await judge_and_act(daemon, tmp_path, chiller)
        await is_all_written(daemon, chiller)
        [aside] = daemon.journal.parent.glob("journal.db.corrupt-*Z")
        assert aside.read_bytes().startswith(b"no database at all")
        await daemon.log.once(f"ERROR .*the old file is kept as {aside.name}")
        assert await daemon.stop() == 0


async def test_a_database_that_breaks_between_two_lives(tmp_path: Path, checkout: Path) -> None:
    """Damage in the middle of the file: what is open and what was done is saved, so that nothing is done twice."""
    chiller = new_chiller()
    async with one_daemon(tmp_path, checkout, chiller) as daemon:
        await daemon.start()
        await settle(daemon)
        await judge_and_act(daemon, tmp_path, chiller)
        await is_all_written(daemon, chiller)
        assert await daemon.stop() == 0
        with closing(sqlite3.connect(daemon.journal)) as journal:
            [(root,)] = journal.execute("SELECT rootpage FROM sqlite_master WHERE name = 'readings'").fetchall()
            [(size,)] = journal.execute("PRAGMA page_size").fetchall()
            journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with daemon.journal.open("r+b") as file:
            file.seek((root - 1) * size)
            file.write(b"\xff" * size)
        await daemon.start()
        await daemon.log.wait("ERROR .*the old file is kept as .*2 open incidents")
        await is_all_written(daemon, chiller)
        assert await daemon.stop() == 0

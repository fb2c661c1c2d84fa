from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from supernoded.errors import SettingsError, WireError
from supernoded.job.jobs import Jobs, open_jobs
from supernoded.job.keeping import Keeping
from supernoded.job.listening import listen
from supernoded.job.protocol import Agreed, Beat, FromPeer, Hello, Request, Saving, Welcome, decode_daemon, encode
from supernoded.job.training import Kept
from supernoded.limits import Limits
from supernoded.messages import RequestRow
from supernoded.model import Reading
from supernoded.settings import Settings, parse_settings
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.wire import Node

LOG = logging.getLogger("test")


class House:
    """A daemon's jobs on a real socket, with files in memory and a clock that stands."""

    def __init__(self, folder: Path, more: str = "") -> None:
        found = parse_settings(f'node = "n0"\n{more}', "test", folder, {"STATE_DIRECTORY": "/state", "RUNTIME_DIRECTORY": str(folder)})
        assert isinstance(found, Settings)
        self.settings, self.clock, self.wires = found, ManualClock(), MemoryWires()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[Jobs]:
        node = Node("n0", self.settings.topology, Limits(), self.wires, self.clock, MemoryHost(), self.settings.state)
        jobs = open_jobs(self.settings, self.clock, LOG, node)
        life = asyncio.create_task(jobs.run())
        await asyncio.wait_for(jobs.listening.wait(), 10)
        try:
            yield jobs
        finally:
            life.cancel()
            with suppress(asyncio.CancelledError):
                await life


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def dial(house: House, *messages: FromPeer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A rank that has been welcomed and has said this."""
    reader, writer = await asyncio.open_unix_connection(house.settings.job.socket)
    writer.write(encode(Hello(v=1, job="train", kind="rank", rank=0, world=1)))
    assert isinstance(decode_daemon(await reader.readline()), Welcome)
    for message in messages:
        writer.write(encode(message))
    await writer.drain()
    return reader, writer


async def test_what_changes_is_told_at_once_as_readings_of_the_sensor(house: House) -> None:
    async with house.run() as jobs:
        told: asyncio.Queue[str] = asyncio.Queue()

        def take(readings: Sequence[Reading], fresh_for: float) -> None:
            assert fresh_for > jobs.sensor.period
            assert {reading.source for reading in readings} == {"job@n0"}
            told.put_nowait(next(str(reading.value) for reading in readings if reading.quantity == "job.request"))

        jobs.followers.append(take)
        _, writer = await dial(house)
        assert await asyncio.wait_for(told.get(), 10) == "none"
        asked = jobs.desk.ask("train", "by hand")
        assert await asyncio.wait_for(told.get(), 10) == "asked"
        writer.write(encode(Agreed(request=asked.id, number=1, step=5)))
        assert await asyncio.wait_for(told.get(), 10) == "agreed"
        writer.close()


async def test_a_request_survives_the_daemon(house: House) -> None:
    async with house.run() as jobs:
        _, writer = await dial(house, Beat(step=4))
        asked = jobs.desk.ask("train", "by hand", deadline_s=30.0)
        writer.write(encode(Agreed(request=asked.id, number=1, step=5)) + encode(Saving(step=5)))
        async with asyncio.timeout(10):
            while jobs.desk.list_jobs()[0].request == asked:
                await asyncio.sleep(0)
        writer.close()
    async with house.run() as jobs:
        (row,) = jobs.desk.list_jobs()
        found = jobs.desk.find_request("train", asked.id)
        assert isinstance(found, RequestRow)
        assert row.request == found
        assert (found.stage in {"agreed", "saving"}, found.step, found.deadline, row.state) == (True, 5, asked.deadline, "unknown")
        await house.clock.advance(61.0)
        assert jobs.desk.list_jobs()[0].state == "absent"
        with pytest.raises(WireError, match="there is no job other"):
            jobs.desk.find_request("other")


async def test_what_was_being_written_when_the_daemon_ended_is_written_all_the_same(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, write, slow = asyncio.Event(), Keeping.write, [True]

    async def write_slowly(self: Keeping, name: str, kept: Kept) -> None:
        if slow and kept.requests:
            slow.clear()
            begun.set()
            await asyncio.Event().wait()
        await write(self, name, kept)

    monkeypatch.setattr(Keeping, "write", write_slowly)
    async with house.run() as jobs:
        _, writer = await dial(house, Beat(step=4))
        asked = jobs.desk.ask("train", "by hand", deadline_s=30.0)
        await asyncio.wait_for(begun.wait(), 10)
    writer.close()
    async with house.run() as jobs:
        assert jobs.desk.find_request("train", asked.id) is not None


@pytest.mark.parametrize(
    ("more", "asks"),
    [
        ("mode = 'act'", False),
        ("[vault]\ndurable = '/disk'", False),  # in observe
        ("mode = 'act'\n[vault]\ndurable = '/disk'", True),
        ("mode = 'act'\n[vault]\ndurable = '/disk'\n[vault.interval]\nask = false", False),
        ("[vault.interval]\nask = true", True),
    ],
)
async def test_it_asks_at_an_interval_where_storage_is_or_it_is_told_to(tmp_path: Path, more: str, asks: bool) -> None:
    house = House(tmp_path, more)
    async with house.run() as jobs:
        reader, writer = await dial(house, Beat(step=4))
        async with asyncio.timeout(10):
            while jobs.desk.list_jobs()[0].step != 4:
                await asyncio.sleep(0)
        await house.clock.advance(61.0)
        (row,) = jobs.desk.list_jobs()
        assert (row.interval, bool(row.interval_text), row.request is not None) == ((60.0 if asks else None), asks, asks)
        if asks:
            assert isinstance(decode_daemon(await asyncio.wait_for(reader.readline(), 10)), Request)
        writer.close()


async def test_a_file_that_is_garbage_is_named_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    tree = MemoryWires().tree("/state")
    tree.files |= {
        "jobs/bad.json": "{",
        "jobs/worse.json": '{"world": "x"}',
        "jobs/train.json": msgspec.json.encode(Kept(world=4)).decode(),
    }
    with caplog.at_level(logging.WARNING):
        found = await Keeping(tree, LOG).read()
    assert found == {"train": Kept(world=4)}
    assert [message.partition(" is left out")[0] for message in caplog.messages] == ["jobs/bad.json", "jobs/worse.json"]


async def test_what_has_not_changed_is_not_written_again() -> None:
    tree = MemoryWires().tree("/state")
    keeping = Keeping(tree, LOG)
    await keeping.write("train", Kept(world=4))
    written = tree.files["jobs/train.json"]
    tree.files["jobs/train.json"] = "touched"
    await keeping.write("train", Kept(world=4))
    assert tree.files["jobs/train.json"] == "touched"
    await keeping.write("train", Kept(world=4, number=1))
    assert tree.files["jobs/train.json"] != written


async def test_the_socket_is_for_its_owner_and_goes_with_the_daemon(tmp_path: Path) -> None:
    path = tmp_path / "job.sock"
    async with listen(path, "", LOG, asyncio.Protocol):
        assert path.stat().st_mode & 0o777 == 0o600
    assert not path.exists()


async def test_a_group_that_is_not_there_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with listen(tmp_path / "job.sock", "no-such-group", LOG, asyncio.Protocol):
        assert "there is no group 'no-such-group'" in caplog.text


async def test_a_place_that_cannot_be_written_to_is_a_settings_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="choose a place"):
        async with listen(tmp_path / "none" / "job.sock", "", LOG, asyncio.Protocol):
            pass


def test_a_token_that_cannot_be_read_is_a_problem_of_the_settings(tmp_path: Path) -> None:
    problems = parse_settings('[job.tokens]\ntrain = "none"\n', "test", tmp_path, {})
    assert not isinstance(problems, Settings)
    assert "job.tokens.train" in str(problems[0])

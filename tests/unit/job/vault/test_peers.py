"""What peers say to each other, what a stranger can say, and what the folder for their parts does when it is full."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Tier, read_catalogue, read_part
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen, hash_part, seal
from supernoded.job.vault.names import name_step, place_part
from supernoded.job.vault.peers.carrying import receive_part, send_part
from supernoded.job.vault.peers.channel import Channel, split_address
from supernoded.job.vault.peers.pushing import Pusher
from supernoded.job.vault.peers.serving import Service
from supernoded.job.vault.peers.store import Store
from supernoded.job.vault.peers.words import MOST_LINE, Ask, Known, Parts, decode
from supernoded.job.vault.records import Saved
from supernoded.job.vault.retention import InMemory, make_room
from supernoded.settings import Settings, parse_settings
from tests.unit.job.vault.saving import JOB, Turned, save_part

PEN = Pen(node="n1", pid=1, level=None, headroom=0)


class Wire:
    """Both ends of a connection, and what lies between: every line of the one that dials passes through `change`."""

    def __init__(self, streams: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]], patience: float) -> None:
        (self.reader, self.dialler), self._near, self._far, (reader, self.listener) = streams
        self.client, self.server = Channel(self.reader, self.dialler, patience), Channel(reader, self.listener, patience)
        self.change: Callable[[bytes], bytes] = lambda line: line
        self.tasks = [asyncio.create_task(self._forward()), asyncio.create_task(self._back())]

    async def _forward(self) -> None:
        while line := await self._near[0].readline():
            self._far[1].write(self.change(line))
        self._far[1].write_eof()

    async def _back(self) -> None:
        while line := await self._far[0].readline():
            self._near[1].write(line)
        self._near[1].write_eof()


@asynccontextmanager
async def connect(patience: float = 5.0) -> AsyncIterator[Wire]:
    ends = [*socket.socketpair(), *socket.socketpair()]
    streams = [await asyncio.open_connection(sock=end, limit=MOST_LINE) for end in ends]
    wire = Wire(streams, patience)
    try:
        yield wire
    finally:
        for task in wire.tasks:
            task.cancel()
        for _, writer in streams:
            writer.close()


async def greet(wire: Wire) -> str:
    _, node = await asyncio.gather(wire.client.greet("n0", "one"), wire.server.welcome("one"))
    return node


async def test_who_has_the_secret_is_known_and_what_it_says_arrives_in_order() -> None:
    async with connect() as wire:
        assert await greet(wire) == "n0"
        for job in ("a", "b"):
            await wire.client.say(Ask(job=job))
        assert [(await wire.server.hear(Ask)).job for _ in range(2)] == ["a", "b"]
        await wire.server.say(Known())
        with pytest.raises(VaultError, match="Parts is due, and Known came"):
            await wire.client.hear(Parts)


async def test_without_the_secret_the_server_says_nothing_that_proves_anything() -> None:
    async with connect() as wire:
        dialling = asyncio.create_task(wire.client.greet("n0", "one"))
        with pytest.raises(VaultError, match="has not our secret"):
            await wire.server.welcome("another")
        wire.listener.close()
        with pytest.raises(ConnectionResetError, match="has hung up"):
            await dialling


@pytest.mark.parametrize(
    "change", [lambda line: line.replace(b"mine", b"theirs"), lambda line: b"0" * 64 + line[64:], lambda line: line[65:]]
)
async def test_a_line_that_was_changed_is_found_out(change: Callable[[bytes], bytes]) -> None:
    async with connect() as wire:
        await greet(wire)
        wire.change = change
        await wire.client.say(Ask(job="mine"))
        with pytest.raises(VaultError, match="not said by the one we greeted"):
            await wire.server.hear(Ask)


async def test_a_line_that_is_said_again_is_found_out() -> None:
    async with connect() as wire:
        await greet(wire)
        wire.change = lambda line: 2 * line
        await wire.client.say(Ask(job="mine"))
        assert (await wire.server.hear(Ask)).job == "mine"
        with pytest.raises(VaultError, match="not said by the one we greeted"):
            await wire.server.hear(Ask)


@given(data=st.binary(max_size=300) | st.sampled_from([b'{"t":"hello"}\n', b"[" * 5000 + b"\n", b'{"t":"parts","parts":[{}]}\n']))
async def test_a_stranger_may_say_anything(data: bytes) -> None:
    async with connect() as wire:
        wire.dialler.write(data)
        wire.dialler.write_eof()
        with pytest.raises((VaultError, OSError)):
            await wire.server.welcome("one")


@given(line=st.binary(max_size=300))
def test_garbage_is_no_word(line: bytes) -> None:
    try:
        decode(line)
    except VaultError as error:
        assert "what is not understood" in str(error)


async def test_who_says_nothing_is_not_waited_for() -> None:
    async with connect(patience=0.05) as wire:
        await greet(wire)
        with pytest.raises(TimeoutError, match="does not answer"):
            await wire.server.hear_any()
        with pytest.raises(TimeoutError, match="sends nothing more"):
            await wire.server.receive(10)


class Folder:
    """A store with room for `limit` bytes."""

    def __init__(self, folder: Path, limit: int = 1000, forget_s: float = 1e10) -> None:
        self.clock, self.root = Turned(), folder / "peer"
        self.store = Store(SystemFiles(), Tier(name="peer", root=self.root, committed=False), PEN, limit, forget_s, self.clock)
        self.store.open()

    def take(self, step: int, rank: int, size: int = 10) -> None:
        saved = Saved(rank=rank, world=2, step=step, taken=self.clock.wall(), files={"model.pt": size})
        with self.store.expect(JOB, saved) as target:
            assert target == place_part(self.root, JOB, step, rank)
            save_part(self.root, step, rank, 2, b"x" * size, taken=self.clock.wall())

    def list_steps(self) -> list[int]:
        return sorted({held.step for held in self.store.find(JOB)})


def test_the_newest_full_step_stays_until_the_next_is_full(tmp_path: Path) -> None:
    folder = Folder(tmp_path, limit=100_000)
    for step in (1, 2, 3):
        folder.take(step, 0)
        folder.take(step, 1)
        assert step - 1 in [0, *folder.list_steps()]
    folder.take(4, 0)
    assert folder.list_steps() == [3, 4]
    assert make_room([InMemory(job=JOB, step=step, ranks=1, size=1, safe=True) for step in (1, 2, 3)], 9, 1).go == [(JOB, 1), (JOB, 2)]


def test_what_has_no_room_is_refused_with_the_figures(tmp_path: Path) -> None:
    folder = Folder(tmp_path, limit=700)
    folder.take(1, 0)
    saved = Saved(rank=1, world=2, step=1, taken=1.0, files={"model.pt": 600})
    with (
        pytest.raises(VaultError, match=r"is full there: \d+ of 700 bytes are taken, and 600 are to come; raise vault.peer.most_mb"),
        folder.store.expect(JOB, saved),
    ):
        pass
    assert folder.list_steps() == [1]


def test_what_is_on_its_way_counts_and_comes_once(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    big = Saved(rank=0, world=2, step=1, taken=1.0, files={"model.pt": 900})
    with folder.store.expect(JOB, big):
        with pytest.raises(VaultError, match="on its way already"), folder.store.expect(JOB, big):
            pass
        with pytest.raises(VaultError, match="is full there"):
            folder.take(1, 1, size=200)
    folder.take(1, 1, size=200)


def test_a_job_that_has_not_saved_for_long_is_forgotten(tmp_path: Path) -> None:
    folder = Folder(tmp_path, limit=100_000, forget_s=100.0)
    folder.take(1, 0)
    folder.clock.turn(101.0)
    folder.store.clear()
    assert folder.list_steps() == [1], "it has just come back by a restore"
    step = folder.root / JOB / name_step(1)
    os.utime(step, (step.stat().st_mtime - 101.0,) * 2)
    folder.store.clear()
    assert folder.list_steps() == []


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ('listen = "here"', "is no address with a port"),
        ('push = ["10.0.0.1:99999"]', "is no address with a port"),
        ('push = ["fd00::1:7474"]', "is no address with a port"),
        ('listen = "10.0.0.1:7474"', "is missing; name a file with a secret"),
        ('listen = "10.0.0.1:7474"\nsecret = "none"', "cannot be read"),
        ('push = ["[fd00::1]:7474"]\nsecret = "secret"\nfolder = "/dev/shm/supernoded/peer"', "lies in /dev/shm/supernoded"),
    ],
)
def test_settings_that_cannot_work_are_named(tmp_path: Path, table: str, fault: str) -> None:
    (tmp_path / "secret").write_text("one")
    problems = parse_settings(f"[vault.peer]\n{table}\n", "test", tmp_path, {})
    assert not isinstance(problems, Settings)
    assert fault in "\n".join(map(str, problems))


def test_addresses() -> None:
    assert [split_address(address) for address in ("10.0.0.2:7474", "[fd00::2]:1", "n1:7474")] == [
        ("10.0.0.2", 7474),
        ("fd00::2", 1),
        ("n1", 7474),
    ]


async def test_a_peer_that_has_lost_its_memory_gets_the_part_again(tmp_path: Path) -> None:
    """Without a new save: it is asked once a minute whether it still has what it took."""
    there, clock, log = Folder(tmp_path, limit=100_000), Turned(), logging.getLogger("test.peers")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{found.getsockname()[1]}"
    shared = Tier(name="shared", root=tmp_path / "shm", committed=False)
    shared.root.mkdir()
    service = Service(there.store, SystemFiles(), shared, "one", address, 8, 5.0, log)
    pusher = Pusher(address, "n0", "one", SystemFiles(), 5.0, 0.02, clock, log)
    save_part(shared.root, 1, 0, 1, b"weights")
    tasks = [asyncio.create_task(service.run()), asyncio.create_task(pusher.run())]

    async def offer_until(has: bool) -> None:
        async with asyncio.timeout(10):
            while bool(there.list_steps()) != has:
                pusher.offer({JOB: read_catalogue(SystemFiles(), shared, JOB).parts})
                await clock.advance(1.0)
                await asyncio.sleep(0.001)

    try:
        await offer_until(True)
        shutil.rmtree(there.root / JOB)
        pusher.offer({JOB: read_catalogue(SystemFiles(), shared, JOB).parts})
        assert there.list_steps() == []
        await offer_until(True)
        assert pusher.trouble == ""
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest.mark.parametrize("harm", ["", "flip", "cut", "anew"])
async def test_a_part_arrives_whole_or_not_at_all(tmp_path: Path, harm: str) -> None:
    """Its bits have turned since it was hashed; it is shorter than its rank said; its rank saves it anew meanwhile."""
    files, shared = SystemFiles(), Tier(name="shared", root=tmp_path / "shm", committed=False)
    folder = save_part(shared.root, 1, 0, 1, b"weights of a model")
    seal(files, read_part(files, shared, JOB, 1, 0), hash_part(files, read_part(files, shared, JOB, 1, 0)), PEN)
    held = read_part(files, shared, JOB, 1, 0)
    saved = held.saved
    assert saved is not None
    target = place_part(tmp_path / "peer", JOB, 1, 0)
    target.parent.mkdir(parents=True)
    if harm in {"flip", "cut"}:
        (folder / "model.pt").write_bytes({"flip": b"Weights of a model", "cut": b"weights"}[harm])
    elif harm == "anew":
        save_part(shared.root, 1, 0, 1, b"WEIGHTS OF A MODEL", taken=2.0)
        held = msgspec.structs.replace(held, sums=None)
    async with connect() as wire:
        await greet(wire)
        coming = asyncio.create_task(receive_part(wire.server, files, target, saved, PEN))
        sent, _ = await asyncio.gather(send_part(wire.client, files, held, saved), asyncio.sleep(0), return_exceptions=True)
        wire.dialler.close()
        (came,) = await asyncio.gather(coming, return_exceptions=True)
    if not harm:
        assert (sent, came, (target / "model.pt").read_bytes()) == (None, None, b"weights of a model")
        assert read_part(files, Tier(name="peer", root=tmp_path / "peer", committed=False), JOB, 1, 0).sums == held.sums
        return
    wanted = {"flip": "is damaged: its hashes do not hold", "cut": "has hung up in the middle of a file", "anew": "saved anew while"}[harm]
    assert wanted in str(came)
    assert isinstance(sent, VaultError) == (harm == "cut")
    assert list(target.parent.iterdir()) == []

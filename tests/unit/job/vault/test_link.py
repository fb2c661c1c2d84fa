from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from supernoded.clock import SystemClock
from supernoded.job.protocol import Durable, FromDaemon, FromPeer, Hello, Refused, VaultTrouble, Welcome, decode_peer, encode
from supernoded.job.vault.link import Link, Links
from supernoded.testing.clock import ManualClock


class Daemon:
    """Answers each hello in turn, and keeps what it is told."""

    def __init__(self, *answers: FromDaemon | bytes) -> None:
        self.answers, self.heard = list(answers), asyncio.Queue[FromPeer]()
        self.writers: list[asyncio.StreamWriter] = []
        self.over = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        self.over.clear()
        try:
            await self.heard.put(decode_peer(await reader.readline()))
            answer = self.answers.pop(0) if self.answers else Welcome(node="n0")
            writer.write(answer if isinstance(answer, bytes) else encode(answer))
            if not isinstance(answer, Welcome):
                return
            while line := await reader.readline():
                await self.heard.put(decode_peer(line))
        finally:
            writer.close()
            self.over.set()

    async def hear(self) -> FromPeer:
        return await asyncio.wait_for(self.heard.get(), 10)


@asynccontextmanager
async def serving(path: Path, daemon: Daemon) -> AsyncIterator[None]:
    server = await asyncio.start_unix_server(daemon.serve, path)
    try:
        yield
    finally:
        server.close()
        for writer in daemon.writers:
            writer.close()
        await server.wait_closed()


DURABLE = Durable(step=7, tier="durable", where="/disk/llama", taken=5.0, seconds=1.0)


async def test_the_daemon_hears_what_counts_first_and_then_the_news(tmp_path: Path) -> None:
    daemon, links = Daemon(), Links(tmp_path / "job.sock", {"llama": "secret"}, SystemClock())
    async with serving(tmp_path / "job.sock", daemon):
        links.tell_trouble(VaultTrouble(tier="durable", text="not mounted"))
        links.meet("llama")
        hello = await daemon.hear()
        assert isinstance(hello, Hello)
        assert (hello.job, hello.kind, hello.token) == ("llama", "vault", "secret")
        assert await daemon.hear() == VaultTrouble(tier="durable", text="not mounted")
        links.tell_durable("llama", DURABLE)
        assert await daemon.hear() == DURABLE
        assert links.list_states() == {"llama": "connected"}
        await links.close()
        await asyncio.wait_for(daemon.over.wait(), 10)


async def test_a_daemon_that_comes_back_hears_the_newest_once(tmp_path: Path) -> None:
    clock = ManualClock()
    link = Link("llama", tmp_path / "job.sock", clock)
    task = asyncio.create_task(link.run())
    for step in range(2000):  # more than wait for a daemon
        link.tell(Durable(step=step, tier="durable", where="", taken=0.0, seconds=0.0))
    await clock.advance(1.0)
    assert link.state.startswith("not connected: [Errno 2]")
    daemon = Daemon()
    async with serving(tmp_path / "job.sock", daemon):
        await clock.advance(60.0)
        assert isinstance(await daemon.hear(), Hello)
        told = await daemon.hear()
        assert isinstance(told, Durable)
        assert told.step == 1999
        link.tell(DURABLE)
        assert await daemon.hear() == DURABLE
        task.cancel()
        await asyncio.wait({task})
        await asyncio.wait_for(daemon.over.wait(), 10)


async def test_garbage_and_refusals_are_told_and_tried_again(tmp_path: Path) -> None:
    states: list[str] = []

    class Noting(ManualClock):
        async def sleep(self, seconds: float) -> None:
            states.append(link.state)
            await asyncio.sleep(0)

    answers = (Refused(why="no token"), b"\xff\xfe nonsense\n", b"x" * 70_000 + b"\n", b"{}\n", Welcome(node="n0"))
    daemon = Daemon(*answers)
    link = Link("llama", tmp_path / "job.sock", Noting())
    link.tell(DURABLE)
    async with serving(tmp_path / "job.sock", daemon):
        task = asyncio.create_task(link.run())
        while await daemon.hear() != DURABLE:
            pass
        task.cancel()
        await asyncio.wait({task})
        await asyncio.wait_for(daemon.over.wait(), 10)
    assert len(states) == 4
    assert states[0] == "not connected: the daemon refused: no token"
    assert all(state.startswith("not connected: ") for state in states)


async def test_of_a_job_that_has_gone_nothing_is_told_any_more(tmp_path: Path) -> None:
    daemon, links = Daemon(), Links(tmp_path / "job.sock", {}, SystemClock())
    async with serving(tmp_path / "job.sock", daemon):
        links.keep(["llama"])
        assert isinstance(await daemon.hear(), Hello)
        links.keep([])
        await asyncio.wait_for(daemon.over.wait(), 10)
        assert links.list_states() == {}
        await links.close()

"""The embedded broker as the daemon uses it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from supernoded.cluster import topics
from supernoded.cluster.link.broker import CHILD, BrokerError, EmbeddedBroker
from supernoded.cluster.link.fabric import Message
from supernoded.errors import SessionError
from tests.protocol.mosquitto import free_port
from tests.protocol.test_mqtt import WILL, fabric, first
from tests.protocol.test_session import EVENT, contend, make, running, tell
from tests.unit.cluster.fakes import until

LOG = logging.getLogger("supernoded.cluster.link.broker")


@asynccontextmanager
async def serving(folder: Path, port: int = 0) -> AsyncIterator[EmbeddedBroker]:
    broker = EmbeddedBroker(folder, LOG, port)
    task = asyncio.create_task(broker.run())
    try:
        async with asyncio.timeout(20):
            await broker.listening.wait()
        yield broker
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if str(CHILD) in child.cmdline()]


async def test_a_session_on_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with serving(tmp_path) as broker, fabric(broker.port).connect("observer", WILL) as link:
        session, store = make(broker.port)
        async with running(session):
            await until(lambda: session.state.connected)
            await link.subscribe([EVENT])
            await session.send(Message(topic=EVENT, payload=tell(1)), "e1")
            assert (await first(link)).payload == tell(1)
            await until(lambda: not store.letters)
    assert capfd.readouterr() == ("", "")
    assert children() == []


async def test_retained_messages_wills_and_our_largest_payload(tmp_path: Path) -> None:
    async with serving(tmp_path) as broker, fabric(broker.port).connect("watch", WILL) as watch:
        await watch.publish(Message(topic="kept", payload=b"x" * topics.MAX_PAYLOAD, retain=True))
        await watch.subscribe(["kept", "will/#"])
        assert len((await first(watch)).payload) == topics.MAX_PAYLOAD
        async with fabric(broker.port).connect("n0-a", WILL) as link:
            link._client.abandon()
            assert (await first(watch)).payload == b"offline"


async def test_a_second_daemon_of_one_name_stays_off(tmp_path: Path) -> None:
    async with serving(tmp_path) as broker:
        await contend(broker.port)


async def test_it_listens_on_loopback_only(tmp_path: Path) -> None:
    async with serving(tmp_path):
        (child,) = children()
        assert {connection.laddr.ip for connection in child.net_connections() if connection.status == "LISTEN"} == {"127.0.0.1"}


async def test_when_it_dies_that_is_an_error_and_it_can_be_run_again_on_its_port(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path, LOG)
    for _ in range(2):
        task = asyncio.create_task(broker.run())
        async with asyncio.timeout(20):
            await broker.listening.wait()
        (child,) = children()
        child.kill()
        with pytest.raises(BrokerError, match="ended with code -9"):
            await task
        assert not broker.listening.is_set()


async def test_a_port_that_is_taken_is_not_shared(tmp_path: Path) -> None:
    async with serving(tmp_path) as first_one:
        with pytest.raises(BrokerError, match="is taken by another program"):
            await EmbeddedBroker(tmp_path / "other", LOG, first_one.port).run()


async def test_a_configuration_that_it_cannot_use_is_told_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.cluster.link.broker.CONFIG", "garbage {host} {port} {payload}")
    with pytest.raises(BrokerError, match=r"(?s)ended with code 1: .*cannot read broker config"):
        await EmbeddedBroker(tmp_path, LOG).run()


async def test_it_ends_when_its_daemon_is_killed(tmp_path: Path) -> None:
    port = free_port()
    program = (
        "import asyncio, logging, pathlib, sys\n"
        "from supernoded.cluster.link.broker import EmbeddedBroker\n"
        "asyncio.run(EmbeddedBroker(pathlib.Path(sys.argv[1]), logging.getLogger('x'), int(sys.argv[2])).run())\n"
    )
    daemon = subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(port)])
    try:
        await until(lambda: bool(_listening(port)))
    finally:
        os.kill(daemon.pid, signal.SIGKILL)
        daemon.wait()
    await until(lambda: not _listening(port))
    with pytest.raises(SessionError, match="nobody listens"):
        async with fabric(port).connect("n0-a", WILL):
            pytest.fail("it is still there")


def _listening(port: int) -> list[str]:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [line[1] for line in lines if line[1].endswith(f":{port:04X}") and line[3] == "0A"]

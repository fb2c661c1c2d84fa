from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from tests.protocol.mosquitto import Mosquitto
from tests.protocol.upsd import Upsd


@pytest.fixture
async def mosquitto(tmp_path: Path) -> AsyncIterator[Mosquitto]:
    """Not started: a test adds its lines first."""
    broker = Mosquitto(tmp_path)
    yield broker
    if broker.process is not None:
        await broker.kill()


@pytest.fixture
async def upsd(tmp_path: Path) -> AsyncIterator[Upsd]:
    """Not started: a test adds its devices first."""
    folder = tmp_path / "nut"
    folder.mkdir()
    server = Upsd(folder)
    yield server
    await server.stop()


@pytest.fixture
async def wires() -> AsyncIterator[SystemWires]:
    """Real ones, on which anybody may write."""
    wires = SystemWires(Pen(lambda _: None))
    yield wires
    await wires.close()


@pytest.fixture
async def quiet(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> AsyncIterator[None]:
    """Fails the test when anything is printed, logged, or complained of by the loop."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    yield
    assert complaints == []
    assert caplog.messages == []
    assert capfd.readouterr() == ("", "")

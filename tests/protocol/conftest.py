from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.mosquitto import Mosquitto


@pytest.fixture
async def mosquitto(tmp_path: Path) -> AsyncIterator[Mosquitto]:
    """Not started: a test adds its lines first."""
    broker = Mosquitto(tmp_path)
    yield broker
    if broker.process is not None:
        await broker.kill()


@pytest.fixture
async def quiet(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> AsyncIterator[None]:
    """Fails the test when anything is printed, logged, or complained of by the loop."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    yield
    assert complaints == []
    assert caplog.messages == []
    assert capfd.readouterr() == ("", "")

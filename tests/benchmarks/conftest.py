from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.protocol.mosquitto import Mosquitto


@pytest.fixture
async def mosquitto(tmp_path: Path) -> AsyncIterator[Mosquitto]:
    """Not started: a test adds its lines first."""
    broker = Mosquitto(tmp_path)
    yield broker
    if broker.process is not None:
        await broker.kill()

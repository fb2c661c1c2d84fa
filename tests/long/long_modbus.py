"""A million Modbus exchanges under every fault of a line: no wrong value, and nothing called done that is not.

Half of them are with our own units and half with those of pymodbus and libmodbus; beside them some thousands in real time on device paths.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol import test_modbus_lines as lines
from tests.protocol.modbus_servers import SERVERS
from tests.protocol.test_modbus_exchanges import check, suffer

EACH = 125_000  # exchanges; a few minutes on one core
ON_A_PATH = 1000  # exchanges; the same in real time

pytestmark = pytest.mark.timeout(1800)


@pytest.mark.parametrize(("seed", "baud", "echo"), [(1, 115200, False), (2, 19200, False), (3, 9600, False), (4, 57600, True)])
def test_no_wrong_value_and_no_false_done(seed: int, baud: int, echo: bool) -> None:
    check(suffer(EACH, 1000 + seed, baud, echo=echo), EACH)


@pytest.mark.parametrize(("name", "seed", "baud"), [(name, seed, baud) for name in SERVERS for seed, baud in ((5, 115200), (6, 9600))])
def test_no_wrong_value_of_a_server_of_others(name: str, seed: int, baud: int) -> None:
    with SERVERS[name]() as served:
        check(suffer(EACH, 1000 + seed, baud, served=served), EACH)


@pytest.mark.parametrize("name", SERVERS)
async def test_no_wrong_value_on_a_device_path(name: str, tmp_path: Path) -> None:
    check(await lines.suffer(name, tmp_path, ON_A_PATH, turns=20), ON_A_PATH)

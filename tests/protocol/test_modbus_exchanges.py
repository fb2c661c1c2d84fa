"""Ten thousand exchanges with two units under every fault of a line, in virtual time: no wrong value, no false DONE.

The units are ours, those of pymodbus's server and those of libmodbus.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from sim_hardware.bus import Line as Bus
from sim_hardware.bus import LineFaults
from sim_hardware.bus import Pace as BusPace
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from supernoded.wire import Pen
from supernoded.wire.line import SharedLine
from supernoded.wire.line_address import parse_line
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.torture import LATEST_S, Served, Toll, list_faults, torment
from tests.protocol.modbus_servers import SERVERS

EACH = 3000  # exchanges


def check(toll: Toll, exchanges: int) -> None:
    """Nothing was wrong, and enough came of it to say so."""
    assert toll.wrong == []
    assert toll.kinds["exchanges"] >= exchanges
    assert toll.right > exchanges / 4
    assert toll.written > exchanges / 40
    assert toll.refused > exchanges / 100
    assert {"timeouts", "crc_errors", "strays", "exceptions"} <= set(toll.kinds)


def suffer(exchanges: int, seed: int, baud: int, *, echo: bool = False, late: bool = False, served: Sequence[Served] = ()) -> Toll:
    """`late` = answers come later than the units say; `served` = units of others."""

    def choose() -> Iterator[LineFaults]:
        if late:
            yield LineFaults(late_s=LATEST_S + 0.15, late_share=0.5)
            return
        for faults in list_faults():
            yield LineFaults(**{**vars(faults), "echo": True}) if echo else faults

    async def story() -> Toll:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        bus, refusals = Bus("torture", BusPace(baud), seed), dict[str, str]()

        async def dial(protocol: asyncio.Protocol) -> None:
            bus.connect(protocol)

        address = parse_line(f"serial:///dev/none?baud={baud}&adapter_ms=16&echo={'yes' if echo else 'no'}")
        line = SharedLine(address, dial, Pen(refusals.get))
        return await torment(bus, line, SimClock(loop, "n0"), exchanges, seed, faults=choose, served=served)

    return run(story, seed)


@pytest.mark.parametrize(("seed", "baud", "echo"), [(3, 9600, False), (4, 115200, True)])
def test_no_wrong_value_and_no_false_done(seed: int, baud: int, echo: bool) -> None:
    check(suffer(EACH, seed, baud, echo=echo), EACH)


@pytest.mark.parametrize(("name", "seed", "baud"), [("pymodbus", 1, 115200), ("libmodbus", 2, 19200)])
def test_no_wrong_value_of_a_server_of_others(name: str, seed: int, baud: int) -> None:
    with SERVERS[name]() as served:
        check(suffer(EACH, seed, baud, served=served), EACH)


def test_a_device_that_is_later_than_it_says_is_found_out() -> None:
    """What the test above would see; nothing but the device's own word tells such an answer from the next one (safety rule 22)."""
    assert suffer(2000, 1, 115200, late=True).wrong

"""A CDU that pymodbus plays, over TCP and on a device path: its registers after what the plugin has done, and whose it is by them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pymodbus import FramerType
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

import supernoded_modbus
from sim_hardware.bus import Line as Bus
from sim_hardware.bus import Pace, serve_pty
from supernoded.clock import SystemClock
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Setpoint, Step
from supernoded.parts import Handle
from supernoded.plugin import Node, WireError, read_topology
from supernoded.testing import MemoryHost
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_modbus.settings import ModbusSettings
from tests.protocol.mosquitto import free_port

UNIT = 12
SIZE = 38100
CONTROL, SETPOINT, VALVE, PUMPS, HEARTBEAT, WATCHDOG, LEFT, PRESSURE, BRANCHES = (
    37904,
    37918,
    37919,
    37936,
    38020,
    38021,
    38022,
    38024,
    38050,
)
DIRECT, AUTO, AT_SETPOINT = 1, 2, 4
SERIAL = "R-0042"

pytestmark = pytest.mark.usefixtures("quiet")


def make_words() -> list[int]:
    """As the map `rpu` has them."""
    words = [0] * SIZE
    words[36864:36868] = [8000, 221, 309, 2000]
    words[36873] = 60
    words[36874:36878] = [1750, 0, 0, 0]
    words[37537] = 412
    words[CONTROL], words[SETPOINT], words[VALVE] = AUTO, 220, 41
    words[PUMPS : PUMPS + 3] = [60, 0, 0]
    words[38000:38008] = spell("RPU-9")
    words[38008:38016] = spell(SERIAL)
    words[WATCHDOG : WATCHDOG + 9] = [10, 100, 220, 1000, 120, 221, 160, 1500, 0]
    words[38030:38034] = [2, 0, 0xFFFF, 0xFFFF]
    words[BRANCHES : BRANCHES + 3] = [2, 0, 0]
    return words


def spell(text: str) -> list[int]:
    data = text.encode().ljust(16, b"\0")
    return [int.from_bytes(data[place : place + 2], "big") for place in range(0, 16, 2)]


class Peer:
    """The server's registers, and how the plugin reaches it."""

    def __init__(self, server: Any, url: str) -> None:
        self._server, self.url = server, url

    async def see(self, address: int, count: int = 1) -> list[int]:
        return [int(word) for word in await self._server.async_getValues(UNIT, 3, address, count)]

    async def set(self, address: int, *words: int) -> None:
        await self._server.async_setValues(UNIT, 16, address, list(words))


@asynccontextmanager
async def serve_tcp(folder: Path) -> AsyncIterator[Peer]:
    del folder
    port = free_port()
    server = ModbusTcpServer([make_device()], address=("127.0.0.1", port))
    await server.serve_forever(background=True)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(server.shutdown)
        yield Peer(server, f"modbus://127.0.0.1:{port}?unit={UNIT}&map=rpu&serial={SERIAL}")


@asynccontextmanager
async def serve_path(folder: Path) -> AsyncIterator[Peer]:
    bus = Bus("cdu", Pace(19200), 1)
    async with AsyncExitStack() as stack:
        theirs = await stack.enter_async_context(serve_pty(bus, folder / "theirs"))
        ours = await stack.enter_async_context(serve_pty(bus, folder / "ours"))
        server = ModbusSerialServer([make_device()], framer=FramerType.RTU, port=theirs, baudrate=19200, ignore_missing_devices=True)
        await server.serve_forever(background=True)
        stack.push_async_callback(server.shutdown)
        yield Peer(server, f"serial://{ours}?baud=19200&unit={UNIT}&map=rpu&serial={SERIAL}&adapter_ms=16")


def make_device() -> SimDevice:
    bits = [SimData(0, values=[False] * 16, datatype=DataType.BITS)]
    return SimDevice(
        UNIT,
        (
            bits,
            bits,
            [SimData(0, values=make_words(), datatype=DataType.REGISTERS)],
            [SimData(0, values=[0] * 8, datatype=DataType.REGISTERS)],
        ),
    )


Serve = Callable[[Path], Any]
WAYS: Sequence[Serve] = (serve_tcp, serve_path)


@asynccontextmanager
async def open_node(peer: Peer, folder: Path, authority: str) -> AsyncIterator[tuple[dict[str, Handle], list[Any]]]:
    topology = f"""
nodes = [{{name = "n0", cards = 1, loop = "cdu0"}}, {{name = "n1", cards = 1, loop = "cdu0"}}]
loops = [{{name = "cdu0", wire = "{peer.url}", authority = "{authority}"}}]
"""
    folder.mkdir(exist_ok=True)
    refusals: dict[str, str] = {}
    wires = SystemWires(Pen(refusals.get), "modbus")
    node = Node("n0", read_topology(topology, "topology"), Limits(), wires, SystemClock(), MemoryHost(), folder)
    try:
        settings = ModbusSettings()
        handles = {one.target: one for one in supernoded_modbus.supernoded_handles(settings, node)}
        yield handles, list(supernoded_modbus.supernoded_actuators(settings, node))
    finally:
        await wires.close()


def setpoint(target: str, quantity: str, value: float) -> Setpoint:
    return Setpoint(target=target, quantity=quantity, value=value)


@pytest.mark.parametrize("serve", WAYS)
async def test_a_valve_is_turned_and_its_puts_are_heartbeats(tmp_path: Path, serve: Serve) -> None:
    async with serve(tmp_path) as peer, open_node(peer, tmp_path / "n0", "direct") as (handles, _):
        valve, pump = handles["cdu/0/valve"], handles["cdu/0/pump"]
        await peer.set(HEARTBEAT, 0xFFFF)  # which stands for no value, and is what some begin with
        stands = await valve.now_at()
        assert stands is not None
        assert stands.value == 41.2
        beats = set[int]()
        for value in (45.0, 45.2, 50.0):
            await valve.put(setpoint("cdu/0/valve", "coolant.valve", value), "cdu/0")
            assert await peer.see(VALVE) == [round(value)]
            beats |= set(await peer.see(HEARTBEAT))
        assert await peer.see(CONTROL) == [DIRECT]
        assert len(beats) == 3
        assert len({beat >> 8 for beat in beats}) == 1
        assert await pump.now_at() is not None
        await pump.put(setpoint("cdu/0/pump", "coolant.pump_speed", 72.0), "cdu/0")
        assert await peer.see(PUMPS, 3) == [72, 0, 0]
        assert set(await peer.see(HEARTBEAT)) <= beats
        assert await peer.see(WATCHDOG) == [10]
        assert (await valve.hand_back("cdu/0")).effect is Effect.PRESENT
        assert await peer.see(CONTROL) == [AUTO]


@pytest.mark.parametrize("serve", WAYS)
async def test_a_setpoint_pressure_and_branch_are_written(tmp_path: Path, serve: Serve) -> None:
    async with serve(tmp_path) as peer, open_node(peer, tmp_path / "n0", "setpoint") as (handles, actuators):
        await handles["cdu/0/setpoint"].now_at()
        await handles["cdu/0/setpoint"].put(setpoint("cdu/0/setpoint", "coolant.setpoint", 23.44), "cdu/0")
        assert await peer.see(SETPOINT) == [234]
        assert await peer.see(CONTROL) == [AT_SETPOINT]
        assert await peer.see(HEARTBEAT) != [0]
        await handles["cdu/0/pressure"].now_at()
        await handles["cdu/0/pressure"].put(setpoint("cdu/0/pressure", "coolant.pressure_difference", 112.5), "cdu/0")
        assert await peer.see(PRESSURE) == [1125]
        branches = next(one for one in actuators if "coolant.close" in one.kinds)
        step = Step(name="s", kind="coolant.close", target="n1", reason="a test")
        action = Action(id="i/s", step=step, incident="i", scope="cdu/0", epoch=1, issued=0.0, deadline=1.0)
        await branches.apply(action)
        assert await peer.see(BRANCHES + 1, 2) == [0, 1]
        assert (await branches.observe(action)).effect is Effect.PRESENT


@pytest.mark.parametrize("serve", WAYS)
async def test_two_masters_at_a_foreign_cdu(tmp_path: Path, serve: Serve) -> None:
    async with serve(tmp_path) as peer, open_node(peer, tmp_path / "n0", "direct") as (handles, _):
        valve = handles["cdu/0/valve"]
        await peer.set(CONTROL, DIRECT)
        with pytest.raises(WireError, match="another hand is on it: control is direct, and its watchdog has 10 s left"):
            await valve.now_at()
        await peer.set(LEFT, 0)  # and it does not run: one that had run out would have its own control, so a person turns it
        with pytest.raises(WireError, match="another hand is on it: control is direct, and its watchdog has 0 s left"):
            await valve.now_at()
        await peer.set(LEFT, 100)
        await peer.set(CONTROL, AUTO)
        await valve.now_at()
        await valve.put(setpoint("cdu/0/valve", "coolant.valve", 45.0), "cdu/0")
        await peer.set(VALVE, 80)
        beat = await peer.see(HEARTBEAT)
        for _ in range(2):
            with pytest.raises(WireError, match="its valve reads 80 %, and we had written 45"):
                await valve.put(setpoint("cdu/0/valve", "coolant.valve", 46.0), "cdu/0")
        assert (await peer.see(VALVE), await peer.see(HEARTBEAT)) == ([80], beat)


@pytest.mark.parametrize(
    ("address", "word", "reason"),
    [
        (WATCHDOG, 60, "its watchdog reads 60 s, and direct control needs at most 15 s"),
        (LEFT, 0xFFFF, "its watchdog_left cannot be read"),
        (38023, 700, "the setpoint that it falls back to reads 70 C"),
        (36865, 400, "is the register map right"),
        (38008, 0x5858, "its serial number is"),
    ],
)
async def test_a_cdu_that_is_not_as_it_must_be_is_not_taken(tmp_path: Path, address: int, word: int, reason: str) -> None:
    async with serve_tcp(tmp_path) as peer, open_node(peer, tmp_path / "n0", "direct") as (handles, _):
        await peer.set(address, word)
        with pytest.raises(WireError, match=reason):
            await handles["cdu/0/valve"].now_at()
        assert (await peer.see(CONTROL), await peer.see(HEARTBEAT)) == ([AUTO], [0])


async def test_a_watchdog_that_does_not_run_gives_control_back(tmp_path: Path) -> None:
    async with serve_tcp(tmp_path) as peer, open_node(peer, tmp_path / "n0", "direct") as (handles, _):
        await peer.set(LEFT, 0)
        await handles["cdu/0/valve"].now_at()
        with pytest.raises(WireError, match="under direct control its watchdog does not run"):
            await handles["cdu/0/valve"].put(setpoint("cdu/0/valve", "coolant.valve", 45.0), "cdu/0")
        assert (await peer.see(CONTROL), await peer.see(VALVE), await peer.see(HEARTBEAT)) == ([AUTO], [41], [0])


async def test_a_restart_takes_its_own_again_and_another_node_does_not(tmp_path: Path) -> None:
    async with serve_tcp(tmp_path) as peer:
        async with open_node(peer, tmp_path / "n0", "direct") as (handles, _):
            await handles["cdu/0/valve"].now_at()
            await handles["cdu/0/valve"].put(setpoint("cdu/0/valve", "coolant.valve", 45.0), "cdu/0")
        async with open_node(peer, tmp_path / "n1", "direct") as (handles, _):
            with pytest.raises(WireError, match="not this daemon that engaged it"):
                await handles["cdu/0/valve"].now_at()
        async with open_node(peer, tmp_path / "n0", "direct") as (handles, _):
            stands = await asyncio.wait_for(handles["cdu/0/valve"].now_at(), 10.0)
            assert stands is not None
            assert stands.value == 45.0

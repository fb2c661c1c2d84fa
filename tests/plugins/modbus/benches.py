"""A simulated site on its serial lines and the plugin on a node of it, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

import supernoded_modbus
from sim_hardware.bus import Line as Bus
from sim_hardware.devices.modbus import SerialDevice, TcpDevice, build_site
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.words import Order, Value
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.rack.reading import write_topology
from sim_hardware.rack.shape import SimLoop as SimCdu
from sim_hardware.world import World
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Reading, Setpoint, Step
from supernoded.parts import Actuator, Handle, Sensor
from supernoded.plugin import Line, Node, read_topology
from supernoded.testing import MemoryHost
from supernoded.wire import Pen
from supernoded.wire.line import Dial
from supernoded.wire.line_address import parse_line
from supernoded.wire.system import SystemWires
from supernoded_modbus.settings import ModbusSettings

T = TypeVar("T")
FEED = "feed/A"


def run(work: Callable[[], Coroutine[Any, Any, T]], seed: int = 1) -> T:
    loop = SimLoop(seed)
    Net(loop)
    answer = play(loop, work())
    assert loop.failures == []
    return answer


class BusWires(SystemWires):
    """Serial lines are the simulated buses. A scope in `refusals` may not write, for that reason."""

    def __init__(self, buses: Mapping[str, Bus]) -> None:
        self.refusals: dict[str, str] = {}
        super().__init__(Pen(self.refusals.get), "modbus")
        self._buses = buses

    def line(self, url: str, dial: Dial | None = None) -> Line:
        address = parse_line(url)

        async def connect(protocol: asyncio.Protocol) -> None:
            self._buses[address.place].connect(protocol)

        return super().line(url, connect if address.scheme == "serial" else dial)


class HeardWorld(World):
    """Keeps the orders that were given."""

    def __init__(self, rack: Rack, seed: int, now: Callable[[], float]) -> None:
        super().__init__(rack, seed, now)
        self.orders: list[Order] = []

    def order(self, order: Order) -> None:
        super().order(order)
        self.orders.append(order)


class Bench:
    """What a test works with. `devices` are those that are served, by name."""

    devices: Mapping[str, SerialDevice | TcpDevice] = {}

    def __init__(self, world: HeardWorld, buses: Mapping[str, Bus], node: Node, wires: BusWires, settings: ModbusSettings) -> None:
        self.world, self.buses, self.node, self.wires, self.settings = world, buses, node, wires, settings
        self.sensors: dict[str, Sensor] = {one.name: one for one in supernoded_modbus.supernoded_sensors(settings, node)}
        self.handles: dict[str, Handle] = {one.target: one for one in supernoded_modbus.supernoded_handles(settings, node)}
        self.actuators: list[Actuator] = list(supernoded_modbus.supernoded_actuators(settings, node))

    @property
    def feed(self) -> Bus:
        return self.buses["/bus/feed-A"]

    def actuator(self, kind: str) -> Actuator:
        return next(one for one in self.actuators if kind in one.kinds)

    async def read(self, name: str) -> dict[tuple[str, str], Reading]:
        return {(one.subject, one.quantity): one for one in await self.sensors[name].read()}

    def act(self, kind: str, target: str) -> Action:
        now = self.node.clock.now()
        step = Step(name="s", kind=kind, target=target, reason="a test")
        return Action(id="i/s", step=step, incident="i", scope=FEED, epoch=1, issued=now, deadline=now + 10.0)

    def truth(self, subject: str, quantity: str) -> Value:
        return self.world.truth(subject, quantity)


def make_rack(cdu: str) -> Rack:
    """Two PDUs on feed A, so that they share a line with its UPS."""
    rack = generate_rack(1, 8)
    if cdu != "rpu":
        loops = {loop.name: SimCdu(map=cdu) for loop in rack.loops}
        rack = msgspec.structs.replace(rack, sim=msgspec.structs.replace(rack.sim, loops=loops))
    second = msgspec.structs.replace(rack.pdus[0], name="A2", outlets=rack.pdus[0].outlets[:2])
    return msgspec.structs.replace(rack, pdus=(rack.pdus[0], second, rack.pdus[1]))


async def arm(bench: Bench, *names: str) -> None:
    for name in names:
        target = f"pdu/{name}/shed"
        await bench.handles[target].put(Setpoint(target=target, quantity="pdu.lease_left", value=120.0, unit="s"), FEED)


async def look(bench: Bench, kind: str, target: str) -> Effect:
    return (await bench.actuator(kind).observe(bench.act(kind, target))).effect


async def do(bench: Bench, kind: str, target: str) -> None:
    await bench.actuator(kind).apply(bench.act(kind, target))


def state(bench: Bench, outlet: str) -> object:
    return bench.truth(f"pdu/{outlet}", "outlet.state")


@asynccontextmanager
async def open_bench(
    folder: Path,
    *,
    serials: bool = True,
    settings: ModbusSettings | None = None,
    change: Callable[[Rack], Rack] = lambda rack: rack,
    cdu: str = "rpu",
) -> AsyncIterator[Bench]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimLoop)
    rack = make_rack(cdu)
    begun = loop.time()
    world = HeardWorld(rack, 1, lambda: loop.time() - begun)
    site = build_site(world, "/bus", 1)
    async with AsyncExitStack() as stack:
        served = [one for one in site.devices if isinstance(one, SerialDevice) or cdu != "rpu"]
        urls = dict(
            [await _serve(stack, device, serials=serials, world=world) for device in sorted(served, key=lambda one: -len(one.name))]
        )
        wired = change(_wire(rack, urls))
        wires = BusWires(site.lines)
        topology = read_topology(write_topology(wired), "topology")
        node = Node("n0", topology, Limits(), wires, SimClock(loop, "n0"), MemoryHost(), folder)
        bench = Bench(world, site.lines, node, wires, settings or ModbusSettings())
        bench.devices = {device.name: device for device in served}
        yield bench
        await wires.close()


@asynccontextmanager
async def open_beside(bench: Bench, name: str, folder: Path) -> AsyncIterator[Bench]:
    """The plugin on another node of the same site, or in another life of the same one."""
    wires = BusWires(bench.buses)
    node = Node(name, bench.node.topology, bench.node.limits, wires, bench.node.clock, MemoryHost(), folder)
    beside = Bench(bench.world, bench.buses, node, wires, bench.settings)
    beside.devices = bench.devices
    yield beside
    await wires.close()


async def _serve(stack: AsyncExitStack, device: SerialDevice | TcpDevice, *, serials: bool, world: World) -> tuple[str, str]:
    url = await stack.enter_async_context(device.serve("127.0.0.1", 0))
    subject = "/".join(device.name.split("/")[:2])
    family = {"pdu": "pdu", "ups": "ups", "cdu": "coolant"}[subject.partition("/")[0]]
    return subject, f"{url}&serial={world.truth(subject, f'{family}.serial')}" if serials else url


def _wire(rack: Rack, urls: Mapping[str, str]) -> Rack:
    replace = msgspec.structs.replace
    return replace(
        rack,
        ups=tuple(replace(one, wire=urls.get(f"ups/{one.name}", "")) for one in rack.ups),
        pdus=tuple(replace(one, wire=urls.get(f"pdu/{one.name}", "")) for one in rack.pdus),
        loops=tuple(replace(one, wire=urls.get(one.subject, "")) for one in rack.loops),
    )

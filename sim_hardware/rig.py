"""A rack in play: the plant in time, and every device that speaks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sim_hardware.bus import Line
from sim_hardware.devices import modbus, redfish
from sim_hardware.devices.kubernetes import ApiServer
from sim_hardware.devices.nut import NutServer
from sim_hardware.devices.panel import Device, Impairment
from sim_hardware.devices.shutdown import Shutdown
from sim_hardware.devices.snmp import make_pdu_agent, make_ups_agent
from sim_hardware.devices.sysfs import SysfsTree
from sim_hardware.devices.tools import ToolState
from sim_hardware.devices.tools.logs import NodeLogs
from sim_hardware.devices.tools.slurm import Slurm
from sim_hardware.world import World


class UnknownDeviceError(Exception):
    """The rig has no such device."""


class Venue(Protocol):
    """Where devices listen: loopback ports of this machine, or hosts of a simulated network."""

    async def open(self, stack: AsyncExitStack, device: Device) -> str:
        """Let a device listen until the stack is left, and give its URL."""
        ...


@dataclass(frozen=True)
class Hog:
    """A process that is none of the job's and takes much of its machine."""

    name: str
    memory_percent: float
    cores: float


class Software(Protocol):
    """What a drive lets run beside the rig: the daemon of each node, by the node's name, the `broker`, and the `database`."""

    def kill(self, name: str) -> None:
        """End it at once; one that does not run is let be."""
        ...

    def start(self, name: str) -> None:
        """Start it anew; one that runs is let be."""
        ...

    def runs(self, name: str) -> bool:
        """Whether it runs."""
        ...

    def pause(self, name: str, *, paused: bool) -> None:
        """Hold it as SIGSTOP does, or let it go on."""
        ...

    def is_paused(self, name: str) -> bool:
        """Whether it is held."""
        ...

    def cut(self, one: str, other: str, *, apart: bool) -> None:
        """Let nothing pass between two machines, or let it again."""
        ...

    def are_apart(self, one: str, other: str) -> bool:
        """Whether nothing passes between two machines."""
        ...

    def darken(self, node: str, *, dark: bool) -> None:
        """End all that runs on a node's machine, and let nothing reach it; or let it start all again, once it has power."""
        ...

    def is_dark(self, node: str) -> bool:
        """Whether a node's machine answers nobody."""
        ...

    def set_clock(self, node: str, seconds: float, *, restart: bool) -> None:
        """Let the wall clock of a node be so far off, at once; `restart` = its daemon is started anew with it."""
        ...

    def find_clock_error(self, node: str) -> float:
        """By how much the wall clock of a node is off."""
        ...

    def double(self, node: str, *, there: bool) -> None:
        """Let a second daemon of the same name run on another machine, or end it."""
        ...

    def is_doubled(self, node: str) -> bool:
        """Whether one runs."""
        ...

    def rewind(self, seconds: float) -> None:
        """Give the broker back the retained messages of so long ago; with 0 those that nobody has told anew since are as they were."""
        ...

    def is_rewound(self) -> bool:
        """Whether the broker has a message that is older than what it had."""
        ...


class Stores(Protocol):
    """What a drive keeps of checkpoints as files: a folder a node that is its shared memory, and the storage of all."""

    @property
    def durable(self) -> Path:
        """The storage."""
        ...

    def find_shared(self, node: str) -> Path:
        """The shared memory of a node."""
        ...

    def choose(self) -> tuple[int, str]:
        """What the ranks could all go on from now: the step, and the farthest tier that it takes; 0 = from the start."""
        ...

    def fill(self, *, full: bool) -> None:
        """Let others take all room that the storage has left, or give it back."""
        ...

    def is_full(self) -> bool:
        """Whether nothing can be written there."""
        ...


class Rig:
    """`devices` by the names of their endpoints (`ups/A`, `pdu/A1/snmp`, `n0/bmc`), `lines` by the paths at which they are to be opened.

    `trees` are the nodes' `/sys/class`, `tools` what their programs remember and suffer from, `logs` what they have written.
    `endpoints` has the URL of every device while the rig is served. `software` is None where no drive lets any run.
    """

    def __init__(self, world: World, folder: Path, seed: int = 0) -> None:
        self.world, self.folder = world, folder
        serial = modbus.build_site(world, folder.as_posix(), seed)
        self.lines: dict[str, Line] = serial.lines
        self.devices: dict[str, Device] = {device.name: device for device in (*serial.devices, *_list_devices(world, seed))}
        self.trees = {node.name: SysfsTree(world, node.name) for node in world.rack.nodes}
        slurm = Slurm()
        self.tools = {node.name: ToolState(slurm=slurm) for node in world.rack.nodes}
        self.logs = NodeLogs(world.rack)
        world.watches.append(self.logs.note)
        self.endpoints: dict[str, str] = {}
        self.software: Software | None = None
        self.stores: Stores | None = None  # where checkpoints are files
        self.hogs: dict[str, Hog] = {}  # by node
        self.baselines: dict[tuple[str, str, str], Any] = {}  # what probes of faults saw first, and what a fault found before it

    def find_device(self, name: str) -> Device:
        """A device by its name. Raises UnknownDeviceError."""
        if name not in self.devices:
            raise UnknownDeviceError(f"{name}: no device of this name; there are {', '.join(sorted(self.devices))}")
        return self.devices[name]

    def impairment(self, name: str) -> Impairment:
        """How the answering of a device, or of a node's `/sys/class` (`n0/sysfs`), is impaired. Raises UnknownDeviceError."""
        tree = self.trees.get(name.removesuffix("/sysfs"))
        return tree.impairment if tree is not None and name == tree.name else self.find_device(name).impairment

    @asynccontextmanager
    async def serve(self, venue: Venue) -> AsyncIterator[None]:
        """Let the plant go on, and all devices listen."""
        self.world.run()
        async with AsyncExitStack() as stack:
            stack.callback(self.world.close)
            for name, device in self.devices.items():
                self.endpoints[name] = await venue.open(stack, device)
            yield
        self.endpoints.clear()


def _list_devices(world: World, seed: int) -> Iterator[Device]:
    rack = world.rack
    for ups in rack.ups:
        shutdown = Shutdown(world, ups.name)  # the UPS's own: what one is told the other shows
        yield NutServer(world, ups.name, shutdown=shutdown, seed=seed)
        yield make_ups_agent(world, ups.name, shutdown=shutdown, seed=seed)
    for number, pdu in enumerate(rack.pdus):
        yield make_pdu_agent(world, pdu.name, seed=seed)
        yield redfish.make_pdu(world, pdu.name, "cray" if number % 2 else "dmtf")  # both styles of action paths in every rack
    for loop in rack.loops:
        yield redfish.make_cdu(world, loop.subject)
    for node in rack.nodes:
        yield redfish.make_bmc(world, node.name)
    if rack.sim.kubernetes:
        yield ApiServer(world)

"""What the machine shows of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supernoded.plugin import NODE, Clock, Host, Machine, Reading, Running, State, Value, WireError
from supernoded_host.hogs import EVERY, Allowance, find_hogs

UNTOLD = "the kernel does not tell, or not yet: a share of time needs two looks"


def make_reading(subject: str, quantity: str, value: Value, unit: str, at: float, *, note: str = "") -> Reading:
    """One reading; without a value it is UNKNOWN, and `note` or the kernel's silence is why."""
    if value is None:
        return Reading(subject=subject, quantity=quantity, value=None, unit=unit, at=at, state=State.UNKNOWN, note=note or UNTOLD)
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at)


@dataclass(frozen=True)
class MachineSensor:
    """Load, processor, memory, and how far the wall clock was set."""

    node: str
    host: Host
    clock: Clock
    period: float
    name: str = "host"
    scope: str = NODE
    timeout: float = 6.0  # seconds; the host port gives up after 5

    async def read(self) -> Sequence[Reading]:
        """Look at the machine once."""
        seen, at = await self.host.look(), self.clock.now()
        measured: Sequence[tuple[str, float | None, str]] = (
            ("host.load", seen.load, "1"),
            ("host.cpu_used", seen.cpu_percent, "%"),
            ("host.memory_available", seen.memory_available, "B"),
            ("host.memory_used", seen.memory_percent, "%"),
            ("host.uptime", seen.uptime, "s"),
            ("host.clock_step", round(self.clock.wall() - self.clock.now(), 3), "s"),
        )
        return [make_reading(self.node, quantity, value, unit, at) for quantity, value, unit in measured]


@dataclass(frozen=True)
class DiskSensor:
    """Every file system; the subject is the mount point below `<node>/disk`."""

    node: str
    host: Host
    clock: Clock
    period: float
    name: str = "host.disks"
    scope: str = NODE
    timeout: float = 6.0

    async def read(self) -> Sequence[Reading]:
        """Measure them once; one that cannot be measured costs only itself."""
        disks, at, found = await self.host.disks(), self.clock.now(), list[Reading]()
        for disk in disks:
            subject = f"{self.node}/disk{disk.mount}".rstrip("/")
            found.append(make_reading(subject, "disk.used", disk.used_percent, "%", at, note=disk.error))
            found.append(make_reading(subject, "disk.free", disk.free, "B", at, note=disk.error))
        return found


@dataclass(frozen=True)
class ProcessSensor:
    """The processes that use most, and those that take more than they may; empty = none does."""

    node: str
    host: Host
    clock: Clock
    period: float
    most: int
    limits: Allowance
    name: str = "host.processes"
    scope: str = NODE
    timeout: float = 6.0

    async def read(self) -> Sequence[Reading]:
        """Name them, worst first."""
        running, machine = await self.host.top(EVERY), await self.host.look()
        busiest = running[: self.most]
        text = "; ".join(f"{one.name} (pid {one.pid}) {one.cpu_percent:.0f} % of a core, {one.memory / 2**20:.0f} MiB" for one in busiest)
        found = make_reading(self.node, "host.top_process", text or None, "text", self.clock.now(), note="no process is seen")
        return [found, await self._find_hog(machine, running)]

    async def _find_hog(self, machine: Machine, running: Sequence[Running]) -> Reading:
        try:
            hogs, note = await find_hogs(self.host, machine, running, self.limits) if running else None, "no process is seen"
        except WireError as error:
            hogs, note = None, str(error)
        return make_reading(self.node, "host.hog", hogs, "text", self.clock.now(), note=note)

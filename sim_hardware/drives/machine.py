"""A simulated machine behind the daemon's host port: calm, and the same every time but for what its kernel says of the plant."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sim_hardware.devices.tools.gauges import read_number
from sim_hardware.devices.tools.kernel_log import tag_line
from sim_hardware.devices.tools.logs import KERNEL
from sim_hardware.rig import Rig
from supernoded.wire import Machine
from supernoded.wire.ports import Disk, Running

HOG = 4711  # pid of the process that takes too much


class SimHost:
    """See `supernoded.wire.Host`. What it shows can be set; of a rig's node the kernel log and the uptime are the plant's, hogs the rig's.

    `running` are its processes, `opened` the device files that they have open, by pid.
    """

    def __init__(self, name: str, rig: Rig | None = None) -> None:
        self._name, self._rig = name, rig
        self.machine = Machine(load=0.5, cpu_percent=3.0, memory_available=2.0e11, memory_percent=20.0, cores=128.0)
        self.running: list[Running] = [Running(pid=1, name="init", cpu_percent=0.0, memory=1.0e7)]
        self.opened: dict[int, tuple[str, ...]] = {}
        self.lines: list[str] = []  # of the kernel log
        self._read: dict[str, int] = {}
        if rig is not None:
            rig.logs.followers.append(self._follow)

    async def look(self) -> Machine:
        """See `Host.look`."""
        if self._rig is None:
            return self.machine
        uptime, percent = read_number(self._rig.world, self._name, "node.up_s"), self.machine.memory_percent or 0.0
        hog = self._rig.hogs.get(self._name)
        if hog is None:
            return msgspec.structs.replace(self.machine, uptime=uptime)
        used = min(percent + hog.memory_percent, 100.0)
        left = self._measure_memory() * (1.0 - used / 100.0)
        return msgspec.structs.replace(self.machine, uptime=uptime, memory_percent=used, memory_available=left)

    async def disks(self) -> Sequence[Disk]:
        """See `Host.disks`."""
        return [Disk(mount="/", used_percent=30.0, free=7.0e11)]

    async def top(self, most: int) -> Sequence[Running]:
        """See `Host.top`."""
        hog = self._rig.hogs.get(self._name) if self._rig is not None else None
        more = [] if hog is None else [Running(HOG, hog.name, 100.0 * hog.cores, self._measure_memory() * hog.memory_percent / 100.0, 1)]
        return sorted([*self.running, *more], key=lambda one: (-one.cpu_percent, -one.memory, one.pid))[:most]

    async def devices(self, pid: int) -> Sequence[str]:
        """See `Host.devices`."""
        return self.opened.get(pid, ())

    def _measure_memory(self) -> float:
        """All that it has, bytes."""
        return (self.machine.memory_available or 0.0) / (1.0 - (self.machine.memory_percent or 0.0) / 100.0)

    async def kernel_lines(self, reader: str = "") -> Sequence[str]:
        """See `Host.kernel_lines`: a reader begins where the log ends when it first looks."""
        begun, self._read[reader] = self._read.get(reader, len(self.lines)), len(self.lines)
        return self.lines[begun:]

    def boot_id(self) -> str:
        """See `Host.boot_id`."""
        return f"boot-of-{self._name}"

    def _follow(self, node: str, log: str, line: str) -> None:
        if (node, log) == (self._name, KERNEL):
            self.lines.append(tag_line(line))

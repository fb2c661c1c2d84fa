"""A simulated machine behind the daemon's host port: calm, and the same every time."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.wire import Machine
from supernoded.wire.ports import Disk, Running


class SimHost:
    """See `supernoded.wire.Host`. What it shows can be set by a scenario."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.machine = Machine(load=0.5, cpu_percent=3.0, memory_available=2.0e11, memory_percent=20.0, temperatures={"cpu": 45.0})
        self.lines: list[str] = []  # of the kernel log
        self._read: dict[str, int] = {}

    async def look(self) -> Machine:
        """See `Host.look`."""
        return self.machine

    async def disks(self) -> Sequence[Disk]:
        """See `Host.disks`."""
        return [Disk(mount="/", used_percent=30.0, free=7.0e11)]

    async def top(self, most: int) -> Sequence[Running]:
        """See `Host.top`."""
        return [Running(pid=1, name="init", cpu_percent=0.0, memory=1.0e7)][:most]

    async def kernel_lines(self, reader: str = "") -> Sequence[str]:
        """See `Host.kernel_lines`: a reader begins where the log ends when it first looks."""
        begun, self._read[reader] = self._read.get(reader, len(self.lines)), len(self.lines)
        return self.lines[begun:]

    def boot_id(self) -> str:
        """See `Host.boot_id`."""
        return f"boot-of-{self._name}"

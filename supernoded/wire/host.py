"""The machine itself: psutil, /proc and the kernel log behind one port."""

from __future__ import annotations

import errno
import os
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from supernoded.errors import WireError
from supernoded.wire.hop import Hop
from supernoded.wire.ports import Disk, Machine, Running
from supernoded.wire.processes import Processes

PATIENCE = 5.0  # seconds for one look at the machine
MOST_LINES = 1000  # kernel lines of one call
MOST_RECORDS = 20_000  # read of the kernel log in one call, so that a flood ends; about 40 ms
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
FULL_BY_NATURE = frozenset({"squashfs", "iso9660", "erofs", "cramfs", "udf"})  # images, always at 100 %


class SystemHost:
    """A `Host` over the running kernel."""

    def __init__(self, kernel_log: Path = Path("/dev/kmsg")) -> None:
        self._looks, self._disks, self._processes, self._lines = Hop(), Hop(), Hop(), Hop()
        self._cpu = _CpuShare()
        self._running = Processes()
        self._kernel_log = kernel_log
        self._logs: dict[str, _KernelLog] = {}  # by reader

    async def look(self) -> Machine:
        """See `Host.look`."""
        return await self._looks.run("host", self._look, PATIENCE)

    async def disks(self) -> Sequence[Disk]:
        """See `Host.disks`; one that hangs makes only this source stale."""
        return await self._disks.run("disks", _measure_disks, PATIENCE)

    async def top(self, most: int) -> Sequence[Running]:
        """See `Host.top`."""
        return await self._processes.run("processes", lambda: self._find_top(most), PATIENCE)

    async def devices(self, pid: int) -> Sequence[str]:
        """See `Host.devices`."""
        return await self._processes.run("processes", lambda: _list_devices(pid), PATIENCE)

    async def kernel_lines(self, reader: str = "") -> Sequence[str]:
        """See `Host.kernel_lines`."""
        log = self._logs.setdefault(reader, _KernelLog(self._kernel_log))
        return await self._lines.run("kernel log", log.read, PATIENCE)

    def boot_id(self) -> str:
        """See `Host.boot_id`. Raises WireError."""
        try:
            return BOOT_ID.read_text().strip()
        except OSError as error:
            raise WireError(f"{BOOT_ID}: {error.strerror}") from error

    def close(self) -> None:
        """Close the kernel log."""
        for log in self._logs.values():
            log.close()

    def _find_top(self, most: int) -> list[Running]:
        try:
            return self._running.look()[:most]
        except OSError as error:
            raise WireError(f"processes: {error.strerror or error}") from error

    def _look(self) -> Machine:
        try:
            memory = psutil.virtual_memory()
            return Machine(
                load=os.getloadavg()[0],
                cpu_percent=self._cpu.measure(),
                memory_available=float(memory.available),
                memory_percent=float(memory.percent),
                uptime=time.clock_gettime(time.CLOCK_BOOTTIME),
                cores=psutil.cpu_count(),
            )
        except OSError as error:
            raise WireError(f"host: {error.strerror or error}") from error


class _CpuShare:
    """Time not idle since the last look. psutil's own memory of it is one per thread, and ours is asked from many."""

    def __init__(self) -> None:
        self._before: tuple[float, float] | None = None

    def measure(self) -> float | None:
        """Percent of all cores; None at the first look."""
        times = psutil.cpu_times()
        idle = float(times.idle + times.iowait)
        total = float(sum(times) - times.guest - times.guest_nice)  # guests are counted in user and nice already
        before, self._before = self._before, (idle, total)
        if before is None or total <= before[1]:
            return None
        return min(max(100.0 * (1.0 - (idle - before[0]) / (total - before[1])), 0.0), 100.0)


def _measure_disks() -> list[Disk]:
    """Every file system on a device, once, and the root whatever it is on."""
    mounts: dict[str, str] = {}
    for part in psutil.disk_partitions(all=False):
        if part.fstype not in FULL_BY_NATURE:
            mounts.setdefault(part.device, part.mountpoint)
    return [_measure_disk(mount) for mount in sorted({"/", *mounts.values()})]


def _measure_disk(mount: str) -> Disk:
    try:
        usage = psutil.disk_usage(mount)
    except OSError as error:
        return Disk(mount, None, None, f"{mount}: {error.strerror or error}")
    return Disk(mount, float(usage.percent), float(usage.free))


def _list_devices(pid: int) -> list[str]:
    folder, found = Path(f"/proc/{pid}/fd"), set[str]()
    try:
        for entry in folder.iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                found.add(str(entry.readlink()))
    except OSError as error:
        raise WireError(f"{folder}: {error.strerror or error}") from error
    return sorted(name for name in found if name.startswith("/dev/"))


class _KernelLog:
    """Reads the kernel's records as they come; never waits for one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def read(self) -> list[str]:
        """The lines since the last call. Raises WireError; the next call opens the log anew."""
        try:
            if self._handle is None:
                self._handle = self._open()
                self._drain(self._handle)
                return []
            return self._drain(self._handle)
        except OSError as error:
            self.close()
            right = "" if isinstance(error, FileNotFoundError) else "give the daemon CAP_SYSLOG, or "
            remedy = f"{right}set kernel_log = false under [plugins.host]"
            raise WireError(f"{self._path}: {error.strerror or error}; {remedy}") from error

    def close(self) -> None:
        """Close it, if it is open."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        handle = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with suppress(OSError):  # where there is no end to seek to, the first read drains what is there
            os.lseek(handle, 0, os.SEEK_END)
        return handle

    def _drain(self, handle: int) -> list[str]:
        lines: deque[str] = deque(maxlen=MOST_LINES)
        for _ in range(MOST_RECORDS):
            try:
                record = os.read(handle, 8192)  # the kernel's longest record
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno != errno.EPIPE:  # EPIPE: the ring overtook us; the next read goes on with what is left
                    raise
                continue
            if not record:
                break
            lines.extend(parse_records(record.decode(errors="replace")))
        return list(lines)


def parse_records(text: str) -> list[str]:
    """Read `priority,sequence,time,flags;text` with continuation lines that begin with a space, as `<level>text`."""
    found = []
    for line in text.splitlines():
        head, semicolon, said = line.partition(";")
        priority = head.split(",")[0]
        if semicolon and priority.isascii() and priority.isdigit():
            found.append(f"<{int(priority[:6]) & 7}>{said}")  # the facility stands in the higher bits
    return found

"""All processes of the machine at one look: one small file of each, as there may be thousands, and a rank may be waiting."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from supernoded.wire.ports import Running

TICKS = float(os.sysconf("SC_CLK_TCK"))  # a second
PAGE = float(os.sysconf("SC_PAGE_SIZE"))  # bytes
LONGEST = 15  # characters of a name that the kernel keeps (proc_pid_comm(5))
MOST_BYTES = 4096  # of one file

_Key = tuple[int, bytes]  # pid and when it was started: numbers are given out again


class _Stat(NamedTuple):
    """One line of `/proc/<pid>/stat` (proc_pid_stat(5))."""

    pid: int
    name: str
    parent: int
    used: float  # seconds of a core since it was started
    started: bytes
    memory: float  # resident bytes


class Processes:
    """Looks again and again: the share of a core is over the time since the last look, and 0 for who was not there then."""

    def __init__(self, folder: Path = Path("/proc"), now: Callable[[], float] = time.monotonic) -> None:
        self._folder, self._now = folder, now
        self._used: dict[_Key, float] = {}
        self._names: dict[_Key, str] = {}
        self._at = 0.0

    def look(self) -> list[Running]:
        """All that are there, those that use most first. Raises OSError."""
        now, found = self._now(), list(self._walk())
        elapsed, before = now - self._at, self._used
        self._at, self._used = now, {(one.pid, one.started): one.used for one in found}
        self._names = {(one.pid, one.started): self._find_name(one) for one in found}
        running = [
            Running(one.pid, self._names[key], _share(one.used - before.get(key, one.used), elapsed), one.memory, one.parent)
            for one in found
            for key in [(one.pid, one.started)]
        ]
        return sorted(running, key=lambda one: (-one.cpu_percent, -one.memory, one.pid))

    def _walk(self) -> Iterator[_Stat]:
        with os.scandir(self._folder) as entries:
            names = [entry.name for entry in entries if entry.name.isascii() and entry.name.isdecimal()]
        for name in names:
            stat = parse_stat(_read(f"{self._folder}/{name}/stat"))
            if stat is not None:
                yield stat

    def _find_name(self, one: _Stat) -> str:
        """In full: the kernel keeps its beginning, and the command line goes on where it says the same."""
        known = self._names.get((one.pid, one.started))
        if len(one.name) < LONGEST or (known is not None and known.startswith(one.name)):
            return one.name if len(one.name) < LONGEST else known or one.name
        word = _read(f"{self._folder}/{one.pid}/cmdline").partition(b"\0")[0].decode(errors="replace")
        full = word.rpartition("/")[2]
        return full if full.startswith(one.name) else one.name


def parse_stat(data: bytes) -> _Stat | None:
    """One line; None for what is none. A name may have spaces and brackets in it."""
    head, _, tail = data.rpartition(b")")
    number, bracket, name = head.partition(b"(")
    fields = tail.split()
    try:
        used = (int(fields[11]) + int(fields[12])) / TICKS
        memory = max(int(fields[21]), 0) * PAGE
        return _Stat(int(number), name.decode(errors="replace") or "?", int(fields[1]), used, fields[19], memory) if bracket else None
    except (ValueError, IndexError):
        return None


def _share(used: float, elapsed: float) -> float:
    return max(100.0 * used / elapsed, 0.0) if elapsed > 0.0 else 0.0


def _read(path: str) -> bytes:
    """Empty for a process that has ended meanwhile, or that may not be looked at."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, MOST_BYTES)
    except OSError:
        return b""
    finally:
        os.close(handle)

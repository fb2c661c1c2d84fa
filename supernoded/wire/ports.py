"""The ports a plugin works through. The daemon gives them on the real machine, a simulation in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from supernoded.errors import WireError


class Answer(msgspec.Struct, frozen=True):
    """What a command came back with."""

    code: int
    out: str
    err: str
    truncated: bool  # the output passed the cap and was cut


class Tree(Protocol):
    """A folder of small text files, such as sysfs; the root is configurable, paths are relative to it."""

    async def read(self, path: str) -> str:
        """One file, stripped. Raises WireError naming the file and the reason."""
        ...

    async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
        """Every file that matches one of the shell patterns, in one go, sorted by path; what cannot be read is its WireError."""
        ...

    async def names(self, path: str = "") -> Sequence[str]:
        """The names in a folder, sorted; empty when there is no such folder."""
        ...

    async def link(self, path: str) -> str:
        """Where a link leads, as it is written; empty for what is no link. Raises WireError."""
        ...

    async def order(self, scope: str, path: str, text: str) -> None:
        """Write one file whole (a new file appears whole or not at all), asking the pen for `scope`. Raises WireError, NotHeldError."""
        ...

    async def trim(self, scope: str, path: str, most: int) -> None:
        """Keep the newest `most` files of a folder and remove the others, asking the pen. Raises WireError, NotHeldError."""
        ...


class Command(Protocol):
    """One program with fixed leading arguments; never run twice at a time."""

    async def run(self, *arguments: str, within: float = 10.0) -> Answer:
        """Run it to its end. Raises WireError when it is absent, or is killed after `within` seconds."""
        ...

    async def order(self, scope: str, *arguments: str, within: float = 10.0) -> Answer:
        """The same for a run that changes something: asks the pen for `scope` first."""
        ...


Find = Callable[[bytes], slice | None]  # where in the bytes that came the answer stands; None = more must come


class Opening(Protocol):
    """A connection that has just been opened: nothing was said on it yet."""

    async def ask(self, request: bytes, end: bytes | Find = b"\n") -> bytes:
        """Send what belongs to the session, such as a login, and return the answer. Raises WireError."""
        ...

    async def secure(self, ca_file: str = "", *, insecure: bool = False) -> None:
        """Go on in TLS: both sides have just agreed to. `ca_file` = who signs the other's certificate; `insecure` = any will do.

        Raises WireError saying what is wrong with the certificate.
        """
        ...


Greeting = Callable[[Opening], Awaitable[None]]


class Stream(Protocol):
    """A byte stream to a device (TCP or unix socket); opened when first used, opened anew after a loss."""

    def greet_with(self, greeting: Greeting) -> None:
        """What is said first on every connection, in the time of the exchange that opens it. If it raises, nothing else is said on it."""
        ...

    async def exchange(self, request: bytes, end: bytes | Find = b"\n", within: float = 2.0) -> bytes:
        """Send a request that changes nothing and return the answer: up to and with `end`, or what `end` cuts out of what has come.

        Raises WireError, after `within` seconds at the latest, and what `end` raises (WireError) for bytes that can be no answer; the line
        is then closed, so that a late answer is lost.
        """
        ...

    async def order(self, scope: str, request: bytes, end: bytes | Find = b"\n", within: float = 2.0) -> bytes:
        """The same for a request that changes something: asks the pen for `scope` with no await before the first byte."""
        ...

    async def close(self) -> None:
        """Close the line."""
        ...


class Line(Protocol):
    """A line that several units share: one request outstanding, and what comes late is drained, never taken for the next answer."""

    @property
    def name(self) -> str:
        """One name per device, however its URL was spelt: `serial:///dev/ttyUSB0`, `tcp://10.0.0.7:502`."""
        ...

    @property
    def counts(self) -> Mapping[str, int]:
        """What went wrong so far, by kind; a kind that is not there has not happened.

        `timeouts`, `garbled` (what came can be no answer), `echo_errors`, `losses` of the line, and bytes that were dropped: `late` while
        late answers were waited for, `strays` at any other time.
        """
        ...

    async def exchange(self, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """Send a request that changes nothing and return its answer, which `find` cuts out of what has come.

        Raises WireError when none came within `within` seconds of the request, and what `find` raises (WireError) for bytes that can be no
        answer. After either, the line is not used again before `latest` seconds from the request have passed (the device's latest answer,
        0 = `within`) plus the silence that ends a frame plus the adapter's own delay, and all that came meanwhile is dropped (safety rule
        22). A turn is waited for before, 10 s at the most, then WireError and nothing was sent: a busy line is no silent unit. `find` is
        asked often and must be pure: it is also shown the answer before, since a unit may say it twice.
        """
        ...

    async def order(self, scope: str, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """The same for a request that changes something: asks the pen for `scope` with no await before the first byte.

        It goes before all exchanges that wait for a turn.
        """
        ...

    async def broadcast(self, scope: str, request: bytes, turnaround: float = 0.2) -> None:
        """Send what nobody answers, asking the pen; the line is free again `turnaround` seconds after its last byte (safety rule 24)."""
        ...

    async def close(self) -> None:
        """Close the line; it is opened anew when next used."""
        ...


class Datagrams(Protocol):
    """A device that speaks datagrams: each request is told from every other by what `fits`."""

    async def exchange(self, request: bytes, fits: Callable[[bytes], bool], within: float = 1.0, tries: int = 3) -> bytes:
        """Send a request that changes nothing up to `tries` times within `within` seconds each; return the first answer that fits.

        Others are dropped. Raises WireError.
        """
        ...

    async def order(self, scope: str, request: bytes, fits: Callable[[bytes], bool], within: float = 1.0) -> bytes:
        """Send what changes something, once, asking the pen. Raises WireError, NotHeldError; after a time-out look before sending again."""
        ...

    async def close(self) -> None:
        """Close the socket; it is opened anew when next used."""
        ...


class Http(Protocol):
    """A device that speaks JSON over HTTP. One request at a time; redirects are not followed; no secret is ever logged or told."""

    async def get(self, path: str, within: float = 5.0) -> Mapping[str, object]:
        """The JSON object at a path below the URL. Raises WireError naming URL, status and reason, after `within` seconds at the latest."""
        ...

    async def order(
        self, scope: str, method: str, path: str, body: Mapping[str, object], within: float = 5.0, match: str = ""
    ) -> Mapping[str, object]:
        """Send what changes something: asks the pen for `scope` with no await before the first byte. Raises WireError, NotHeldError.

        With `match`, an entity tag, it is taken only while the resource is still that one (If-Match). Gives what the device answers, empty
        when it answers nothing.
        """
        ...

    async def close(self) -> None:
        """End a request that is under way; the next one reads password and certificates anew."""
        ...


class Disk(msgspec.Struct, frozen=True):
    """One mounted file system. None = it could not be measured, `error` says why."""

    mount: str
    used_percent: float | None
    free: float | None  # bytes an ordinary user may still write
    error: str = ""


class Running(msgspec.Struct, frozen=True):
    """One process."""

    pid: int
    name: str
    cpu_percent: float
    memory: float  # resident bytes
    parent: int = 0  # pid of who started it; 0 = the kernel does not tell


class Machine(msgspec.Struct, frozen=True):
    """What a host shows of itself at one moment; None and empty = the kernel does not tell."""

    load: float | None  # run-queue length over one minute
    cpu_percent: float | None
    memory_available: float | None  # bytes
    memory_percent: float | None
    uptime: float | None = None  # seconds since the boot
    cores: float | None = None


class Host(Protocol):
    """psutil, /proc and the kernel log behind one port."""

    async def look(self) -> Machine:
        """Load, memory and time since boot. Raises WireError."""
        ...

    async def disks(self) -> Sequence[Disk]:
        """Every real file system. Raises WireError."""
        ...

    async def top(self, most: int) -> Sequence[Running]:
        """The processes that use most of a core or of memory, worst first."""
        ...

    async def devices(self, pid: int) -> Sequence[str]:
        """The device files that a process has open, sorted. Raises WireError when that may not be seen."""
        ...

    async def kernel_lines(self, reader: str = "") -> Sequence[str]:
        """Kernel log lines since this reader's last call, each as `<level>text` with the syslog level 0 to 7.

        A reader is a name; each has its own place in the log. Its first call returns none; at most 1,000, the newest.
        Raises WireError when not permitted.
        """
        ...

    def boot_id(self) -> str:
        """Changes with every boot of the machine."""
        ...

"""What is between the hosts of a simulated site: delay, cuts and loss by seed, order within a stream, and a count of all that passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim_hardware.loop.calls import Address
from sim_hardware.loop.process import Process
from sim_hardware.loop.simloop import SimLoop
from sim_hardware.net.datagrams import Datagram
from sim_hardware.net.pipes import Mark, Pipe


@dataclass(frozen=True, slots=True)
class Segment:
    """One write on its way. `data` is bytes, or a mark: end of file, reset."""

    at: float
    kind: str  # tcp, unix, udp
    process: Process  # who sent it
    source: str  # host
    target: str  # host
    address: Address | str  # the other end's
    data: bytes | Mark


class Wires:
    """The wires of one loop; see `Net` for the settings."""

    def __init__(self, loop: SimLoop, delay: tuple[float, float], loss: float, fragment: float) -> None:
        self.loop = loop
        self.delay, self.loss, self.fragment = delay, loss, fragment
        self.segments = self.ghosts = 0
        self.watch: Callable[[Segment], None] | None = None
        self._chance = loop.stream("net")
        self._cut: set[frozenset[str]] = set()
        self._isolated: set[str] = set()
        self._stuck: list[tuple[Pipe, bytes | Mark]] = []

    # cutting and healing

    def apart(self, one: str, other: str) -> bool:
        """Whether nothing passes between two hosts."""
        return one != other and (frozenset((one, other)) in self._cut or one in self._isolated or other in self._isolated)

    def partition(self, one: str, other: str) -> None:
        """Cut two hosts off from each other: datagrams are lost, streams hold their bytes, dialling waits."""
        self._cut.add(frozenset((one, other)))

    def heal(self, one: str, other: str) -> None:
        """Undo `partition`; what the streams have held is sent again."""
        self._cut.discard(frozenset((one, other)))
        self._resend()

    def isolate(self, host: str) -> None:
        """Cut a host off from all others, as when its cable is pulled or its power is gone."""
        self._isolated.add(host)

    def rejoin(self, host: str) -> None:
        """Undo `isolate`."""
        self._isolated.discard(host)
        self._resend()

    def _resend(self) -> None:
        stuck, self._stuck = self._stuck, []
        for pipe, what in stuck:
            self._launch(pipe, what)

    # streams on their way

    def carry(self, source: Pipe, what: bytes | Mark) -> None:
        """Take something to the other end of a stream, in order; hold it while the hosts are apart."""
        if source.process.dead:
            self.ghosts += 1
            return
        self.send(source, what)

    def send(self, source: Pipe, what: bytes | Mark) -> None:
        """The same for a kernel, which sends for the dead too."""
        kind = "tcp" if isinstance(source.get_extra_info("sockname"), tuple) else "unix"
        address = source.get_extra_info("peername")
        self.note(Segment(self.loop.time(), kind, source.process, source.host, source.other.host, address, what))
        self._launch(source, what)

    def note(self, segment: Segment) -> None:
        """Count a segment, and show it to the watcher."""
        self.segments += 1
        content = segment.data if isinstance(segment.data, bytes) else segment.data.value.encode()
        self.loop.count(f"{segment.at:.9f} {segment.kind} {segment.process} {segment.target} {segment.address} ".encode() + content)
        if self.watch is not None:
            self.watch(segment)

    def _launch(self, source: Pipe, what: bytes | Mark) -> None:
        if self.apart(source.host, source.other.host):
            self._stuck.append((source, what))
            return
        for piece in self._split(what):
            source.newest = max(source.newest, self.loop.time() + self.way())
            self.loop.call_at(source.newest, source.other.arrive, piece, context=source.other.context)

    def _split(self, what: bytes | Mark) -> tuple[bytes | Mark, ...]:
        if isinstance(what, Mark) or len(what) < 2 or not self.fragment or self._chance.random() >= self.fragment:
            return (what,)
        at = self._chance.randrange(1, len(what))
        return what[:at], what[at:]

    def way(self) -> float:
        """The seconds that the next thing takes from one host to another."""
        return self._chance.uniform(*self.delay)

    # datagrams on their way

    def deliver(self, source: Datagram, target: str, arrive: Callable[[], None]) -> None:
        """Call `arrive` as the site when it gets through; it may be lost, and two may change places."""
        lost = self._chance.random() < self.loss
        if not lost and not self.apart(source.host, target):
            self.loop.after(self.way(), arrive)

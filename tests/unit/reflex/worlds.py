"""A reflex process in virtual time: its clock, its lines, and the UPSes and PDUs on them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from supernoded.errors import WireError
from supernoded.reflex.bridge import Bridge
from supernoded.reflex.building import build_bridge
from supernoded.reflex.frames import seal
from supernoded.reflex.record import Firing
from supernoded.reflex.standing import describe
from supernoded.settings.reflex import Contact, Reflex, ReflexLine, ShedFrame, Trigger

SHED = bytes.fromhex("00 05 03 e8 ff 00 0d 9b")
STEP = 0.000_05  # s that a turn takes at least

Answer = Callable[[bytes], Iterable[tuple[float, bytes]]]  # a request -> (s after it, bytes) of what comes back


def answer_with(value: int, after: float = 0.003) -> Answer:
    """A UPS that shows this."""
    return lambda request: [(after, seal(bytes((request[0], request[1], 2)) + value.to_bytes(2, "big")))]


@dataclass(eq=False)
class FakePort:
    """A device: what is on the other side answers by script."""

    world: World
    fd: int
    answer: Answer = lambda _: ()
    closed: set[Contact] = field(default_factory=set)
    said: list[tuple[float, bytes]] = field(default_factory=list)
    coming: list[tuple[float, bytes]] = field(default_factory=list)
    broken: bool = False
    open: bool = True

    def read_into(self, place: memoryview) -> int:
        if self.broken:
            raise OSError(5, "Input/output error")
        due = [one for one in self.coming if one[0] <= self.world.now]
        self.coming = [one for one in self.coming if one not in due]
        data = b"".join(data for _, data in due)
        if not data:
            raise BlockingIOError
        place[: len(data)] = data
        return len(data)

    def write(self, data: bytes | bytearray) -> int:
        if self.broken:
            raise OSError(5, "Input/output error")
        self.said.append((self.world.now, bytes(data)))
        if bytes(data[:1]) != b"\0":
            self.coming += [(self.world.now + after, back) for after, back in self.answer(bytes(data))]
        return len(data)

    def is_closed(self, contact: Contact) -> bool:
        if self.broken:
            raise OSError(5, "Input/output error")
        return contact in self.closed

    def hurry(self) -> str:
        return "it hurries"

    def close(self) -> None:
        self.open = False

    def list_sheds(self) -> list[float]:
        """When the shed was said."""
        return [at for at, data in self.said if data == SHED]


@dataclass(eq=False)
class World:
    """Everything of one test."""

    reflex: Reflex
    now: float = 1000.0
    ports: dict[str, FakePort] = field(default_factory=dict)
    firings: list[Firing] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)  # lines whose device cannot be opened
    bridge: Bridge = field(init=False)

    def __post_init__(self) -> None:
        self.bridge = build_bridge(self.reflex, self.firings.append, logging.getLogger("reflex"), self._open)
        self.bridge.clock, self.bridge.wait = lambda: self.now, self._wait
        self.bridge.turn()

    def _open(self, line: ReflexLine) -> FakePort:
        if line.name in self.refused:
            raise WireError(f"line {line.name}: it is gone")
        old = self.ports.get(line.name)
        port = self.ports[line.name] = FakePort(self, 100 + len(self.ports) if old is None else old.fd)
        if old is not None:
            port.answer = old.answer
        return port

    def _wait(self, fds: list[int], seconds: float) -> Sequence[int]:
        coming = [at for port in self.ports.values() if port.fd in fds and port.open for at, _ in port.coming]
        self.now = min([self.now + seconds, *(max(at, self.now) for at in coming)]) + STEP
        return [
            port.fd
            for port in self.ports.values()
            if port.fd in fds and port.open and (port.broken or any(at <= self.now for at, _ in port.coming))
        ]

    def run(self, seconds: float) -> None:
        """Let it work."""
        end = self.now + seconds
        while self.now < end:
            self.bridge.turn()

    def run_until(self, true: Callable[[], bool], within: float = 5.0) -> None:
        """Let it work until something is so, else the test fails."""
        end = self.now + within
        while not true():
            assert self.now < end, "it did not come to be so"
            self.bridge.turn()


def make_lines(*names: str, baud: int = 115_200, poll_ms: float = 0.0) -> tuple[ReflexLine, ...]:
    return tuple(ReflexLine(name=name, device=Path(f"/dev/{name}"), baud=baud, poll_ms=poll_ms) for name in names)


def make_registers(frames: int = 2, deadline_ms: float = 60.0, poll_ms: float = 0.0, value: int = 0) -> World:
    """Two UPSes on lines of their own, which show a value, and a line of PDUs on each feed; all of it has run for a while."""
    triggers = tuple(Trigger(feed=feed, line=f"ups{feed}", register=102, above=0, frames=frames) for feed in "AB")
    reflex = Reflex(
        deadline_ms=deadline_ms,
        lines=make_lines("upsA", "upsB", "pduA", "pduB", poll_ms=poll_ms),
        triggers=triggers,
        frames=tuple(ShedFrame(line=f"pdu{feed}", coil=1000) for feed in "AB"),
    )
    world = World(reflex)
    for feed in "AB":
        world.ports[f"ups{feed}"].answer = answer_with(value)
    world.run(0.5)
    return world


def make_contacts(debounce_ms: float = 2.0, *, released: bool = False) -> World:
    """Two contacts on the PDUs' own ports."""
    triggers = tuple(
        Trigger(feed=feed, line=f"pdu{feed}", contact=contact, debounce_ms=debounce_ms, released=released)
        for feed, contact in (("A", Contact.CTS), ("B", Contact.DCD))
    )
    frames = tuple(ShedFrame(line=f"pdu{feed}", coil=1000) for feed in "AB")
    return World(Reflex(lines=make_lines("pduA", "pduB"), triggers=triggers, frames=frames))


def list_states(world: World) -> dict[str, str]:
    return {standing.line: standing.state for standing in describe(world.bridge, world.now).lines}


def list_sheds(world: World) -> dict[str, int]:
    return {name: len(port.list_sheds()) for name, port in world.ports.items() if port.list_sheds()}


def answer_bytes(request: bytes, value: int) -> bytes:
    [(_, data)] = answer_with(value)(request)
    return data

"""The holders of `fleet` and `spares`, each a whole daemon of its own on a site of any size, and what is told of the others."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.light_mqtt import LightLink, make_connect
from benchmarks.measuring import CARDS
from benchmarks.swarm import CLUSTER
from supernoded.cluster import topics
from supernoded.cluster.topics import EventTold, PayloadError
from supernoded.model import Event

HOLDERS = {"fleet": "n0", "spares": "n1"}  # role -> node; leased seats are spread over the nodes too
READY = 60.0  # seconds
LOOK = 0.01  # seconds

SETTINGS = """\
node = "{node}"
state = "{folder}/state"
runtime = "{folder}/run"
[admin]
group = ""
operators = ""
[mqtt]
host = "127.0.0.1"
port = {port}
[roles]
{roles}
"""
NODE = """\
[[nodes]]
name = "{name}"
cards = {cards}
address = "127.0.0.1:{port}"
"""


@contextmanager
def doors() -> Iterator[tuple[int, int]]:
    """Two ports for the second view: one that refuses, as a machine does whose daemon has died, and one that never answers."""
    with socket.socket() as closed, socket.socket() as deaf, socket.socket() as filler:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can take it
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        filler.connect(deaf.getsockname())  # its queue is full now: what comes after gets no answer
        yield closed.getsockname()[1], deaf.getsockname()[1]


def write_settings(folder: Path, node: str, port: int, names: Sequence[str], deaf: Collection[str], ports: tuple[int, int]) -> Path:
    """A holder's settings; those in `deaf` do not answer a probe."""
    folder.mkdir()
    nodes = "".join(NODE.format(name=name, cards=CARDS, port=ports[name in deaf]) for name in names)
    roles = "\n".join(f'{role} = "{holder}"' for role, holder in HOLDERS.items())
    file = folder / "supernoded.toml"
    file.write_text(SETTINGS.format(node=node, folder=folder, port=port, roles=roles) + nodes)
    return file


@dataclass
class Told:
    """What the holder has told, and when it came, monotonic."""

    events: dict[tuple[str, bool], list[tuple[float, str]]] = field(default_factory=dict)  # (kind, raised) -> when, and of whom
    raised: dict[str, set[str]] = field(default_factory=dict)  # subject -> the kinds that are raised of it
    well: dict[str, float] = field(default_factory=dict)  # subject -> since when none is

    def hear(self, topic: str, payload: bytes) -> None:
        """Keep an event; what is none, such as the holder's presence, is left."""
        del topic
        with suppress(PayloadError):
            self._keep(topics.decode(payload, EventTold).event, time.monotonic())

    def _keep(self, event: Event, at: float) -> None:
        self.events.setdefault((event.kind, event.raised), []).append((at, event.subject))
        kinds = self.raised.setdefault(event.subject, set())
        (kinds.add if event.raised else kinds.discard)(event.kind)
        if kinds:
            self.well.pop(event.subject, None)
        else:
            self.well.setdefault(event.subject, at)

    def find(self, kind: str, *, raised: bool, since: float = 0.0) -> dict[str, float]:
        """When each subject was first told so after `since`."""
        found: dict[str, float] = {}
        for at, subject in self.events.get((kind, raised), ()):
            if at >= since:
                found.setdefault(subject, at)
        return found

    async def wait(self, kind: str, names: Collection[str], within: float, *, raised: bool, since: float) -> dict[str, float]:
        """As `find`, when it has all of them or the time is over."""
        return await _look_until(names, within, lambda: self.find(kind, raised=raised, since=since))

    async def wait_well(self, names: Collection[str], within: float) -> dict[str, float]:
        """Since when nothing is raised of each any more, when that is so of all or the time is over."""
        return await _look_until(names, within, lambda: self.well)


async def _look_until(names: Collection[str], within: float, find: Callable[[], Mapping[str, float]]) -> dict[str, float]:
    end = time.monotonic() + within
    while True:
        found = find()
        if time.monotonic() > end or all(name in found for name in names):
            return {name: found[name] for name in names if name in found}
        await asyncio.sleep(LOOK)


@asynccontextmanager
async def listening(port: int) -> AsyncIterator[Told]:
    """Somebody who hears what the holder tells."""
    told = Told()
    link = LightLink(told.hear)
    connect = make_connect("observer", "observer/gone", b"", 0, keepalive=0)
    await link.open(port, connect, [topics.event(CLUSTER, HOLDERS["fleet"])], READY)
    try:
        yield told
    finally:
        link.cut()


@dataclass
class RunningDaemon:
    """One daemon, perhaps of several lives."""

    config: Path
    line: socket.socket
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready. Raises SystemExit with its log when it does not become so."""
        log = self.config.with_name("log")
        environment = os.environ | {"NOTIFY_SOCKET": str(self.config.with_name("notify"))}
        command = [sys.executable, "-m", "supernoded", "--config", str(self.config)]
        with log.open("a") as words:
            self.process = await asyncio.create_subprocess_exec(
                *command, env=environment, stdin=subprocess.DEVNULL, stdout=words, stderr=words
            )
        try:
            async with asyncio.timeout(READY):
                while not (await asyncio.get_running_loop().sock_recv(self.line, 4096)).startswith(b"READY=1"):
                    continue
        except TimeoutError:
            raise SystemExit(f"the daemon was not ready within {READY:g} s:\n{log.read_text()}") from None

    async def end(self, how: signal.Signals) -> None:
        """Send it a signal and wait until it has ended."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(how)
            await self.process.wait()

    def watch(self) -> psutil.Process:
        """The same for who measures it."""
        assert self.process is not None
        return psutil.Process(self.process.pid)


@asynccontextmanager
async def start_daemon(config: Path) -> AsyncIterator[RunningDaemon]:
    """A daemon that is ready; in the end it is stopped."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind(str(config.with_name("notify")))
        line.setblocking(False)
        daemon = RunningDaemon(config, line)
        try:
            await daemon.start()
            yield daemon
        finally:
            await daemon.end(signal.SIGTERM)


@dataclass(frozen=True)
class Usage:
    """What a process has used."""

    at: float
    cpu: float  # seconds, its own

    @classmethod
    def read(cls, process: psutil.Process) -> Usage:
        """As of now."""
        times = process.cpu_times()
        return cls(time.monotonic(), times.user + times.system)

    def share_since(self, before: Usage) -> float:
        """Per cent of one core."""
        return 100 * (self.cpu - before.cpu) / (self.at - before.at)

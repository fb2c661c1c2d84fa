"""A reflex process on two simulated lines, each with a UPS and PDUs."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sim_hardware.bus import Line
from sim_hardware.devices.modbus import SerialDevice
from sim_hardware.plant.power.orders import FireShed
from sim_hardware.plant.words import Order, Value
from supernoded.wire.line_address import parse_line
from supernoded.wire.pen import Pen
from supernoded.wire.reflex import Ask, ReflexLine, Told
from tests.sim.devices.panels import FakePanel

PATIENCE = 30.0  # s for what does come; a loaded machine is slow
LOOKS = 5  # more than it takes to fire

SETTINGS = """
node = "n0"
state = "{folder}/state"
runtime = "{folder}/run"
[reflex]
deadline_ms = 2500
scheduling_ms = 100
refractory_s = {refractory}
"""
FEED = """
[[reflex.lines]]
name = "feed-{feed}"
device = "{folder}/feed-{feed}"
baud = {baud}
turnaround_ms = 60
poll_ms = {poll_ms}
[[reflex.triggers]]
feed = "{feed}"
line = "feed-{feed}"
unit = 247
register = 102
above = 0
interval_ms = 80
[[reflex.frames]]
line = "feed-{feed}"
coil = 1000
"""


@dataclass
class Site(FakePanel):
    """Two feeds whose UPSes are as they are set, and which say when they were looked at and told something."""

    looks: dict[str, int] = field(default_factory=lambda: {"ups/A": 0, "ups/B": 0})
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def sense(self, subject: str, quantity: str) -> Value:
        if quantity == "ups.mains_flag":
            self.looks[subject] += 1
            self.news.set()
        return super().sense(subject, quantity)

    def order(self, order: Order) -> None:
        super().order(order)
        self.news.set()

    def flag(self, *feeds: str) -> None:
        """These feeds are flagged, the others are well."""
        for feed in "AB":
            self.values[f"ups/{feed}", "ups.mains_flag"] = feed in feeds

    async def wait(self, true: Callable[[], bool]) -> None:
        """Until something is so, which it becomes by a look or an order."""
        async with asyncio.timeout(PATIENCE):
            while not true():
                await self.news.wait()
                self.news.clear()

    async def wait_looks(self, *feeds: str, count: int = LOOKS) -> None:
        """Until each of these has been looked at so many times more."""
        ends = {f"ups/{feed}": self.looks[f"ups/{feed}"] + count for feed in feeds}
        await self.wait(lambda: all(self.looks[name] >= end for name, end in ends.items()))

    def list_fired(self) -> list[str]:
        """The PDUs that were told to shed."""
        return sorted(order.pdu for order in self.orders if isinstance(order, FireShed))

    def list_pdus(self) -> Sequence[str]:
        """All there are."""
        return sorted(f"pdu/{pdu.name}" for pdu in self.rack.pdus)


@dataclass
class Bench:
    """The site at its lines, and where the reflex process has its files."""

    folder: Path
    site: Site
    lines: dict[str, Line]
    ups: dict[str, SerialDevice]

    @property
    def desk(self) -> Path:
        """Where the process listens."""
        return self.folder / "run" / "reflex.sock"

    def write_settings(self, baud: int = 115_200, poll_ms: int = 75, refractory: int = 30, feeds: str = "AB") -> Path:
        """Settings of both feeds."""
        file = self.folder / "supernoded.toml"
        blocks = (FEED.format(feed=feed, folder=self.folder, baud=baud, poll_ms=poll_ms) for feed in feeds)
        file.write_text(SETTINGS.format(folder=self.folder, refractory=refractory) + "".join(blocks))
        return file

    @asynccontextmanager
    async def running(self, refractory: int = 30) -> AsyncIterator[asyncio.subprocess.Process]:
        """The process, ready, and both feeds seen."""
        process, ready = await self.start(self.write_settings(refractory=refractory))
        try:
            async with asyncio.timeout(PATIENCE):
                assert (await asyncio.get_running_loop().sock_recv(ready, 512)).startswith(b"READY=1")
            await self.site.wait_looks("A", "B", count=2)
            yield process
        finally:
            ready.close()
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
            await process.communicate()

    async def start(self, settings: Path) -> tuple[asyncio.subprocess.Process, socket.socket]:
        """The process, and the socket at which it says that it is ready."""
        place = self.folder / "notify"
        place.unlink(missing_ok=True)
        ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        ready.bind(str(place))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "supernoded.reflex", "--config", str(settings)),
            env={**os.environ, "NOTIFY_SOCKET": str(place)},
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        return process, ready

    async def ask(self) -> Told:
        """How its lines stand."""
        reader, writer = await asyncio.open_unix_connection(self.desk)
        writer.write(msgspec.json.encode(Ask()) + b"\n")
        async with asyncio.timeout(PATIENCE):
            told = msgspec.json.decode(await reader.readline(), type=Told)
        writer.close()
        await writer.wait_closed()
        return told

    async def count(self, what: str) -> int:
        """How often something became of a trigger."""
        return (await self.ask()).counts[what]

    def borrow(self, feed: str) -> ReflexLine:
        """A line as the daemon has it."""
        return ReflexLine(parse_line(f"reflex://feed-{feed}").place, self.desk, Pen(lambda _: None))

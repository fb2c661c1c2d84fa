"""The way of a sag through the reflex process, the one way on which the speed of a line decides: looked at, judged, said, shed.

The process is the real one, on pseudo-terminals that carry bytes at the real baud; UPSes and PDUs are the simulated plant in real time.
There are no direct lines and no daemon. Beside each stage stands what it takes at worst by the arithmetic by which `supernoded --check`
refuses a line. On a machine with much else to do the plant itself is late, which no arithmetic knows.
"""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from benchmarks.measuring import Row, make_row
from sim_hardware.bus import serve_pty
from sim_hardware.devices.modbus import SerialDevice, build_site
from sim_hardware.plant.power.orders import ArmShed, FireShed, Sag
from sim_hardware.plant.words import Happening, Order, Value
from sim_hardware.rack import Rack, load_rack
from sim_hardware.world import World
from supernoded.reflex.arithmetic import pace_of, sum_detection, sum_frame
from supernoded.settings import Settings, read_settings
from supernoded.settings.reflex import Reflex

PATIENCE = 60.0  # s for what does come
SAG_S = 0.5
BETWEEN_S = 1.3  # s between two sags, and a bit of a look more each time, so that they meet the looks at other moments
LOOKS = 3  # of each feed before the next sag
WAY = "by the bridge"

SETTINGS = """
node = "n0"
state = "{folder}/state"
runtime = "{folder}/run"
[reflex]
deadline_ms = 5000
refractory_s = 1
scheduling_ms = 2
"""
FEED = """
[[reflex.lines]]
name = "feed-{feed}"
device = "{folder}/feed-{feed}"
baud = {baud}
turnaround_ms = {turnaround}
[[reflex.triggers]]
feed = "{feed}"
line = "feed-{feed}"
unit = 247
register = 102
above = 0
interval_ms = {interval}
[[reflex.frames]]
line = "feed-{feed}"
coil = 1000
"""
TURNAROUND_MS = 25.0  # of a simulated unit at worst, on a machine with other work
INTERVAL_MS = {9600: 70.0, 19_200: 50.0, 115_200: 40.0}  # what the line can carry, and a little air

STAGES = ("contacts up", "second UPS looked at", "shed frames heard", "both PDUs have shed")
Times = Mapping[str, float]  # seconds after the sag


class Panel:
    """The plant as devices on lines see it; what the bridge asks and says is timed."""

    def __init__(self, world: World) -> None:
        self.rack: Rack = world.rack
        self._world, self._clock = world, asyncio.get_running_loop().time
        self.looks, self.flagged, self.told = dict[str, int](), dict[str, float](), dict[str, float]()
        self.news = asyncio.Event()

    def now(self) -> float:
        """See `Panel.now`."""
        return self._world.now()

    def sense(self, subject: str, quantity: str) -> Value:
        """See `Panel.sense`."""
        value = self._world.sense(subject, quantity)
        if quantity == "ups.mains_flag":
            self.looks[subject] = self.looks.get(subject, 0) + 1
            if value:
                self.flagged.setdefault(subject, self._clock())
            self.news.set()
        return value

    def order(self, order: Order) -> None:
        """See `Panel.order`."""
        if isinstance(order, FireShed):
            self.told.setdefault(order.pdu, self._clock())
            self.news.set()
        self._world.order(order)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for a look or an order by which it is true. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE):
            while not true():
                await self.news.wait()
                self.news.clear()

    async def until_looked(self) -> None:
        """Wait till each feed has been looked at a few times more."""
        ends = {name: self.looks.get(name, 0) + LOOKS for name in ("ups/A", "ups/B")}
        await self.until(lambda: all(self.looks.get(name, 0) >= end for name, end in ends.items()))


class Site:
    """A rack without direct lines, its feeds at their pseudo-terminals."""

    def __init__(self, rack: Path, folder: Path, seed: int) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        self._clock = clock
        self.world = World(load_rack(str(rack)), seed, lambda: clock() - began)
        self.panel = Panel(self.world)
        self._built = build_site(self.panel, str(folder), seed)
        self._shed = list[float]()
        self._contacts = list[float]()
        self.world.watches.append(self._note)

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        """The lines of both feeds, and what hangs on them."""
        async with AsyncExitStack() as stack:
            for path, line in self._built.lines.items():
                if "feed" in path:
                    await stack.enter_async_context(serve_pty(line, Path(path)))
            for device in self._built.devices:
                if isinstance(device, SerialDevice) and not device.name.startswith("cdu"):
                    await stack.enter_async_context(device.serve())
            self.world.run()
            stack.callback(self.world.close)
            yield

    async def sag(self) -> Times:
        """One sag, and when what followed."""
        panel = self.panel
        for pdu in self.world.rack.pdus:
            group = tuple(outlet.number for outlet in pdu.outlets if outlet.sheddable)
            self.world.order(ArmShed(pdu.name, group, 1.0, 120.0))
        for seen in (panel.flagged, panel.told, self._shed, self._contacts):
            seen.clear()
        since = self._clock()
        for feed in "AB":
            self.world.order(Sag(feed, 1.0))
        pdus = len(self.world.rack.pdus)
        await panel.until(lambda: len(panel.told) >= pdus and len(self._shed) >= pdus)
        await asyncio.sleep(SAG_S)
        for feed in "AB":
            self.world.order(Sag(feed, 0.0))
        found = max(self._contacts), max(panel.flagged.values()), max(panel.told.values()), max(self._shed)
        return {name: at - since for name, at in zip(STAGES, found, strict=True)}

    def _note(self, happening: Happening) -> None:
        for kind, times in (("shed.fired", self._shed), ("ups.flagged", self._contacts)):
            if happening.kind == kind:
                times.append(self._clock())


async def measure(rack: Path, folder: Path, baud: int, runs: int) -> tuple[list[Times], Reflex]:
    """Some sags in turn, and the settings of the process."""
    settings = write_settings(folder, baud)
    site = Site(rack, folder, baud)
    async with site.serve(), run_bridge(folder):
        found = []
        for run in range(runs):
            await site.panel.until_looked()
            await asyncio.sleep(BETWEEN_S + INTERVAL_MS[baud] / 1e3 * run / runs)
            found.append(await site.sag())
    return found, settings.reflex


def write_settings(folder: Path, baud: int) -> Settings:
    """Of a bridge on both feeds."""
    (folder / "state").mkdir()
    file = folder / "supernoded.toml"
    feeds = (FEED.format(feed=feed, folder=folder, baud=baud, turnaround=TURNAROUND_MS, interval=INTERVAL_MS[baud]) for feed in "AB")
    file.write_text(SETTINGS.format(folder=folder) + "".join(feeds))
    return read_settings(file, {})


@asynccontextmanager
async def run_bridge(folder: Path) -> AsyncIterator[None]:
    """The process, once it says that it is ready."""
    place, loop = folder / "notify", asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as ready:
        ready.bind(str(place))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "supernoded.reflex", "--config", str(folder / "supernoded.toml")),
            env={**os.environ, "NOTIFY_SOCKET": str(place)},
            stdin=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(PATIENCE):
                await loop.sock_recv(ready, 512)
            yield
        finally:
            process.terminate()
            await process.wait()


def list_rows(baud: int, runs: Sequence[Times], reflex: Reflex) -> Iterator[Row]:
    """A row a stage: the median, the worst, and the worst by arithmetic; the shed's has that as its budget."""
    contact = statistics.median(times[STAGES[0]] for times in runs)
    looked = max(sum_detection(reflex, trigger).total for trigger in reflex.triggers)
    said = max(sum_frame(reflex, frame).total for frame in reflex.frames)
    alone = pace_of(reflex.lines[0])
    sums = (0.0, contact + looked, contact + said, contact + said)
    for name, worst in zip(STAGES, sums, strict=True):
        found = [times[name] for times in runs]
        by = f"; by arithmetic at most {1e3 * worst:.1f}" if worst else ""
        note = f"worst {1e3 * max(found):.1f}, of {len(found)} runs{by}"
        budget = round(1e3 * worst, 3) if name == STAGES[-1] else None
        yield make_row(f"{WAY}, {baud}: {name}", round(1e3 * statistics.median(found), 3), "ms", budget, note)
    frame = 1e3 * (alone.time_bytes(8) + alone.silence)
    yield make_row(f"arithmetic, {baud}: the bridge's frame and silence", frame, "ms", note=f"{alone.bits} bits a byte")


def play(rack: Path, folder: Path, baud: int, runs: int) -> list[Row]:
    """All rows of one speed."""
    found, reflex = asyncio.run(measure(rack, folder, baud, runs))
    return list(list_rows(baud, found, reflex))

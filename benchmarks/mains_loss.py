"""From a mains loss to the decision it leads to: our NUT sensor beside NUT's own upsmon at its defaults, on one upsd and one dummy-ups.

The simulated UPS goes from OL to OB and back, over and over. A run begins when upsd itself shows OB, asked every few milliseconds; what
the driver takes before that (up to its pollinterval, 2 s by default) is the same for both and shown apart. Ours has decided when the
sensor's reading that holds `ob` is handed to the rules; upsmon when it calls its NOTIFYCMD with ONBATT.
"""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import random
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring import Row, find_free_port, make_parser, make_row, scratch, show
from supernoded.clock import SystemClock
from supernoded.limits import Limits
from supernoded.plugin import Node, Reading
from supernoded.sampling import Sampler
from supernoded.supervisor import Health
from supernoded.topology import Topology
from supernoded.topology.site import Ups
from supernoded.wire import Pen
from supernoded.wire.system import SystemHost, SystemWires
from supernoded_nut import supernoded_sensors
from supernoded_nut.settings import NutSettings

RUNS = 8
ONLINE_S, BATTERY_S = 6, 7  # of the sequence; both longer than upsmon's 5 s, and no multiple of it together with the loop's own seconds
WATCH = 0.005  # seconds between two looks of the observer
START = 30.0  # seconds until everything must work
MOST_MS = 1100.0  # one period of our sensor and a tenth for the answer; the plugin's default is 1 s
FOLDERS = ("/lib/nut", "/usr/lib/nut", "/usr/libexec/nut")

SEQUENCE = f"ups.status: OL\nTIMER {ONLINE_S}\nups.status: OB\nTIMER {BATTERY_S}\n"
DRIVER = "[u]\n driver = dummy-ups\n port = {folder}/u.seq\n mode = dummy-loop\n"
USERS = "[watch]\n password = watch\n upsmon primary\n"
MONITOR = """\
MONITOR u@127.0.0.1:{port} 1 watch watch primary
MINSUPPLIES 1
SHUTDOWNCMD "true"
POWERDOWNFLAG {folder}/killpower
NOTIFYCMD {folder}/notify
NOTIFYFLAG ONBATT EXEC
"""
NOTIFY = '#!/bin/sh\necho "$NOTIFYTYPE $(date +%s.%N)" >> {folder}/notices\n'


@dataclass
class Marks:
    """Wall-clock times of each loss and each decision, in order."""

    lost: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    decided: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, readings: Sequence[Reading], _: float) -> None:
        """The decision: the status contains OB, and did not before."""
        status = next((reading.value for reading in readings if reading.quantity == "ups.status"), None)
        if isinstance(status, frozenset) and "ob" in status and len(self.ours) < len(self.lost):
            self.ours.append(time.time())
            self.decided.set()


def find(program: str) -> str:
    """One of NUT's programs; the names in PATH are wrappers."""
    paths = (Path(folder) / program for folder in FOLDERS)
    found = next((path for path in paths if path.exists()), None)
    if found is None:
        raise SystemExit(f"{program} of NUT is not installed (Debian: apt-get install nut-server nut-client)")
    return str(found)


@asynccontextmanager
async def running(folder: Path, program: str, *arguments: str) -> AsyncIterator[None]:
    """One of NUT's programs, until the context is left."""
    places = dict.fromkeys(("NUT_CONFPATH", "NUT_STATEPATH", "NUT_ALTPIDPATH", "NUT_PIDPATH"), str(folder))
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        find(program), *arguments, stdin=quiet, stdout=quiet, stderr=quiet, env={**os.environ, **places}
    )
    try:
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def watch(port: int, marks: Marks, runs: int) -> None:
    """Ask upsd without a pause, and note each change between OL and OB; ends when the mains are back from the last loss."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    last, online = b"", True
    try:
        while len(marks.lost) < runs or not online:
            writer.write(b"GET VAR u ups.status\n")
            line = await reader.readline()
            if not line:
                raise SystemExit("upsd has hung up")
            if b'"OB"' in line and b'"OL"' in last:
                marks.lost.append(time.time())
            last, online = line, b'"OL"' in line
            await asyncio.sleep(WATCH)
    finally:
        writer.close()


async def sample(sampler: Sampler, marks: Marks) -> None:
    """Read every second; after each decision at other moments of the second, or all losses would meet the same one."""
    while True:
        reading = asyncio.create_task(sampler.run())
        try:
            await marks.decided.wait()
        finally:
            reading.cancel()
        marks.decided.clear()
        await asyncio.sleep(1.0 + random.random())


def make_sampler(port: int, folder: Path, marks: Marks, wires: SystemWires) -> Sampler:
    """Our sensor, read as the daemon reads it."""
    site = Topology(ups=(Ups(name="A", wire=f"nut://127.0.0.1:{port}/u"),))
    clock = SystemClock()
    node = Node(name="n0", topology=site, limits=Limits(), wires=wires, clock=clock, host=SystemHost(), state=folder)
    (sensor,) = supernoded_sensors(NutSettings(), node)
    return Sampler(sensor, clock, Health(clock, logging.getLogger("bench")), marks.take)


def write_files(folder: Path, port: int) -> None:
    """What NUT reads."""
    folder.chmod(0o700)
    files = {
        "u.seq": SEQUENCE,
        "ups.conf": DRIVER.format(folder=folder),
        "upsd.conf": f"LISTEN 127.0.0.1 {port}\n",
        "upsd.users": USERS,
        "upsmon.conf": MONITOR.format(folder=folder, port=port),
        "notify": NOTIFY.format(folder=folder),
        "notices": "",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o700 if name == "notify" else 0o600)


async def wait_for_upsd(port: int) -> None:
    """Until it shows a status."""
    async with asyncio.timeout(START):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.write(b"GET VAR u ups.status\n")
            line = await reader.readline()
            writer.close()
            if b'"OL"' in line or b'"OB"' in line:
                return
            await asyncio.sleep(0.1)


async def measure(folder: Path, runs: int) -> tuple[Marks, list[float]]:
    """So many losses; gives what was marked, and when upsmon decided."""
    port, marks, user = find_free_port(), Marks(), getpass.getuser()
    wires = SystemWires(Pen(lambda _: None))
    write_files(folder, port)
    async with running(folder, "dummy-ups", "-a", "u", "-u", user, "-F"):
        await asyncio.sleep(1.0)  # upsd looks for its drivers' sockets when it starts, and again only after a while
        async with running(folder, "upsd", "-u", user, "-F"):
            await wait_for_upsd(port)
            async with running(folder, "upsmon", "-p", "-F"), asyncio.TaskGroup() as tasks:
                sampling = tasks.create_task(sample(make_sampler(port, folder, marks, wires), marks))
                await watch(port, marks, runs)
                sampling.cancel()
    await wires.close()
    notices = (line.split() for line in (folder / "notices").read_text().splitlines())
    return marks, [float(words[1]) for words in notices if words[0] == "ONBATT"]


def list_delays(lost: Sequence[float], decided: Sequence[float]) -> list[float]:
    """Milliseconds from each loss to the first decision before the next one; a loss that nobody noticed counts as the whole time."""
    ends = [*lost[1:], lost[-1] + ONLINE_S + BATTERY_S]
    return [1000.0 * (min((at for at in decided if begin <= at < end), default=end) - begin) for begin, end in zip(lost, ends, strict=True)]


def make_rows(marks: Marks, theirs: Sequence[float]) -> list[Row]:
    """The two side by side."""
    rows = list[Row]()
    for name, decided, budget in (("ours, every 1 s", marks.ours, MOST_MS), ("upsmon, POLLFREQ 5", theirs, None)):
        delays = list_delays(marks.lost, decided)
        note = f"of {len(delays)} losses; the driver adds up to 2 s to both"
        rows.append(make_row(f"OB to decision, median: {name}", statistics.median(delays), "ms", None, note))
        rows.append(make_row(f"OB to decision, worst: {name}", max(delays), "ms", budget))
    return rows


def main() -> None:
    """Run it."""
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="how many losses are measured")
    options = parser.parse_args()
    with scratch() as folder:
        marks, theirs = asyncio.run(measure(folder, options.runs))
    show(make_rows(marks, theirs), as_json=options.json)


if __name__ == "__main__":
    main()

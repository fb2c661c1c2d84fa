"""From a reading to the first byte of the action it leads to, inside the daemon, with two CPU-bound processes beside it.

A whole daemon runs in this process: its sampler takes a reading, a rule raises it, a remedy says its first step, the incident's opening
and the intent are committed together, the actuator looks, the guards are asked, and a byte goes out. In turns with it the same disk is
asked for one bare commit by `sqlite3` on the journal's pragmas, also from a thread: what the whole way costs beyond that is ours. The
budget is of design section 14.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.measuring import CARDS, Row, cpu_load, find_percentile, make_parser, make_row, scratch, show
from supernoded.building import Daemon, build
from supernoded.daemon import run
from supernoded.journal.sqlite import PRAGMAS
from supernoded.plugin import (
    NODE,
    Action,
    Actuator,
    Case,
    Effect,
    Level,
    Reading,
    Remedy,
    Rule,
    Sensor,
    Severity,
    Sight,
    Step,
    Verdict,
    View,
    World,
    hookimpl,
)
from supernoded.ports import system_ports
from supernoded.registry import Found
from supernoded.settings import Settings, read_settings

MOST_P99_MS = 8.0
LOAD = 2  # processes
WARM = 20  # ways that are not counted
HEALTH, SILENT = "x.bench.health", "x.bench.silent"

SETTINGS = """\
node = "n0"
mode = "act"
state = "{folder}/state"
runtime = "{folder}/run"
[admin]
group = ""
operators = ""
[mqtt]
host = "127.0.0.1"
port = 1
[incidents]
clear_after_s = 0
"""


@dataclass
class Marks:
    """When one way passed its posts, by `perf_counter`."""

    read: float = 0.0
    asked: float = 0.0  # the remedy has said its step
    durable: float = 0.0  # the intent is committed
    sent: float = 0.0
    done: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Bench:
    """A plugin with one of everything; each part leaves its mark."""

    marks: Marks = field(default_factory=Marks)
    line: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)
    seen: set[str] = field(default_factory=set)
    name, scope, period, timeout = "bench", NODE, 3600.0, 3600.0
    kind: str = SILENT
    answers: str = SILENT
    watches: Mapping[str, float] = field(default_factory=lambda: {HEALTH: 60.0})
    kinds: frozenset[str] = frozenset({"power.cap"})
    targets: Sequence[str] = ("n0*",)

    async def read(self) -> Sequence[Reading]:
        """Nothing by itself: the benchmark hands readings to the sampler."""
        await asyncio.Event().wait()
        return []

    def start(self) -> None:
        """No memory."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """Raised while it is 0."""
        verdicts = []
        for subject in seen.subjects(HEALTH):
            level = Level.CLEAR if seen.number(HEALTH, subject) else Level.RAISED
            text = f"{subject} is {level.value}"
            verdicts.append(Verdict(kind=SILENT, subject=subject, level=level, text=text, at=seen.now, severity=Severity.CRITICAL))
        return memory, verdicts

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """One step."""
        del world, now
        if "cap" in case.done or "cap" in case.running or not case.still_raised:
            return None
        self.marks.asked = time.perf_counter()
        return Step(name="cap", kind="power.cap", target=case.incident.subject, reason=case.incident.text)

    async def observe(self, action: Action) -> Sight:
        """The first look comes right after the commit."""
        if action.id in self.seen:
            return Sight(effect=Effect.PRESENT)
        self.marks.durable = time.perf_counter()
        return Sight(effect=Effect.ABSENT)

    async def apply(self, action: Action) -> None:
        """One byte out."""
        self.line[0].send(b"!")
        self.marks.sent = time.perf_counter()
        self.seen.add(action.id)
        self.marks.done.set()

    @hookimpl
    def supernoded_sensors(self) -> Sequence[Sensor]:
        return [self]

    @hookimpl
    def supernoded_rules(self) -> Sequence[Rule[None]]:
        return [self]

    @hookimpl
    def supernoded_remedies(self) -> Sequence[Remedy]:
        return [self]

    @hookimpl
    def supernoded_actuators(self) -> Sequence[Actuator]:
        return [self]


class Bare:
    """One small commit by `sqlite3` alone."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in PRAGMAS:
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute("CREATE TABLE intents (id TEXT PRIMARY KEY, body TEXT)")

    def commit(self, number: int) -> None:
        """Durable on return."""
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("INSERT INTO intents VALUES (?, ?)", (f"i{number}", "x" * 400))
        self._database.execute("COMMIT")


def build_daemon(folder: Path, bench: Bench) -> Daemon:
    """A daemon on the real machine whose only plugin is ours."""
    log = logging.getLogger("supernoded.benchmark")
    log.setLevel(logging.CRITICAL)
    file = folder / "supernoded.toml"
    file.write_text(SETTINGS.format(folder=folder))

    def plugins(settings: Settings) -> list[Found]:
        del settings
        return [Found(name="bench", plugin=bench)]

    return build(read_settings(file, {}), replace(system_ports({}, log), plugins=plugins), log)


async def go_one_way(daemon: Daemon, bench: Bench, number: int) -> Marks:
    """A card falls silent, something is done about it, and it is well again."""
    [duty] = daemon.house.duties
    sampler = next(one for one in duty.samplers if one.sensor.name == "bench")
    marks = bench.marks = Marks()

    def read(health: float) -> list[Reading]:
        at = daemon.house.clock.now()
        values = [health if card == number % CARDS else 1.0 for card in range(CARDS)]
        return [Reading(subject=f"n0/card{card}", quantity=HEALTH, value=value, unit="1", at=at) for card, value in enumerate(values)]

    readings = read(0.0)
    marks.read = time.perf_counter()
    sampler.accept(readings)
    async with asyncio.timeout(30):
        await marks.done.wait()
        bench.line[1].recv(1)
        sampler.accept(read(1.0))
        while True:
            if not duty.ledger.open:
                return marks
            await asyncio.sleep(0.005)


async def measure(folder: Path, seconds: float) -> list[Row]:
    """Ways and bare commits in turns."""
    bench, bare = Bench(), Bare(folder / "bare.db")
    daemon, thread, loop = build_daemon(folder, bench), ThreadPoolExecutor(1), asyncio.get_running_loop()
    life = asyncio.create_task(run(daemon))
    await daemon.house.ready.wait()
    ways, commits, number, end = list[Marks](), list[float](), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        marks = await go_one_way(daemon, bench, number)
        begin = time.perf_counter()
        await loop.run_in_executor(thread, bare.commit, number)
        if number >= WARM:
            ways.append(marks)
            commits.append((time.perf_counter() - begin) * 1e3)
        number += 1
    life.cancel()
    await asyncio.wait({life})
    return summarise(ways, commits)


def summarise(ways: Sequence[Marks], commits: Sequence[float]) -> list[Row]:
    """p50 and p99 of the whole way and of its parts."""
    parts = {
        "reading in to first byte out": [way.sent - way.read for way in ways],
        "  judged, and a step wanted": [way.asked - way.read for way in ways],
        "  opening and intent committed": [way.durable - way.asked for way in ways],
        "  guards asked, first byte": [way.sent - way.durable for way in ways],
    }
    rows = []
    for what, times in parts.items():
        milliseconds = [1e3 * one for one in times]
        rows.append(make_row(f"{what}, p50", find_percentile(milliseconds, 50), "ms", note=f"of {len(times)}"))
        rows.append(make_row(f"{what}, p99", find_percentile(milliseconds, 99), "ms", None if what[0] == " " else MOST_P99_MS))
    rows.append(make_row("one bare commit by sqlite3, p50", find_percentile(commits, 50), "ms"))
    rows.append(make_row("one bare commit by sqlite3, p99", find_percentile(commits, 99), "ms"))
    whole = [1e3 * (way.sent - way.read) for way in ways]
    rows.append(make_row("the whole way in bare commits, p50", find_percentile(whole, 50) / find_percentile(commits, 50), "ratio"))
    rows.append(make_row("the whole way in bare commits, p99", find_percentile(whole, 99) / find_percentile(commits, 99), "ratio"))
    return rows


def main() -> None:
    """Measure and print; the exit code says nothing about the budgets."""
    parser = make_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long (default %(default)g)")
    parser.add_argument("--load", type=int, default=LOAD, help="CPU-bound processes beside it (default %(default)s)")
    asked = parser.parse_args()
    with scratch() as folder, cpu_load(asked.load):
        rows = asyncio.run(measure(folder, asked.seconds))
    show(rows, as_json=asked.json)


if __name__ == "__main__":
    main()

"""From the bytes that complete a trigger to the bytes of the shed, on pseudo-terminals, which have no speed: what is left is ours.

The bridge is the reflex process as it is: it polls a register of two UPSes, checks each answer, judges both feeds and says a prebuilt
frame. Beside it, block by block in one run, a bare process of the same kind, which asks, reads and writes. For comparison a bare
read and write in the event loop of a process that works as a daemon does, and in a thread whose main thread computes. All are asked for
SCHED_FIFO and locked memory, the measuring process too. The budgets are of design section 14.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import SpawnProcess
from pathlib import Path

from benchmarks.measuring import Row, cpu_load, find_percentile, make_parser, make_row, scratch, show
from supernoded.reflex.building import build_bridge
from supernoded.reflex.frames import build_look, build_shed, seal
from supernoded.reflex.realtime import get_ready
from supernoded.reflex.record import Recorder
from supernoded.settings.reflex import Reflex, ReflexLine, ShedFrame, Trigger

MOST_RATIO, MOST_P99_MS = 2.0, 0.5
BLOCK = 500  # firings of one process before the other has its turn
WARM = 200  # firings that are not counted
AGAIN = 5  # firings after a pause that are not counted
SLOW = 2000  # firings of those that are only there to show why
PAUSE = 0.0035  # s between two firings, as the bridge has between two looks and their silences
BUSY = 2  # processes
PATIENCE = 5.0  # s for one firing
FIFO, MEASURING = 20, 30

SILENCE = 0.00175  # s between two frames

REQUEST = build_look(Trigger(feed="b", line="b", register=0, above=0))
SHED = build_shed(ShedFrame(line="p", coil=1000))
CLEAR, FLAGGED = (seal(bytes((1, 3, 2, 0, value))) for value in (0, 1))


class Pair:
    """A raw pseudo-terminal: our end, and the path of the other."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.openpty()
        tty.setraw(self.theirs)
        self.path = os.ttyname(self.theirs)

    def read(self) -> bytes:
        """What comes next. Raises SystemExit when nothing does."""
        if not select.select([self.ours], [], [], PATIENCE)[0]:
            raise SystemExit(f"{self.path}: nothing came within {PATIENCE:g} s")
        return os.read(self.ours, 256)

    def flush(self) -> None:
        """Forget what has come."""
        while select.select([self.ours], [], [], 0)[0]:
            os.read(self.ours, 256)


@dataclass(eq=False)
class Subject:
    """A process under test, with the lines that it opens: bytes go in by the last but one, and come out of the last."""

    name: str
    work: Callable[..., None]
    pairs: list[Pair]
    arguments: tuple[object, ...] = ()
    times: list[float] = field(default_factory=list)  # ms
    process: SpawnProcess | None = None

    def start(self) -> None:
        """Run it, and pause it."""
        paths = tuple(pair.path for pair in self.pairs)
        self.process = multiprocessing.get_context("spawn").Process(target=self.work, args=(*paths, *self.arguments), daemon=True)
        self.process.start()
        self.fire(WARM)
        self.times.clear()
        self.signal(signal.SIGSTOP)

    def signal(self, number: int) -> None:
        """Tell the process something."""
        if self.process is not None and self.process.pid is not None:
            os.kill(self.process.pid, number)

    def measure(self, count: int) -> None:
        """A block of firings, while all others are paused."""
        self.signal(signal.SIGCONT)
        kept = len(self.times)
        self.fire(AGAIN)
        del self.times[kept:]
        self.fire(count)
        self.signal(signal.SIGSTOP)

    def fire(self, count: int) -> None:
        """Bytes in, bytes out."""
        into, out = self.pairs[-2:]
        for _ in range(count):
            time.sleep(PAUSE)
            begin = time.perf_counter()
            os.write(into.ours, FLAGGED)
            out.read()
            self.times.append(1e3 * (time.perf_counter() - begin))


class AskingSubject(Subject):
    """One that polls has to be answered: by a UPS that is well in turns, and by others that are flagged for good."""

    def measure(self, count: int) -> None:
        """A look of the bridge that was under way at the pause is forgotten, as it asks anew; the bare process would wait for ever."""
        for pair in self.pairs if len(self.pairs) > 2 else ():
            pair.flush()
        super().measure(count)

    def fire(self, count: int) -> None:
        """The UPS is well, then flagged; the shed comes."""
        *others, ups, out = self.pairs
        flagged = True  # so that the first look shows it well
        while count:
            ready = select.select([pair.ours for pair in (*others, ups)], [], [], PATIENCE)[0]
            if not ready:
                raise SystemExit(f"the {self.name} asks nothing within {PATIENCE:g} s")
            for other in others:
                if other.ours in ready:
                    other.read()
                    os.write(other.ours, FLAGGED)
            if ups.ours in ready:
                ups.read()
                flagged = not flagged
                begin = time.perf_counter()
                os.write(ups.ours, FLAGGED if flagged else CLEAR)
                if flagged and self._is_shed(out):
                    self.times.append(1e3 * (time.perf_counter() - begin))
                    count -= 1

    def _is_shed(self, out: Pair) -> bool:
        """Whether the shed came; not the first time, when the other feed may not have been seen yet."""
        if not self.times and not select.select([out.ours], [], [], 0.1)[0]:
            return False
        out.read()
        return True


def run_bridge(first: str, second: str, out: str, record: str) -> None:
    """The reflex process itself, with every interval as short as it goes."""
    names = {"a": first, "b": second, "p": out}
    reflex = Reflex(
        record=Path(record),
        deadline_ms=5000,
        refractory_s=0,
        priority=FIFO,
        lines=tuple(ReflexLine(name=name, device=Path(path), turnaround_ms=50, latest_ms=1) for name, path in names.items()),
        triggers=tuple(
            Trigger(feed=name, line=name, register=0, above=0, frames=1, interval_ms=interval) for name, interval in (("a", 50), ("b", 0.2))
        ),
        frames=(ShedFrame(line="p", coil=1000),),
    )
    log = logging.getLogger("supernoded.benchmark")
    log.setLevel(logging.CRITICAL)
    recorder = Recorder(reflex.record, 1_000_000, log)
    bridge = build_bridge(reflex, recorder.take, log)
    recorder.start()
    get_ready(FIFO)
    while True:
        bridge.turn()


def run_bare(ups: str, out: str) -> None:
    """Ask, wait for what comes, and pass on what is flagged: no check, no state, no second feed."""
    get_ready(FIFO)
    source, target = _open_both(ups, out)
    while True:
        time.sleep(SILENCE)
        os.write(source, REQUEST)
        if os.read(source, 256) == FLAGGED:
            os.write(target, SHED)


def run_loop(into: str, out: str) -> None:
    """The same in an event loop that also works for 4 ms of every 20, as a daemon with many readings does."""
    get_ready(FIFO)
    source, target = _open_both(into, out)

    def copy() -> None:
        os.read(source, 256)
        os.write(target, SHED)

    async def work() -> None:
        asyncio.get_running_loop().add_reader(source, copy)
        while True:
            end = time.perf_counter() + 0.004
            while time.perf_counter() < end:
                json.loads(json.dumps({"readings": list(range(100))}))
            await asyncio.sleep(0.016)

    asyncio.run(work())


def run_thread(into: str, out: str) -> None:
    """The same in a thread, while the main thread computes."""
    get_ready(0)  # SCHED_FIFO would let the main thread take a core from everybody, and does not help against the GIL
    threading.Thread(target=_copy_for_ever, args=_open_both(into, out), daemon=True).start()
    while True:
        sum(range(10_000))


def _open_both(into: str, out: str) -> tuple[int, int]:
    return os.open(into, os.O_RDWR | os.O_NOCTTY), os.open(out, os.O_RDWR | os.O_NOCTTY)


def _copy_for_ever(source: int, target: int) -> None:
    while True:
        os.read(source, 256)
        os.write(target, SHED)


@contextmanager
def subjects(folder: Path) -> Iterator[list[Subject]]:
    """All of them, paused."""
    made = [
        AskingSubject("bridge", run_bridge, [Pair(), Pair(), Pair()], (str(folder / "record"),)),
        AskingSubject("bare process", run_bare, [Pair(), Pair()]),
        Subject("event loop of a working process", run_loop, [Pair(), Pair()]),
        Subject("thread beside a busy main thread", run_thread, [Pair(), Pair()]),
    ]
    try:
        for subject in made:
            subject.start()
        yield made
    finally:
        for subject in made:
            subject.signal(signal.SIGKILL)


def measure(made: Sequence[Subject], firings: int) -> None:
    """Block by block in turns, so that whatever else the machine does befalls all of them."""
    wanted = [firings, firings, *(min(firings, SLOW) for _ in made[2:])]
    for subject in made:
        subject.times.clear()
    while any(len(subject.times) < count for subject, count in zip(made, wanted, strict=True)):
        for subject, count in zip(made, wanted, strict=True):
            if missing := count - len(subject.times):
                subject.measure(min(missing, BLOCK))


def summarise(made: Sequence[Subject], load: str) -> list[Row]:
    """p50 and p99 of each, and the bridge in bare processes."""
    rows = []
    for subject in made:
        budget = MOST_P99_MS if subject is made[0] else None
        note = f"of {len(subject.times)}"
        rows.append(make_row(f"{load}: {subject.name}, p50", find_percentile(subject.times, 50), "ms", note=note))
        rows.append(make_row(f"{load}: {subject.name}, p99", find_percentile(subject.times, 99), "ms", budget))
    bridge, bare = made[:2]
    for percent, budget in ((50, None), (99, MOST_RATIO)):
        ratio = find_percentile(bridge.times, percent) / find_percentile(bare.times, percent)
        rows.append(make_row(f"{load}: the bridge in bare processes, p{percent}", ratio, "ratio", budget))
    return rows


def hurry() -> None:
    """The measuring process goes first where it may; what it starts does not."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(MEASURING))
    except OSError as error:
        print(f"the measuring process runs under the ordinary scheduler, its own delays are in the figures: {error}", file=sys.stderr)


def main() -> None:
    """Measure and print; the exit code says nothing about the budgets."""
    parser = make_parser(__doc__)
    parser.add_argument(
        "--firings", type=int, default=20_000, help="of the bridge and of the bare process, each load (default %(default)s)"
    )
    parser.add_argument("--load", type=int, default=BUSY, help="CPU-bound processes of the second half (default %(default)s)")
    asked = parser.parse_args()
    rows = []
    with scratch() as folder, subjects(folder) as made:
        hurry()
        measure(made, asked.firings)
        rows += summarise(made, "idle")
        with cpu_load(asked.load):
            measure(made, asked.firings)
        rows += summarise(made, f"{asked.load} busy")
    show(rows, as_json=asked.json)


if __name__ == "__main__":
    main()

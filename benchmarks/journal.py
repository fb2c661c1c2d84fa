"""What the journal costs: an intent against the same statements by bare `sqlite3`, and events a second (design section 14).

Both sides of a ratio are measured in turns within one run, on the same pragmas and the same disk. An asyncio daemon cannot wait for a
disk on its loop, so both reach SQLite through `run_in_executor`; `hop` shows what that step itself costs.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from supernoded import __version__
from supernoded.clock import SystemClock
from supernoded.journal import entries, sqlite
from supernoded.journal.actions import to_row
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import NODE, Action, Event, Severity, Step, action_id

MOST_RATIO = 1.3
LEAST_EVENTS = 20_000
BLOCK = 50  # intents of one side before it is the other's turn

Row = dict[str, str | float | int | bool]


def make_action(number: int) -> Action:
    """One intent, unlike the others."""
    step = Step(name="shed", kind="power.shed", target="pdu/A1/outlet7", reason="both feeds sag: 168 V on A and 171 V on B, limit 187 V")
    incident = f"i{number:011x}"
    now = time.time()
    return Action(id=action_id(incident, "shed"), step=step, incident=incident, scope=NODE, epoch=0, issued=now, deadline=now + 10)


def make_event(number: int) -> Event:
    """One event, unlike the others."""
    text = "post-FEC BER of n0/card3/port0 is 3.1e-12, limit 1.5e-12, over 240 s"
    severity = Severity.WARNING
    return Event(
        id=f"e{number:015x}",
        kind="link.ber",
        subject="n0/card3/port0",
        scope=NODE,
        raised=True,
        text=text,
        at=float(number),
        severity=severity,
    )


class Bare:
    """The same statements without anything of ours."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in sqlite.PRAGMAS:
            self._database.execute(f"PRAGMA {pragma}")
        names = list(to_row(make_action(0), 0.0))
        marks = ", ".join("?" * len(names))
        self._insert = (
            f"INSERT INTO actions ({', '.join(names)}) VALUES ({marks}) "  # noqa: S608 - our own names
            "ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch RETURNING body"
        )

    def intend(self, row: tuple[object, ...]) -> None:
        """One intent, durable on return."""
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute(self._insert, row).fetchall()
        self._database.execute("COMMIT")

    def close(self) -> None:
        """Close the database."""
        self._database.close()


async def time_each(work: Callable[[int], Awaitable[object]], numbers: range, into: list[float]) -> None:
    """Do `work` for each number and note how many milliseconds each took."""
    for number in numbers:
        start = time.perf_counter()
        await work(number)
        into.append((time.perf_counter() - start) * 1e3)


async def measure_intents(folder: Path, count: int) -> list[Row]:
    """Intents of both sides in turns."""
    journal = open_journal(folder / "ours.db", SystemClock())
    other = open_journal(folder / "bare.db", SystemClock())
    for each in (journal, other):  # makes the tables
        await each.commit(entries.open_intents())
    await other.close()
    bare, executor, loop = Bare(folder / "bare.db"), ThreadPoolExecutor(1), asyncio.get_running_loop()

    async def ours(number: int) -> None:
        action = make_action(number)
        await journal.intend(action, action.issued)

    async def theirs(number: int) -> None:
        row = tuple(to_row(make_action(number), time.time()).values())
        await loop.run_in_executor(executor, bare.intend, row)

    async def hop(_: int) -> None:
        await loop.run_in_executor(executor, abs, 1)

    async def inline(number: int) -> None:
        bare.intend(tuple(to_row(make_action(number), time.time()).values()))

    times: dict[str, list[float]] = {"journal": [], "sqlite3": [], "hop": [], "sqlite3 on the loop": []}
    for start in range(0, count, BLOCK):
        numbers = range(start, start + BLOCK)
        await time_each(ours, numbers, times["journal"])
        await time_each(theirs, numbers, times["sqlite3"])
        await time_each(hop, numbers, times["hop"])
        await time_each(inline, range(count + start, count + start + BLOCK), times["sqlite3 on the loop"])
    bare.close()
    executor.shutdown()
    await journal.close()
    return [summarise_intents(name, each, times["sqlite3"]) for name, each in times.items()]


def summarise_intents(name: str, times: list[float], baseline: list[float]) -> Row:
    """One side's row."""
    blocks = range(0, len(times), BLOCK)  # a block of one side against the block beside it: what else the machine does hits both
    ratio = statistics.median(statistics.median(times[at : at + BLOCK]) / statistics.median(baseline[at : at + BLOCK]) for at in blocks)
    ordered = sorted(times)
    row: Row = {
        "what": "intent",
        "who": name,
        "p50_ms": statistics.median(times),
        "p99_ms": ordered[len(ordered) * 99 // 100],
        "ratio": ratio,
    }
    return row | {"limit": MOST_RATIO, "within": ratio <= MOST_RATIO} if name == "journal" else row


async def measure_events(folder: Path, count: int) -> Row:
    """How many events a second are written, posted 5,000 at a time."""
    journal = open_journal(folder / "events.db", SystemClock())
    await journal.commit(entries.open_intents())
    start = time.perf_counter()
    for block in range(0, count, 5000):
        await post_events(journal, range(block, block + 5000))
    rate = count / (time.perf_counter() - start)
    await journal.close()
    return {"what": "events", "who": "journal", "per_second": rate, "limit": LEAST_EVENTS, "within": rate >= LEAST_EVENTS}


async def post_events(journal: Journal, numbers: range) -> None:
    """Post events and wait until they are written."""
    for number in numbers:
        journal.post(entries.record_event(make_event(number)))
    await journal.flush()


def show(rows: list[Row]) -> None:
    """Print the table."""
    for row in rows:
        cells = "  ".join(
            f"{name} {cell:.3f}" if isinstance(cell, float) else f"{name} {cell}"
            for name, cell in row.items()
            if name not in {"what", "who"}
        )
        print(f"{row['what']:8s} {row['who']:20s} {cells}")


def main() -> int:
    """Run both measurements; 1 when a budget is missed."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows for a program")
    parser.add_argument("--count", type=int, default=2000, help="intents of each side (default %(default)s)")
    parser.add_argument("--dir", type=Path, help="where the databases are made (default: the system's folder for temporary files)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.dir, prefix="journal-") as name:
        rows = asyncio.run(measure_intents(Path(name), asked.count))
        rows.append(asyncio.run(measure_events(Path(name), asked.count * 50)))
    machine: Row = {
        "cores": os.cpu_count() or 1,
        "version": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    if asked.json:
        print(json.dumps([row | machine for row in rows], indent=2))
    else:
        show(rows)
    return 0 if all(row.get("within", True) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

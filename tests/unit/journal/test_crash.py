"""`kill -9` of a process that writes intents: every one that was acknowledged is there afterwards."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from supernoded.journal import entries
from supernoded.journal.writer import open_journal
from tests.unit.journal.samples import SteppedClock

WRITER = """
import asyncio, itertools, sys
from pathlib import Path
from supernoded.journal import entries
from supernoded.journal.writer import open_journal
from tests.unit.journal.samples import SteppedClock, make_action, make_event, make_outcome

async def main():
    journal = open_journal(Path(sys.argv[1]), SteppedClock())
    running = asyncio.create_task(journal.run())
    for number in itertools.count():
        action = await journal.intend(make_action(f"i{number}"), 20.0)
        print("intended", action.id, flush=True)
        if number % 3 == 0:
            await journal.commit(entries.conclude(action, make_outcome(action)))
            print("concluded", action.id, flush=True)
        journal.post(entries.record_event(make_event(number)))

asyncio.run(main())
"""


@pytest.mark.parametrize("locked", [False, True], ids=["database", "spill file"])
async def test_no_acknowledged_intent_is_lost(locked: bool, tmp_path: Path, checkout: Path) -> None:
    path = tmp_path / "journal.db"
    if locked:
        journal = open_journal(path, SteppedClock())
        await journal.commit(entries.open_intents())
        await journal.close()
    other = sqlite3.connect(path, isolation_level=None)
    if locked:
        other.execute("BEGIN IMMEDIATE")
    said = (
        [line for lines in range(40, 160, 40) for line in kill_after(lines, path, checkout)]
        if not locked
        else kill_after(100, path, checkout)
    )
    other.close()
    journal = open_journal(path, SteppedClock())
    there = {action.id for action in await journal.commit(entries.open_intents())}
    intended = {id_ for verb, id_ in said if verb == "intended"}
    concluded = {id_ for verb, id_ in said if verb == "concluded"}
    assert len(concluded) > 10
    assert intended - concluded - there == set()
    assert concluded & there == set()
    for id_ in sorted(concluded):
        assert set(await journal.commit(entries.outcomes_of(id_.partition("/")[0]))) == {"shed"}
    await journal.close()


def kill_after(lines: int, path: Path, checkout: Path) -> list[tuple[str, str]]:
    """Run the writer, kill it once it has said so much, and return all that it said."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=checkout, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        said += writer.stdout.readlines()
    words = [line.split() for line in said if line.endswith("\n")]
    return [(verb, id_) for verb, id_ in words]

"""What keeps the journal in step with the rest of the house."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import msgspec
import pytest

from supernoded.journal import entries, queries
from supernoded.journal.retention import Limits, plan
from supernoded.journal.tables import metadata
from supernoded.journal.writer import open_journal
from tests.unit.journal.samples import SteppedClock, make_action, make_event, make_incident, make_outcome


def test_every_sentence_survives_the_spill_file() -> None:
    action = make_action()
    said: list[entries.Spillable] = [
        entries.open_incident(make_incident(), 0),
        entries.close_incident("i1", 2.0, "node", 0),
        entries.merge_incident("i1", "i2", 2.0, "node", 0),
        entries.widen_incident(make_incident(), 2.0, 0),
        entries.intend(action, 1.0),
        entries.conclude(action, make_outcome(action)),
    ]
    assert [msgspec.json.decode(msgspec.json.encode(each), type=entries.Spillable) for each in said] == said


def test_every_table_that_grows_is_bounded() -> None:
    few = {"counters": "nodes", "latches": "breakers", "leases": "roles", "memories": "rules", "modes": "policies"}
    bounded_elsewhere = few | {"outbox": "trim_messages"}
    cut = {each.table for each in plan(Limits(), 0.0)}
    assert cut | set(bounded_elsewhere) == set(metadata.tables)


async def test_no_thread_of_its_own_when_the_loop_runs_executors_inline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulated loop does so: whatever blocks goes through `run_in_executor`."""
    loop = asyncio.get_running_loop()
    used: list[str] = []

    def run_inline(executor: object, work: object, *arguments: object) -> asyncio.Future[object]:
        assert callable(work)
        used.append(threading.current_thread().name)
        future: asyncio.Future[object] = loop.create_future()
        try:
            future.set_result(work(*arguments))
        except Exception as error:  # noqa: BLE001 - what an executor does with any error of its work
            future.set_exception(error)
        return future

    monkeypatch.setattr(loop, "run_in_executor", run_inline)
    before = threading.active_count()
    journal = open_journal(tmp_path / "journal.db", SteppedClock())
    await journal.intend(make_action(), 20.0)
    journal.post(entries.record_event(make_event(1)))
    await journal.flush()
    assert len((await journal.commit(queries.events(queries.Filter()))).rows) == 1
    await journal.close()
    assert threading.active_count() == before
    assert len(used) == 4
    assert set(used) == {threading.main_thread().name}

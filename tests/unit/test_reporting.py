from __future__ import annotations

import asyncio
import logging

import msgspec
import pytest

from supernoded.cluster import topics
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.store import JournalStore
from supernoded.cluster.topics import EventTold, OutcomeTold
from supernoded.errors import JournalError
from supernoded.journal import entries
from supernoded.model import Action, Event, Incident, Outcome, Result, Severity, Step
from supernoded.reporting import Reporter
from tests.unit.casework import memory_journal
from tests.unit.worlds import LOG, LoopClock, run

EVENT = Event(
    id="e1", kind="link.ber", subject="n0/card0/port0", scope="node", raised=True, text="many errors", at=1.0, severity=Severity.CRITICAL
)
INCIDENT = Incident(
    id="i1", kind="link.ber", subject="n0/card0/port0", scope="node", opened=1.0, severity=Severity.CRITICAL, text="many errors"
)
STEP = Step(name="tell", kind="notify", target="n0/card0/port0", reason="reseat the optic")
ACTION = Action(id="i1/tell", step=STEP, incident="i1", scope="node", epoch=0, issued=1.0, deadline=9.0)
OUTCOME = Outcome(action="i1/tell", result=Result.DONE, text="seen", at=2.0)


def test_events_and_outcomes_are_put_into_the_outbox_beside_what_they_tell(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def main() -> None:
        journal = memory_journal()
        store = JournalStore(journal)
        outbox = Outbox(store, LoopClock(), LOG)
        reporter = Reporter("n0", "c0", "life", journal, outbox, LoopClock(), LOG)
        tasks = [asyncio.ensure_future(reporter.run()), asyncio.ensure_future(journal.run())]
        journal.post(entries.record_event(EVENT))
        reporter.event(EVENT)
        reporter.event(EVENT)  # at least once is told once
        reporter.action(ACTION, OUTCOME)
        await asyncio.sleep(1)
        assert outbox.waiting == 2
        event, outcome = await store.next_messages(9)
        assert event.topic == topics.event("c0", "n0")
        assert topics.decode(event.payload, EventTold).event == EVENT
        assert topics.decode(outcome.payload, OutcomeTold).outcome == OUTCOME
        for task in tasks:
            task.cancel()

    run(main())
    assert "link.ber raised: many errors" in caplog.text
    assert "notify on n0/card0/port0 done: seen (i1/tell)" in caplog.text


def test_the_life_of_an_incident_is_a_line_each(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def main() -> None:
        journal = memory_journal()
        reporter = Reporter("n0", "c0", "life", journal, Outbox(JournalStore(journal), LoopClock(), LOG), LoopClock(), LOG)
        reporter.incident(INCIDENT)
        reporter.incident(msgspec.structs.replace(INCIDENT, merged_into="i2"))
        reporter.incident(msgspec.structs.replace(INCIDENT, closed=5.0))
        reporter.action(ACTION, None)

    run(main())
    assert [record.getMessage() for record in caplog.records] == [
        "incident i1 open: many errors",
        "incident i1 merged into i2",
        "incident i1 closed: link.ber on n0/card0/port0",
        "would notify on n0/card0/port0: reseat the optic (i1/tell)",
    ]


def test_a_message_that_is_written_late_is_delivered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        journal = memory_journal()
        outbox = Outbox(JournalStore(journal), LoopClock(), LOG)
        reporter = Reporter("n0", "c0", "life", journal, outbox, LoopClock(), LOG)
        flush, tries = journal.flush, list[float]()

        async def fail_twice() -> None:
            tries.append(asyncio.get_running_loop().time())
            if len(tries) < 3:
                raise JournalError("the database is locked")
            await flush()

        monkeypatch.setattr(journal, "flush", fail_twice)
        task = asyncio.ensure_future(reporter.run())
        delivered = asyncio.ensure_future(outbox.next(9))
        await asyncio.sleep(0)
        reporter.event(EVENT)  # and nothing else ever
        assert [letter.id for letter in await asyncio.wait_for(delivered, 60)] == ["e1"]
        task.cancel()

    run(main())

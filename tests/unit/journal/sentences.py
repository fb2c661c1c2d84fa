"""What every sentence must do, on any database: `test_entries.py` asks SQLite, `tests/protocol/test_postgres.py` PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import msgspec
import pytest

from supernoded.errors import FencedError
from supernoded.journal import entries, queries, retention
from supernoded.journal.writer import Journal
from supernoded.model import Hold, Mode, Reading, Result, Said, Severity, State
from tests.unit.journal.samples import make_action, make_event, make_incident, make_outcome, take_lease

Check = Callable[[Journal], Awaitable[None]]
ROLE = "ring/backplane"
FAR = 4e9  # a time after any lease


async def an_open_incident_wins(journal: Journal) -> None:
    first = await journal.commit(entries.open_incident(make_incident(1), 0))
    again = await journal.commit(entries.open_incident(make_incident(2), 0))
    assert (first.id, again.id) == ("i1", "i1")
    await journal.commit(entries.close_incident("i1", 50.0, "node", 0))
    assert (await journal.commit(entries.open_incident(make_incident(2), 0))).id == "i2"
    assert [found.id for found in await journal.commit(entries.open_incidents())] == ["i2"]


async def a_closed_incident_stays_as_it_is(journal: Journal) -> None:
    await journal.commit(entries.open_incident(make_incident(1), 0))
    await journal.commit(entries.merge_incident("i1", "i9", 40.0, "node", 0))
    await journal.commit(entries.close_incident("i1", 50.0, "node", 0))
    found = await journal.commit(queries.incident("i1"))
    assert found is not None
    assert (found.closed, found.merged_into) == (40.0, "i9")
    assert [merged.id for merged in await journal.commit(queries.merged_into("i9"))] == ["i1"]
    assert await journal.commit(entries.open_incident(make_incident(1), 0)) == found


async def a_widened_incident_has_its_members(journal: Journal) -> None:
    incident = make_incident(1)
    await journal.commit(entries.open_incident(incident, 0))
    wide = msgspec.structs.replace(incident, members=("n0/card1", "n0/card\udcff"), severity=Severity.CRITICAL, text="a cable")
    await journal.commit(entries.widen_incident(wide, 11.0, 0))
    (found,) = await journal.commit(entries.open_incidents())
    assert (found.members, found.severity, found.text) == (("n0/card1", "n0/card?"), Severity.CRITICAL, "a cable")


async def an_old_intent_wins(journal: Journal) -> None:
    old = make_action(deadline=30.0)
    assert await journal.intend(old, 20.0) == old
    found = await journal.intend(make_action(deadline=99.0), 60.0)
    assert found.deadline == 30.0
    assert await journal.commit(entries.open_intents()) == [old]


async def the_first_outcome_stands(journal: Journal) -> None:
    action = make_action()
    await journal.intend(action, 20.0)
    await journal.commit(entries.conclude(action, make_outcome(action)))
    await journal.commit(entries.conclude(action, make_outcome(action, Result.EXPIRED, "late", 90.0)))
    assert await journal.commit(entries.outcomes_of("i1")) == {"shed": make_outcome(action)}
    assert await journal.commit(entries.open_intents()) == []


async def an_outcome_without_its_intent_is_kept(journal: Journal) -> None:
    action = make_action()
    await journal.commit(entries.conclude(action, make_outcome(action)))
    (deed,) = (await journal.commit(queries.actions(queries.Filter()))).rows
    assert (deed.action, deed.outcome) == (action, make_outcome(action))


async def awkward_texts_are_taken(journal: Journal) -> None:
    text = "nul \0, surrogate \udcff, \U0001f525, long " + "x" * 9000
    action = msgspec.structs.replace(make_action(), step=msgspec.structs.replace(make_action().step, reason=text))
    await journal.intend(action, 20.0)
    journal.post(entries.record_event(msgspec.structs.replace(make_event(1), text=text)))
    await journal.flush()
    (found,) = await journal.commit(entries.open_intents())
    (event,) = (await journal.commit(queries.events(queries.Filter()))).rows
    assert "\udcff" not in found.step.reason
    assert event.text.startswith("nul \N{REPLACEMENT CHARACTER}, surrogate ?, \U0001f525")
    assert len(event.text) == 4000


async def every_write_of_a_role_is_fenced(journal: Journal) -> None:
    action, incident = make_action(scope=ROLE, epoch=1), make_incident(scope=ROLE)
    lease = await journal.commit(take_lease(ROLE, "n0#1", 0.0, 1000.0))
    assert lease is not None
    assert lease.epoch == 1
    await journal.commit(entries.open_incident(incident, 1))
    await journal.intend(action, 20.0)
    newer = await journal.commit(take_lease(ROLE, "n0#2", 10.0, 1000.0))
    assert newer is not None
    assert newer.epoch == 2
    stale: list[entries.Spillable] = [
        entries.open_incident(make_incident(7, subject="n0/card7", scope=ROLE), 1),
        entries.close_incident("i1", 30.0, ROLE, 1),
        entries.widen_incident(incident, 30.0, 1),
        entries.intend(make_action("i7", scope=ROLE, epoch=1), 30.0),
        entries.conclude(action, make_outcome(action)),
    ]
    for sentence in stale:
        with pytest.raises(FencedError, match="epoch 1"):
            await journal.commit(sentence)
    assert [found.epoch for found in await journal.commit(entries.open_intents(ROLE))] == [1]
    renewed = await journal.intend(make_action(scope=ROLE, epoch=2), 40.0)
    assert (renewed.epoch, renewed.deadline) == (2, 30.0)
    assert len(await journal.commit(entries.open_incidents(ROLE))) == 1
    assert journal.health == ""


async def a_lease_is_held_by_one(journal: Journal) -> None:
    mine = await journal.commit(take_lease(ROLE, "n0#1", 100.0, 10.0))
    assert mine is not None
    assert await journal.commit(take_lease(ROLE, "n1#1", 105.0, 10.0)) is None
    again = await journal.commit(take_lease(ROLE, "n0#1", 106.0, 10.0))
    assert again is not None
    assert again.epoch == mine.epoch
    assert again.until > mine.until
    assert await journal.commit(entries.release_lease(ROLE, "n0#1", mine.epoch))
    assert not await journal.commit(entries.release_lease(ROLE, "n0#1", mine.epoch))
    other = await journal.commit(take_lease(ROLE, "n1#1", 107.0, 10.0))
    assert other is not None
    assert (other.holder, other.epoch) == ("n1#1", mine.epoch + 1)
    assert await journal.commit(entries.all_leases()) == [other]


async def a_seat_that_is_fixed_needs_no_lease(journal: Journal) -> None:
    await journal.intend(make_action(scope=ROLE, epoch=0), 20.0)
    with pytest.raises(FencedError, match="has no lease in this database"):
        await journal.intend(make_action("i2", scope=ROLE, epoch=3), 20.0)


async def states_are_kept(journal: Journal) -> None:
    journal.post(entries.save_memories("node", {"b": b"\x00new", "a": b"1"}, 20.0))
    journal.post(entries.save_memories("node", {"b": b"older"}, 10.0))
    await journal.flush()
    assert await journal.commit(entries.memories("node")) == {"a": b"1", "b": b"\x00new"}
    journal.post(entries.save_memories("node", {"b": b"after the clock was set back"}, -100.0))
    await journal.flush()
    assert (await journal.commit(entries.memories("node")))["b"] == b"after the clock was set back"
    hold = Hold(id="h1", subject="n0/card3", serial="SN3", reason="BER", owner="ops", placed=10.0, expires=100.0)
    lasting = msgspec.structs.replace(hold, id="h2", expires=None)
    await journal.commit(entries.keep_holds([(hold, False), (hold, False), (lasting, False)]))
    assert await journal.commit(entries.holds(0.0)) == [(hold, False), (lasting, False)]
    lifted = msgspec.structs.replace(lasting, lifted=60.0, lifted_by="ops")
    await journal.commit(entries.keep_holds([(lifted, True)]))
    await journal.commit(entries.keep_holds([(lasting, False)]))  # an older copy, and late
    assert await journal.commit(entries.holds(50.0)) == [(hold, False), (lifted, True)]
    assert await journal.commit(entries.holds(70.0)) == [(hold, False)]
    await journal.commit(entries.set_mode("thermal", Mode.ADVISE, "ops", 1.0))
    await journal.commit(entries.set_mode("thermal", Mode.ACT, "ops", 2.0))
    assert await journal.commit(entries.modes()) == [Said(policy="thermal", mode=Mode.ACT, by="ops", at=2.0)]


async def the_outbox_is_in_order_and_bounded(journal: Journal) -> None:
    parcels = [entries.Letter(id=f"m{n}", topic="t", payload=b"\xff\x00", at=1.0, critical=n == 0) for n in range(5)]
    assert [await journal.commit(entries.put_message(letter)) for letter in (*parcels, parcels[0])] == [True] * 5 + [False]
    assert await journal.commit(entries.next_messages(2)) == parcels[:2]
    assert await journal.commit(entries.delete_messages(["m1", "m9"])) == 1
    assert await journal.commit(entries.trim_messages(2)) == 2
    assert [letter.id for letter in await journal.commit(entries.next_messages(9))] == ["m0", "m4"]
    assert await journal.commit(entries.count_messages()) == 2


async def questions_are_answered(journal: Journal) -> None:
    readings = [
        Reading(subject=f"n0/card{n}", quantity="card.health", value=value, unit="flags", at=float(n), state=State.GOOD)
        for n, value in enumerate([1.5, "warm", frozenset({"b", "a"}), None, float("inf")])
    ]
    journal.post(entries.store_readings(readings))
    for n in range(6):
        journal.post(entries.record_event(make_event(n, subject=f"n0/card{n}")))
    journal.post(entries.rehearse(make_action("i5")))
    journal.post(entries.rehearse(make_action("i5")))
    journal.post(entries.record_request(5.0, 1000, 42, "mode", "thermal act", "done"))
    journal.post(entries.record_engagement("cdu0", "cdu/0", 5.0, "engaged", "at 22.0 C"))
    await journal.flush()
    stored = await journal.commit(queries.readings(queries.Filter(kind="card.health")))
    assert [reading.value for reading in stored.rows] == ["inf", None, frozenset({"a", "b"}), "warm", 1.5]
    newest = await journal.commit(queries.events(queries.Filter(limit=2, since=1.0, until=4.0)))
    assert ([event.id for event in newest.rows], newest.left_off) == (["e4", "e3"], 2)
    some = await journal.commit(queries.events(queries.Filter(subject="n0/card[12]")))
    assert [event.id for event in some.rows] == ["e2", "e1"]
    assert (await journal.commit(queries.events(queries.Filter(subject="N0/%")))).rows == ()
    would = await journal.commit(queries.rehearsals(queries.Filter(policy="power", subject="pdu/*")))
    assert [(deed.action.id, deed.rehearsed) for deed in would.rows] == [("i5/shed", True)]
    assert await journal.commit(queries.first_rehearsal("power")) == 20.0
    assert queries.key_of(newest.rows[0]) == "events/e4"
    assert await journal.commit(queries.verify()) == []
    assert await journal.size() > 0


# Placed as long ago as the one that stands. An old copy of one that was lifted just now must find that it was.
HOLDS_OVER: Mapping[str, dict[str, float]] = {"just-lifted": {"lifted": 990.0}, "lifted": {"lifted": 20.0}, "expired": {"expires": 30.0}}


async def retention_spares_what_is_open(journal: Journal) -> None:
    await journal.commit(entries.open_incident(make_incident(1), 0))
    await journal.commit(entries.open_incident(make_incident(2, subject="n0/card4"), 0))
    await journal.commit(entries.close_incident("i2", 30.0, "node", 0))
    for action in (make_action("i1"), make_action("i2"), make_action("i2", "open")):
        await journal.intend(action, 20.0)
    for action in (make_action("i1"), make_action("i2")):
        await journal.commit(entries.conclude(action, make_outcome(action)))
    readings = [Reading(subject="n0", quantity="host.load", value=1.0, unit="1", at=float(at)) for at in (1, 2, 900, 901, 902)]
    journal.post(entries.store_readings(readings))
    for at in (1.0, 2.0, 900.0, 901.0):
        journal.post(entries.record_event(make_event(int(at), at=at)))
    hold = Hold(id="h1", subject="n0", serial="", reason="r", owner="p", placed=1.0)
    over = [msgspec.structs.replace(hold, id=id_, **more) for id_, more in HOLDS_OVER.items()]
    await journal.commit(entries.keep_holds([(hold, True), *((one, True) for one in over)]))
    await journal.flush()
    few = retention.READING_BYTES * 2
    limits = retention.Limits(readings=500.0, readings_bytes=few, events=500.0, events_rows=1, incidents=500.0)
    gone: dict[str, int] = {}
    for loose in retention.plan(limits, 1000.0):
        cut = await journal.commit(retention.tighten(loose))
        while count := await journal.commit(retention.delete_chunk(cut, 1)):
            gone[cut.table] = gone.get(cut.table, 0) + count
    assert gone == {"readings": 3, "events": 3, "actions": 1, "incidents": 1, "holds": 2}
    assert [kept.id for kept, _ in await journal.commit(entries.holds(0.0))] == ["h1", "just-lifted"]
    assert [incident.id for incident in await journal.commit(entries.open_incidents())] == ["i1"]
    assert set(await journal.commit(entries.outcomes_of("i1"))) == {"shed"}
    assert [action.id for action in await journal.commit(entries.open_intents())] == ["i2/open"]


CHECKS: tuple[Check, ...] = (
    an_open_incident_wins,
    a_closed_incident_stays_as_it_is,
    a_widened_incident_has_its_members,
    an_old_intent_wins,
    the_first_outcome_stands,
    an_outcome_without_its_intent_is_kept,
    awkward_texts_are_taken,
    every_write_of_a_role_is_fenced,
    a_lease_is_held_by_one,
    a_seat_that_is_fixed_needs_no_lease,
    states_are_kept,
    the_outbox_is_in_order_and_bounded,
    questions_are_answered,
    retention_spares_what_is_open,
)

"""What one scope takes up from an earlier life, what it writes, and what it says of parts that cannot work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
import pytest
from sqlalchemy import select

from supernoded.duty import Duty
from supernoded.guards import Tally
from supernoded.journal import entries
from supernoded.journal.rows import Question
from supernoded.journal.tables import engagements
from supernoded.model import NODE, Action, Effect, Mode, Outcome, Result, Said, Setpoint, Sight, Step
from supernoded.reading import make_reading
from supernoded.registry import Parts
from tests.unit.casework import memory_journal, now
from tests.unit.duties import Counter, Ear, make_means
from tests.unit.worlds import run


@dataclass(frozen=True)
class Turn:
    """A loop that is never asked."""

    name: str = "turn"
    scope: str = NODE
    watches: Mapping[str, float] = field(default_factory=dict)
    period: float = 1.0
    target: str = "cdu/0/valve"

    def start(self, now_at: object) -> None: ...

    def steer(self, seen: object, memory: None) -> tuple[None, None]:
        return None, None


@dataclass(frozen=True)
class Valve:
    """A device that can always be read."""

    target: str = "cdu/0/valve"
    quantity: str = "coolant.valve"

    async def now_at(self) -> Setpoint:
        return Setpoint(target=self.target, quantity=self.quantity, value=30.0, unit="%")

    async def put(self, setpoint: Setpoint, scope: str) -> None: ...

    async def hand_back(self, scope: str) -> Sight:
        return Sight(effect=Effect.PRESENT)


def action(ident: str) -> Action:
    step = Step(name="step", kind="card.isolate", target="n0/card3", reason="because")
    return Action(id=ident, step=step, incident="i1", scope=NODE, epoch=0, issued=now(), deadline=now() + 10)


@pytest.mark.parametrize(("result", "counts"), [(Result.DONE, True), (Result.UNCONFIRMED, True), (Result.REFUSED, False)])
def test_a_restart_forgets_no_attempt(result: Result, counts: bool) -> None:
    async def main() -> None:
        journal = memory_journal()
        done = await journal.intend(action("i1/step"), now())
        await journal.commit(entries.conclude(done, Outcome(action=done.id, result=result, text="", at=now())))
        tally = Tally(per_minute=100, attempts=1)
        await Duty(NODE, 0, make_means(Parts(), tally), journal, journal).take_up()
        assert (tally.guard(action("i2/step"), now()) is not None) is counts

    run(main())


def test_what_another_scope_has_done_is_counted_by_that_one() -> None:
    """A database has the actions of all roles, whoever held them."""

    async def main() -> None:
        journal = memory_journal()
        done = await journal.intend(action("i1/step"), now())
        await journal.commit(entries.conclude(done, Outcome(action=done.id, result=Result.DONE, text="", at=now())))
        tally = Tally(per_minute=100, attempts=1)
        await Duty("spares", 0, make_means(Parts(), tally), journal, journal).take_up()
        assert tally.guard(action("i2/step"), now()) is None

    run(main())


def test_a_loop_without_its_handle_is_named() -> None:
    async def main() -> None:
        means = make_means(Parts(loops=[Turn()]), Tally(1, 1))
        journal = memory_journal()
        assert Duty(NODE, 0, means, journal, journal).steerings == []
        (trouble,) = means.health.troubles()
        assert (trouble.name, trouble.text) == ("loop turn", "does not steer: no plugin hands in a handle for cdu/0/valve")

    run(main())


def test_what_is_not_held_any_more_is_not_written_over() -> None:
    """A process that stood still beyond its lease leaves the memories of the next holder alone."""

    async def main() -> None:
        journal, lost = memory_journal(), list[str]()
        means = make_means(Parts(rules=[Counter("cdu/0")]), held=lambda _: lost[0] if lost else None)
        duty = Duty("cdu/0", 3, means, journal, journal)
        for value in (1.0, 2.0):
            duty.take([make_reading("pdu/A1", "pdu.armed", value, "1", now())], 5.0)
            duty.snapshot()
            lost.append("n1 has it")
        await journal.flush()
        kept = await journal.ask(entries.memories("cdu/0"))
        assert msgspec.json.decode(kept["test.counted"])["count"] == 1
        await journal.close()

    run(main())


def test_how_a_loop_fares_is_written_by_the_node_itself_whatever_its_scope() -> None:
    async def main() -> None:
        own, database = memory_journal(), memory_journal()
        parts = Parts(loops=[Turn(scope="cdu/0")], handles={"cdu/0/valve": Valve()}, owners={"loop turn": "thermal"})
        means = make_means(parts)
        means.modes.say(Said(policy="thermal", mode=Mode.ACT, by="a test", at=0.0))
        (steering,) = Duty("cdu/0", 3, means, database, own).steerings
        running = asyncio.create_task(steering.run())
        await asyncio.sleep(2.0)
        running.cancel()
        await asyncio.wait([running])
        for journal, told in ((own, ["engaged", "disengaged"]), (database, [])):
            await journal.flush()
            rows = await journal.ask(Question(lambda connection: connection.execute(select(engagements.c.what)).all()))
            assert [what for (what,) in rows] == told
            await journal.close()

    run(main())


def test_what_people_are_shown_of_coolant_is_kept_for_ten_minutes_however_little_the_rules_want() -> None:
    async def main() -> None:
        ear = Ear("cdu/0", watches={"coolant.flow": 5.0, "pdu.armed": 5.0})
        means, journal = make_means(Parts(rules=[ear]), Tally(1, 1)), memory_journal()
        duty = Duty("cdu/0", 0, means, journal, journal)
        for at in (0.0, 500.0):
            duty.take([make_reading("cdu/0", "coolant.flow", 800.0, "L/min", at), make_reading("pdu/A1", "pdu.armed", 1.0, "1", at)], 5.0)
        kept = {(reading.quantity, reading.at) for reading in duty.history.everything()}
        assert kept == {("coolant.flow", 0.0), ("coolant.flow", 500.0), ("pdu.armed", 500.0)}
        assert duty.watched == {"coolant.flow", "pdu.armed"}
        await journal.close()

    run(main())

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from supernoded.errors import PluginError
from supernoded.history import History
from supernoded.journal import entries, queries
from supernoded.model import Action, Level, Mode, Reading, Said, Step
from supernoded.parts import Case, World
from tests.unit.casework import Device, Office, Steps, now
from tests.unit.journal.samples import take_lease
from tests.unit.worlds import run


@dataclass
class SlowFor(Device):
    """A device that takes its time for one kind."""

    kind: str = ""
    seconds: float = 0.0

    def __init__(self, kind: str, seconds: float) -> None:
        super().__init__()
        self.kind, self.seconds = kind, seconds

    async def apply(self, action: Action) -> None:
        await super().apply(action)
        if action.step.kind == self.kind:
            self.shows_at[action.id] = max(self.shows_at[action.id], action.issued + self.seconds)


def work(scene: Callable[[Office], Awaitable[None]], office: Callable[[], Office] = Office) -> Office:
    """Play a scene while the cases are worked."""

    async def main() -> Office:
        made = office()
        tasks = [asyncio.ensure_future(made.cases.run()), asyncio.ensure_future(made.journal.run())]
        await asyncio.sleep(0)
        await scene(made)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return made

    return run(main())


def test_steps_are_performed_in_order_and_the_incident_closes_when_its_cause_is_clear() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(5)
        assert office.results() == [("notify", "done"), ("card.isolate", "done")]
        assert office.ledger.open != []  # no steps left is not the end of the trouble
        office.say(Level.CLEAR)
        await asyncio.sleep(59)
        assert office.ledger.open != []
        await asyncio.sleep(2)
        assert office.ledger.open == []
        assert await office.journal.commit(entries.open_incidents()) == []

    office = work(scene)
    assert set(office.device.performed.values()) == {1}


def test_a_step_after_the_trouble_is_over_comes_before_the_close() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(2)
        office.say(Level.CLEAR)
        await asyncio.sleep(2)
        assert office.results() == [("notify", "done"), ("job.checkpoint", "done")]

    work(scene, lambda: Office(remedy=Steps(("notify",), afterwards="job.checkpoint")))


def test_observe_rehearses_once_and_writes_to_no_device() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(30)
        assert office.results() == [("notify", "would"), ("card.isolate", "would")]
        assert office.device.performed == {}
        office.modes.say(Said(policy="isolation", mode=Mode.ACT, by="alice", at=0.0))
        await asyncio.sleep(5)
        assert office.results()[2:] == [("notify", "done"), ("card.isolate", "done")]

    work(scene, lambda: Office(mode=Mode.OBSERVE))


def test_advise_notifies_of_what_would_be_done_and_does_nothing_else() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(30)
        assert [a.step.kind for a, outcome in office.witness.actions if outcome is not None] == ["notify"]
        (notice,) = [a for a, outcome in office.witness.actions if outcome is not None]
        assert "card.isolate on n0/card3 (because)" in notice.step.reason

    office = work(scene, lambda: Office(mode=Mode.ADVISE))
    assert len(office.device.performed) == 1


def test_a_remedy_that_asks_for_a_step_again_is_named_and_does_not_loop() -> None:
    class Stubborn(Steps):
        def next(self, case: Case, world: World, at: float) -> Step | None:
            return self._step("notify", case)

    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(10)
        assert office.results() == [("notify", "done")]
        assert "asks again for step 'notify'" in office.health.troubles()[0].text

    work(scene, lambda: Office(remedy=Stubborn()))


def test_a_remedy_that_raises_costs_its_own_incident_only() -> None:
    class Broken(Steps):
        def next(self, case: Case, world: World, at: float) -> Step | None:
            raise ZeroDivisionError("oops")

    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(10)
        assert office.health.troubles()[0].text == "cannot say the next step: ZeroDivisionError: oops"
        assert office.ledger.open != []

    work(scene, lambda: Office(remedy=Broken()))


@dataclass(frozen=True)
class Watcher(Steps):
    """Orders two things at once, and a third as soon as the first is done, whatever the second does; looks at what was read."""

    asked: list[Case] = field(default_factory=list)
    watches: Mapping[str, float] = field(default_factory=lambda: {"ups.status": 60.0})

    def next(self, case: Case, world: World, at: float) -> Step | Sequence[Step] | None:
        self.asked.append(case)
        wanted = ["notify", "card.isolate", *(["job.checkpoint"] if "notify" in case.done else [])]
        return [self._step(kind, case) for kind in wanted if kind not in case.done]


def test_steps_asked_for_together_are_performed_side_by_side_and_none_twice() -> None:
    remedy = Watcher()
    slow = SlowFor("card.isolate", 6.0)

    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(3)
        assert office.results() == [("notify", "done"), ("job.checkpoint", "done")]  # the slow one holds up neither
        await asyncio.sleep(5)
        assert office.results()[2:] == [("card.isolate", "done")]

    office = work(scene, lambda: Office(device=slow, remedy=remedy))
    assert set(office.device.performed.values()) == {1}
    assert frozenset({"card.isolate"}) in {case.running for case in remedy.asked}


def test_an_incident_is_not_closed_while_a_step_is_under_way() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(1)
        office.say(Level.CLEAR)
        await asyncio.sleep(70)
        assert office.ledger.open != []
        await asyncio.sleep(20)
        assert office.ledger.open == []
        assert office.results()[-1] == ("card.isolate", "done")

    work(scene, lambda: Office(device=SlowFor("card.isolate", 80.0), remedy=Watcher(patience=100.0)))


def test_a_remedy_that_watches_sees_what_its_scope_has_read() -> None:
    history = History({"ups.status": 60.0})
    remedy = Watcher()

    async def scene(office: Office) -> None:
        flags = frozenset({"ob"})
        history.add([Reading(subject="ups/A", quantity="ups.status", value=flags, unit="flags", at=now())], 5.0)
        office.say(Level.RAISED)
        await asyncio.sleep(2)

    work(scene, lambda: Office(remedy=remedy, look=lambda watches: history.view(now(), watches)))
    assert {case.seen.flags("ups.status", "ups/A") for case in remedy.asked} == {frozenset({"ob"})}
    with pytest.raises(PluginError, match="not watched"):
        remedy.asked[0].seen.flags("ups.charge", "ups/A")


def test_several_steps_are_rehearsed_together() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(5)
        assert office.results() == [("notify", "would"), ("card.isolate", "would"), ("job.checkpoint", "would")]
        assert office.device.performed == {}

    work(scene, lambda: Office(mode=Mode.OBSERVE, remedy=Watcher()))


def test_all_that_an_earlier_life_left_open_comes_to_its_outcome_side_by_side() -> None:
    device = Device(takes=4.0)

    async def main() -> None:
        office = Office(device=device, remedy=Watcher())
        tasks = [asyncio.ensure_future(office.cases.run()), asyncio.ensure_future(office.journal.run())]
        office.say(Level.RAISED)
        await asyncio.sleep(0.1)  # both orders are out; of none is the outcome written
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        again = office.later()
        again.ledger.restore(await office.journal.commit(entries.open_incidents()), now())
        task = asyncio.ensure_future(again.cases.run())
        await asyncio.sleep(20)
        task.cancel()
        assert sorted(again.results()[:2]) == [("card.isolate", "done"), ("notify", "done")]
        assert again.results()[2:] == [("job.checkpoint", "done")]
        assert set(device.performed.values()) == {1}

    run(main())


def test_a_later_life_goes_on_where_the_earlier_one_was_killed() -> None:
    device = Device(takes=4.0)

    async def first(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(2)  # the first order is out, its effect not yet seen

    async def main() -> None:
        office = Office(device=device)
        tasks = [asyncio.ensure_future(office.cases.run()), asyncio.ensure_future(office.journal.run())]
        await first(office)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        left = await office.journal.commit(entries.open_incidents())
        assert len(left) == 1
        again = office.later()
        again.ledger.restore(left, now())
        task = asyncio.ensure_future(again.cases.run())
        await asyncio.sleep(20)
        task.cancel()
        assert again.results() == [("notify", "done"), ("card.isolate", "done")]
        assert list(device.performed.values()) == [1, 1]

    run(main())


def test_the_next_holder_of_a_role_writes_down_what_came_of_an_order_of_the_one_before() -> None:
    device = Device(takes=4.0)

    async def main() -> None:
        office = Office(device=device, scope="spares", epoch=1)
        await office.journal.commit(take_lease("spares", "n1#1", now(), 60.0))
        tasks = [asyncio.ensure_future(office.cases.run()), asyncio.ensure_future(office.journal.run())]
        office.say(Level.RAISED)
        await asyncio.sleep(2)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await office.journal.commit(entries.release_lease("spares", "n1#1", 1))
        lease = await office.journal.commit(take_lease("spares", "n2#1", now(), 60.0))
        assert lease is not None
        again = Office(device, scope="spares", epoch=lease.epoch, journal=office.journal)
        again.ledger.restore(await office.journal.commit(entries.open_incidents("spares")), now())
        task = asyncio.ensure_future(again.cases.run())
        await asyncio.sleep(20)
        assert not task.done()
        task.cancel()
        assert lease.epoch == 2
        assert again.results() == [("notify", "done"), ("card.isolate", "done")]
        assert list(device.performed.values()) == [1, 1]

    run(main())


def test_the_same_trouble_in_a_later_life_is_the_same_incident_even_if_it_could_not_be_restored() -> None:
    async def main() -> None:
        office = Office()
        task = asyncio.ensure_future(office.cases.run())
        await asyncio.sleep(0)
        office.say(Level.RAISED)
        await asyncio.sleep(5)
        task.cancel()
        again = office.later()  # its ledger knows nothing
        task = asyncio.ensure_future(again.cases.run())
        await asyncio.sleep(1)
        again.say(Level.RAISED)
        await asyncio.sleep(5)
        task.cancel()
        assert [i.id for i in again.ledger.open] == [i.id for i in office.ledger.open]
        assert list(office.device.performed.values()) == [1, 1]

    run(main())


def test_what_shares_a_thing_is_worked_as_one_and_stays_so_in_a_later_life() -> None:
    async def main() -> None:
        office = Office(remedy=Steps(("notify",)), shared=("cdu/0",))
        tasks = [asyncio.ensure_future(office.cases.run()), asyncio.ensure_future(office.journal.run())]
        await asyncio.sleep(0)
        for subject in ("n0/card1", "n0/card2"):
            office.say(Level.RAISED, subject)
        await asyncio.sleep(0.2)  # long enough for the shared one to be begun, killed before anything lingers
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        left = await office.journal.commit(entries.open_incidents())
        assert [(i.subject, i.members) for i in left] == [("cdu/0", ("n0/card1", "n0/card2"))]
        again = office.later()
        again.ledger.restore(left, now())
        task = asyncio.ensure_future(again.cases.run())
        await asyncio.sleep(1)
        for subject in ("n0/card1", "n0/card2"):
            again.say(Level.RAISED, subject)
        await asyncio.sleep(5)
        task.cancel()
        assert [i.subject for i in again.ledger.open] == ["cdu/0"]
        assert list(office.device.performed.values()) == [1]

    run(main())


SEVEN: Any = 7  # where it does not belong


class Odd(Steps):
    """Hands in whatever `what` says."""

    what: object = None

    def next(self, case: Case, world: World, at: float) -> Any:
        return self.what


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("notify", "'notify' where a Step is due"),
        (Step(name="s", kind="notify", target="n0", reason="", patience=math.inf), "the patience of step s is inf"),
        (Step(name="s", kind="notify", target="n0", reason="", amount=math.nan), "the amount of step s is nan"),
        (Step(name="s" * 300, kind="notify", target="n0", reason=""), "1 to 200 printable characters"),
        (Step(name="", kind="notify", target="n0", reason=""), "1 to 200 printable characters"),
        (Step(name="s", kind="notify", target="n0", reason=SEVEN), "no Step: Expected `str`"),
    ],
)
def test_a_step_that_could_not_be_written_or_would_never_end_is_refused_by_name(what: object, says: str) -> None:
    class Handing(Odd):
        pass

    Handing.what = what

    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(5)
        assert says in office.health.troubles()[0].text
        assert await office.journal.commit(entries.open_intents()) == []

    work(scene, lambda: Office(remedy=Handing()))


@pytest.mark.parametrize("patience", [0.0, -5.0])
def test_a_step_without_patience_comes_to_its_end(patience: float) -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(5)
        assert office.results() == [("notify", "expired"), ("card.isolate", "expired")]

    assert work(scene, lambda: Office(remedy=Steps(patience=patience))).device.performed == {}


def test_advice_is_given_once_also_over_a_restart() -> None:
    async def main() -> None:
        office = Office(mode=Mode.ADVISE)
        for _ in range(3):
            task = asyncio.ensure_future(office.cases.run())
            await asyncio.sleep(0)
            office.say(Level.RAISED)
            await asyncio.sleep(5)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            office = office.later()
            office.ledger.restore(await office.journal.commit(entries.open_incidents()), now())
        assert list(office.device.performed.values()) == [1]

    run(main())


def test_leaving_act_rehearses_only_what_is_left_to_do() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(1)  # the first step is under way
        office.modes.say(Said(policy="isolation", mode=Mode.OBSERVE, by="alice", at=0.0))
        await asyncio.sleep(20)
        assert office.results() == [("notify", "done"), ("card.isolate", "would")]

    office = work(scene, lambda: Office(device=Device(takes=2.0)))
    assert len(office.device.performed) == 1


async def stop(*tasks: asyncio.Future[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_a_second_wave_has_one_worker_and_one_row() -> None:
    async def main() -> None:
        office = Office(remedy=Steps(("notify",)), shared=("n0",))
        tasks = [asyncio.ensure_future(office.cases.run()), asyncio.ensure_future(office.journal.run())]
        await asyncio.sleep(0)
        for pair in (("n0/card1", "n0/card2"), ("n0/card3", "n0/card4")):
            for subject in pair:
                office.say(Level.RAISED, subject)
                await asyncio.sleep(5)  # each is worked on its own for a while
            await asyncio.sleep(40)
        await stop(*tasks)
        (left,) = await office.journal.commit(entries.open_incidents())
        assert left.members == ("n0/card1", "n0/card2", "n0/card3", "n0/card4")
        assert len(await office.journal.commit(queries.merged_into(left.id))) == 4
        assert office.device.performed[f"{left.id}/notify"] == 1

    run(main())


def test_what_is_merged_before_the_cases_run_is_not_left_open_for_a_later_life() -> None:
    async def main() -> None:
        office = Office(remedy=Steps(("notify",)), shared=("cdu/0",))
        for subject in ("n0/card1", "n0/card2"):
            office.say(Level.RAISED, subject)
        tasks = [asyncio.ensure_future(office.cases.run()), asyncio.ensure_future(office.journal.run())]
        await asyncio.sleep(5)
        await stop(*tasks)
        assert [i.subject for i in await office.journal.commit(entries.open_incidents())] == ["cdu/0"]

    run(main())


def test_cases_that_begin_anew_after_a_fault_are_all_worked_again() -> None:
    async def main() -> None:
        office = Office(remedy=Steps(("notify",), afterwards="job.checkpoint"))
        first = asyncio.ensure_future(office.cases.run())
        await asyncio.sleep(0)
        office.say(Level.RAISED)
        await asyncio.sleep(5)
        await stop(first)
        second = asyncio.ensure_future(office.cases.run())
        office.say(Level.CLEAR)
        await asyncio.sleep(90)
        assert office.results()[-1] == ("job.checkpoint", "done")
        assert office.ledger.open == []
        await stop(second)

    run(main())


def test_an_incident_that_nobody_judges_any_more_closes_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.incidents.FORGET_AFTER", 100.0)

    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(99)
        assert office.ledger.open != []
        await asyncio.sleep(10)
        assert office.ledger.open == []
        (stored,) = (await office.journal.commit(queries.incidents(queries.Filter()))).rows
        assert stored.closed is not None
        assert stored.text.endswith("Closed without having been seen clear: no rule has judged it for 7 days")

    work(scene, lambda: Office(remedy=Steps(("notify",))))


def test_what_was_done_and_may_not_be_undone_keeps_its_incident_open_till_the_policy_acts_again() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(2)
        office.modes.say(Said(policy="isolation", mode=Mode.OBSERVE, by="alice", at=0.0))
        office.say(Level.CLEAR)
        await asyncio.sleep(300)
        assert office.results() == [("card.isolate", "done"), ("job.checkpoint", "would")]
        assert office.ledger.open != []
        office.modes.say(Said(policy="isolation", mode=Mode.ACT, by="alice", at=0.0))
        await asyncio.sleep(5)
        assert office.results()[2:] == [("job.checkpoint", "done")]
        assert office.ledger.open == []

    work(scene, lambda: Office(remedy=Steps(("card.isolate",), afterwards="job.checkpoint")))


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.ADVISE])
def test_what_was_only_rehearsed_leaves_nothing_to_undo(mode: Mode) -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(2)
        office.say(Level.CLEAR)
        await asyncio.sleep(100)
        assert office.ledger.open == []

    work(scene, lambda: Office(mode=mode, remedy=Steps(("card.isolate",), afterwards="job.checkpoint")))


@dataclass(frozen=True)
class Patient(Steps):
    """Keeps its incident open till a moment."""

    until: float = 200.0

    def keeps_open(self, case: Case, world: World) -> bool:
        del case, world
        return asyncio.get_running_loop().time() < self.until


def test_a_remedy_that_has_more_to_undo_later_keeps_its_incident_open() -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(2)
        office.say(Level.CLEAR)
        await asyncio.sleep(150)
        assert office.ledger.open != []
        await asyncio.sleep(100)
        assert office.ledger.open == []

    work(scene, lambda: Office(remedy=Patient(("notify",))))


def test_it_does_so_too_while_its_policy_may_not_act() -> None:
    """A card on probation wants no step for minutes: closed meanwhile, nobody would ever lift its hold."""

    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(2)
        office.modes.say(Said(policy="isolation", mode=Mode.OBSERVE, by="alice", at=0.0))
        office.say(Level.CLEAR)
        await asyncio.sleep(150)
        assert office.ledger.open != []
        await asyncio.sleep(100)
        assert office.ledger.open == []

    work(scene, lambda: Office(remedy=Patient(("notify",))))


@pytest.mark.parametrize(("kinds", "subjects"), [(("notify", "card.isolate"), ["n0/card3", "cdu/0"]), (("notify",), ["cdu/0"])])
def test_a_card_that_was_taken_out_keeps_its_own_case(kinds: tuple[str, ...], subjects: list[str]) -> None:
    async def scene(office: Office) -> None:
        office.say(Level.RAISED)
        await asyncio.sleep(5)
        office.say(Level.RAISED, "n0/card4")
        await asyncio.sleep(1)
        assert [incident.subject for incident in office.ledger.open] == subjects

    work(scene, lambda: Office(shared=("cdu/0",), remedy=Steps(kinds=kinds)))

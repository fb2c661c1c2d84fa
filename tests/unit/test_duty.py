"""What one scope takes up from an earlier life, and what it says of parts that cannot work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from supernoded.cluster.digests import Speaker
from supernoded.cluster.session import Session
from supernoded.daemon import connect_duties
from supernoded.duty import Duty, Means
from supernoded.guards import Tally
from supernoded.history import View
from supernoded.journal import entries
from supernoded.model import NODE, Action, Outcome, Result, Step, Verdict
from supernoded.modes import Modes
from supernoded.parts import World
from supernoded.reading import make_reading
from supernoded.registry import Parts
from supernoded.settings import default_settings
from tests.unit.casework import Witness, memory_journal, now
from tests.unit.worlds import LOG, LoopClock, health, run


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


@dataclass
class Ear:
    """A rule that notes how often it is asked, and what it then sees."""

    scope: str
    kind: str = "test.heard"
    watches: Mapping[str, float] = field(default_factory=lambda: {"pdu.armed": 60.0})
    heard: list[tuple[str, ...]] = field(default_factory=list)

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        self.heard.append(tuple(seen.subjects("pdu.armed")))
        return memory, ()


def make_means(parts: Parts, tally: Tally) -> Means:
    settings = default_settings()
    return Means(
        settings=settings,
        topology=settings.topology,
        parts=parts,
        clock=LoopClock(),
        health=health(),
        modes=Modes(settings.mode, {}),
        guards=(),
        tally=tally,
        teller=Witness(),
        world=lambda: World(topology=settings.topology),
        held=lambda _: None,
        log=LOG,
    )


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


def test_a_loop_without_its_handle_is_named() -> None:
    async def main() -> None:
        means = make_means(Parts(loops=[Turn()]), Tally(1, 1))
        journal = memory_journal()
        assert Duty(NODE, 0, means, journal, journal).steerings == []
        (trouble,) = means.health.troubles()
        assert (trouble.name, trouble.text) == ("loop turn", "does not steer: no plugin hands in a handle for cdu/0/valve")

    run(main())


def test_a_role_hears_once_what_another_scope_reads_and_the_node_does_not() -> None:
    async def main() -> None:
        scopes = (NODE, "feed/A", "power/site")
        ears = {scope: Ear(scope) for scope in scopes}
        means, journal = make_means(Parts(rules=list(ears.values())), Tally(1, 1)), memory_journal()
        node, feed, power = (Duty(scope, 0, means, journal, journal) for scope in scopes)
        connect_duties(means.settings, node, (feed, power), cast("Session", None), cast("Speaker", None), frozenset(), means.clock)
        feed.take([make_reading("pdu/A1", "pdu.armed", 1.0, "1", now())], 5.0)
        assert {scope: ear.heard for scope, ear in ears.items()} == {NODE: [], "feed/A": [("pdu/A1",)], "power/site": [("pdu/A1",)]}
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

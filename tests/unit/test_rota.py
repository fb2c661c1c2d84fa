"""Duties begin with their seats and end with them, and hear of each other meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from supernoded.cluster.roles.seats import FixedSeats, Tenure
from supernoded.history import View
from supernoded.journal import entries
from supernoded.journal.entries import Bid
from supernoded.journal.writer import Journal
from supernoded.model import NODE, Level, Reading, Verdict
from supernoded.reading import make_reading
from supernoded.registry import Parts
from supernoded.rota import Rota
from tests.unit.casework import memory_journal, now
from tests.unit.duties import Counter, Ear, make_means
from tests.unit.worlds import run


class Seats(FixedSeats):
    """Seats that are given and taken by hand."""

    def __init__(self) -> None:
        super().__init__("n0", {})
        self.given: dict[str, int] = {}
        self.stepped: list[tuple[str, int, str]] = []

    @property
    def tenures(self) -> list[Tenure]:
        return [Tenure(role=role, epoch=epoch, since=0.0, until=now() + 9.0) for role, epoch in sorted(self.given.items())]

    def give(self, **roles: int) -> None:
        self.given = {role.replace("_", "/"): epoch for role, epoch in roles.items()}
        self.changed.set()

    def step_down(self, role: str, epoch: int, why: str) -> None:
        self.stepped.append((role, epoch, why))
        self.given.pop(role, None)


@dataclass(frozen=True)
class Probe:
    """A sensor that reads once a minute."""

    scope: str = NODE
    name: str = "probe"
    period: float = 60.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        return [make_reading("pdu/A1", "pdu.armed", 1.0, "1", now())]


@dataclass
class Desk:
    """A rota with its own journal and the roles' database."""

    parts: Parts
    seats: Seats = field(default_factory=Seats)
    own: Journal = field(default_factory=memory_journal)
    database: Journal = field(default_factory=memory_journal)

    def __post_init__(self) -> None:
        self.rota = Rota(self.seats, make_means(self.parts), self.own, self.database, [])

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self.rota.run())
        await asyncio.sleep(0.1)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._running.cancel()
        await asyncio.wait([self._running])
        for journal in (self.own, self.database):
            await journal.close()

    async def give(self, **roles: int) -> None:
        self.seats.give(**roles)
        await asyncio.sleep(0.5)

    def list(self) -> list[tuple[str, int]]:
        return [(duty.scope, duty.epoch) for duty in self.rota.duties]


def test_duties_are_those_of_the_seats() -> None:
    async def main() -> None:
        async with Desk(Parts()) as desk:
            assert desk.list() == [(NODE, 0)]
            await desk.give(power_site=2, cdu_0=7)
            assert desk.list() == [(NODE, 0), ("cdu/0", 7), ("power/site", 2)]
            assert [duty.journal for duty in desk.rota.duties] == [desk.own, desk.database, desk.database]
            await desk.give(cdu_0=7)
            assert desk.list() == [(NODE, 0), ("cdu/0", 7)]
            await desk.give()
            assert desk.list() == [(NODE, 0)]

    run(main())


def test_a_seat_of_the_settings_is_written_in_the_nodes_own_journal() -> None:
    async def main() -> None:
        async with Desk(Parts()) as desk:
            await desk.give(cdu_0=0)
            duty = desk.rota.find("cdu/0")
            assert duty is not None
            assert duty.journal is desk.own

    run(main())


def test_another_epoch_is_another_duty_and_begins_when_the_former_has_ended() -> None:
    async def main() -> None:
        async with Desk(Parts(rules=[Counter("cdu/0")])) as desk:
            await desk.give(cdu_0=7)
            before = desk.rota.find("cdu/0")
            await desk.give(cdu_0=8)
            after = desk.rota.find("cdu/0")
            assert before is not None
            assert after is not None
            assert (after is before, after.epoch) == (False, 8)
            assert desk.list() == [(NODE, 0), ("cdu/0", 8)]

    run(main())


def test_a_renewed_lease_leaves_its_duty_alone() -> None:
    async def main() -> None:
        async with Desk(Parts()) as desk:
            await desk.give(cdu_0=7)
            before = desk.rota.find("cdu/0")
            await desk.give(cdu_0=7, feed_A=1)
            assert desk.rota.find("cdu/0") is before

    run(main())


@dataclass(frozen=True)
class Alarm:
    """A rule that always finds something."""

    scope: str = "cdu/0"
    kind: str = "test.alarm"
    watches: Mapping[str, float] = field(default_factory=dict)

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        return None, [Verdict(kind=self.kind, subject="cdu/0", level=Level.RAISED, text="it burns", at=seen.now)]


def test_who_is_fenced_steps_down() -> None:
    """The database knows of another holder before we do: what we write under our epoch is refused, and we stop."""

    async def main() -> None:
        async with Desk(Parts(rules=[Alarm()])) as desk:
            await desk.database.commit(entries.bid([Bid("cdu/0", heard=8)], "n1#1", now(), 600.0))
            await desk.give(cdu_0=7)
            await asyncio.sleep(10.0)
            ((role, epoch, why),) = desk.seats.stepped
            assert (role, epoch) == ("cdu/0", 7)
            assert "cdu/0 is at epoch 9, held by n1#1; a write of epoch 7 was refused: step down" in why
            assert desk.list() == [(NODE, 0)]

    run(main())


def test_a_role_hears_once_what_another_scope_reads_and_the_node_does_not() -> None:
    async def main() -> None:
        ears = {scope: Ear(scope) for scope in (NODE, "feed/A", "power/site")}
        async with Desk(Parts(rules=list(ears.values()))) as desk:
            await desk.give(feed_A=1, power_site=1)
            for ear in ears.values():
                ear.heard.clear()
            feed = desk.rota.find("feed/A")
            assert feed is not None
            feed.take([make_reading("pdu/A1", "pdu.armed", 1.0, "1", now())], 5.0)
            assert {scope: ear.heard for scope, ear in ears.items()} == {NODE: [], "feed/A": [("pdu/A1",)], "power/site": [("pdu/A1",)]}

    run(main())


def test_a_role_that_is_gained_begins_with_what_was_read_before() -> None:
    """The sensor reads once a minute: nobody waits for that."""

    async def main() -> None:
        async with Desk(Parts(rules=[ear := Ear("power/site")], sensors=[Probe()])) as desk:
            await asyncio.sleep(2.0)
            await desk.give(power_site=1)
            assert ear.heard[0] == ("pdu/A1",)
            duty = desk.rota.find("power/site")
            assert duty is not None
            assert [reading.source for reading in duty.history.newest(now())] == ["probe"]

    run(main())


def test_followers_are_told_of_all_that_is_read_here() -> None:
    async def main() -> None:
        told: list[str] = []
        async with Desk(Parts()) as desk:
            desk.rota.followers.append(lambda readings, fresh_for: told.extend(reading.subject for reading in readings))
            await desk.give(cdu_0=1)
            for duty in desk.rota.duties:
                duty.take([make_reading(f"of {duty.scope}", "pdu.armed", 1.0, "1", now())], 5.0)
            assert told == ["of node", "of cdu/0"]

    run(main())


def test_what_the_roles_watch_is_told_when_it_changes() -> None:
    async def main() -> None:
        told: list[frozenset[str]] = []
        desk = Desk(Parts(rules=[Ear(NODE), Ear("feed/A")]))
        desk.rota.on_change.append(lambda: told.append(desk.rota.list_watched()))
        async with desk:
            await desk.give(feed_A=1)
            await desk.give(feed_A=1, cdu_0=1)
            await desk.give()
        watched = frozenset(Ear("feed/A").watches)
        assert told[:2] == [watched, watched]
        assert told[-1] == frozenset()

    run(main())

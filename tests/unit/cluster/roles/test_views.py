"""What holders tell of their roles, and what is made of what they tell."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.roles.seats import FIXED_TERM, FixedSeats, Tenure
from supernoded.cluster.roles.views import Herald, Views
from supernoded.cluster.topics import PayloadError, RoleView
from tests.unit.worlds import LoopClock, health, run

ROLE = "cdu/0"


def say(
    node: str, epoch: int, *, at: float = 0.0, until: float = 10.0, held: bool = True, retain: bool = False, role: str = ROLE
) -> Message:
    view = RoleView(node=node, life="1", at=at, role=role, epoch=epoch, until=until, held=held)
    return Message(topic=topics.role_view("c0", role), payload=topics.encode(view), retain=retain)


def make_views() -> Views:
    return Views("c0", ["n0", "n1", "n2"], LoopClock(), health())


def test_a_holder_is_known_until_its_word_runs_out_and_its_age_is_told() -> None:
    async def main() -> None:
        views = make_views()
        views.hear(say("n0", 3))
        await asyncio.sleep(4.0)
        assert (views.roles(), views.heard(ROLE), views.age()) == ({ROLE: "n0"}, 3, 4.0)
        await asyncio.sleep(6.1)
        assert (views.roles(), views.heard(ROLE), views.age()) == ({}, 3, 0.0)

    run(main())


def test_a_lower_epoch_is_old_however_late_it_comes() -> None:
    async def main() -> None:
        views = make_views()
        views.hear(say("n1", 4))
        views.hear(say("n0", 3))
        views.hear(say("n0", 3, held=False))
        assert (views.roles(), views.heard(ROLE)) == ({ROLE: "n1"}, 4)

    run(main())


def test_what_was_given_back_is_nobodys() -> None:
    async def main() -> None:
        views = make_views()
        views.hear(say("n0", 3))
        views.hear(say("n0", 3, held=False))
        assert views.roles() == {}
        views.hear(say("n1", 4))
        assert views.roles() == {ROLE: "n1"}

    run(main())


def test_what_is_live_is_understood_by_any_clock_and_what_is_retained_only_while_it_is_young() -> None:
    async def main() -> None:
        await asyncio.sleep(1000.0)
        views = make_views()
        views.hear(say("n0", 1, at=50.0, until=60.0))  # its clock is behind by 950 s
        assert views.roles() == {ROLE: "n0"}
        views.hear(say("n0", 1, at=50.0, until=60.0, role="fleet", retain=True))
        assert views.roles() == {ROLE: "n0"}
        views.hear(say("n0", 1, at=995.0, until=1005.0, role="spares", retain=True))
        assert views.roles() == {ROLE: "n0", "spares": "n0"}
        assert views.age() == 5.0

    run(main())


@pytest.mark.parametrize(
    "message",
    [
        Message(topic=topics.role_view("c0", ROLE), payload=b"{"),
        Message(topic=topics.role_view("c0", "fleet"), payload=say("n0", 1).payload),
        say("n9", 1),
        say("n0", -1),
    ],
)
def test_what_is_no_view_is_refused(message: Message) -> None:
    async def main() -> None:
        views = make_views()
        with pytest.raises(PayloadError):
            views.hear(message)
        assert views.roles() == {}

    run(main())


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_garbage_is_refused_and_never_raised(payload: bytes) -> None:
    async def main() -> None:
        with pytest.raises(PayloadError):
            make_views().hear(Message(topic=topics.role_view("c0", ROLE), payload=payload))

    run(main())


@pytest.mark.parametrize(
    ("epoch", "remedy"), [(0, "write the same [roles] on all nodes"), (3, "see on both that they lease it in the same database")]
)
def test_two_that_have_a_seat_are_told_until_one_stops(epoch: int, remedy: str) -> None:
    async def main() -> None:
        state = health()
        views = Views("c0", ["n0", "n1"], LoopClock(), state)
        for node in ("n0", "n1", "n0"):
            views.hear(say(node, epoch))
        (trouble,) = state.troubles()
        assert trouble.name == "role cdu/0"
        assert trouble.text == f"n0 and n1 both tell that they have it with epoch {epoch}: {remedy}"
        views.hear(say("n0", epoch))
        assert state.troubles() == []

    run(main())


def test_news_are_told_and_repetitions_are_not() -> None:
    async def main() -> None:
        views, news = make_views(), list[int]()
        views.on_change.append(lambda: news.append(views.heard(ROLE)))
        for epoch in (1, 1, 2, 2, 1):
            views.hear(say("n0", epoch))
        assert news == [1, 2]

    run(main())


class Leased(FixedSeats):
    """Seats with leases that are renewed by hand."""

    def __init__(self) -> None:
        super().__init__("n0", {})
        self.given: list[Tenure] = []

    @property
    def tenures(self) -> list[Tenure]:
        return self.given


@dataclass
class Ear:
    """The broker; without a link nothing goes out."""

    linked: bool = True
    heard: list[RoleView] = field(default_factory=list)

    def publish(self, topic: str, payload: bytes, *, retain: bool, qos: int) -> bool:
        assert (retain, qos) == (True, 1)
        if self.linked:
            view = topics.decode(payload, RoleView)
            assert topic == topics.role_view("c0", view.role)
            self.heard.append(view)
        return self.linked


def make_herald(seats: FixedSeats, ear: Ear, views: Views | None = None) -> Herald:
    return Herald(seats, Speaker("n0", "c0", "1"), views or make_views(), LoopClock(), ear.publish)


def test_fixed_seats_are_told_every_five_seconds() -> None:
    async def main() -> None:
        ear = Ear()
        running = asyncio.create_task(make_herald(FixedSeats("n0", {ROLE: "n0", "fleet": "n1"}), ear).run())
        await asyncio.sleep(11.0)
        running.cancel()
        assert [(view.role, view.epoch, view.held) for view in ear.heard] == [(ROLE, 0, True)] * 3
        assert ear.heard[0].until - ear.heard[0].at == FIXED_TERM

    run(main())


def test_a_lease_is_told_at_once_again_before_its_word_runs_out_and_when_it_is_given_back() -> None:
    async def main() -> None:
        ear, seats = Ear(), Leased()
        herald = make_herald(seats, ear)
        running = asyncio.create_task(herald.run())
        for second in range(0, 12, 2):
            seats.given = [Tenure(role=ROLE, epoch=7, since=0.0, until=second + 9.0)]
            herald.look()
            await asyncio.sleep(2.0)
        gaps = [view.at for view in ear.heard]
        assert gaps[0] < 0.1
        assert 1 < len(gaps) <= 4
        assert all(before.until > after.at for before, after in itertools.pairwise(ear.heard))
        seats.given = []
        herald.look()
        await asyncio.sleep(0.1)
        running.cancel()
        assert (ear.heard[-1].epoch, ear.heard[-1].held) == (7, False)

    run(main())


def test_what_another_has_meanwhile_is_not_told_as_given_back() -> None:
    """It would stand on the topic in place of the new holder's word."""

    async def main() -> None:
        ear, seats, views = Ear(), Leased(), make_views()
        herald = make_herald(seats, ear, views)
        seats.given = [Tenure(role=ROLE, epoch=7, since=0.0, until=9.0)]
        herald.tell()
        views.hear(say("n1", 8))
        seats.given = []
        herald.tell()
        assert [view.held for view in ear.heard] == [True]

    run(main())


def test_a_new_link_is_told_everything_anew() -> None:
    async def main() -> None:
        ear = Ear(linked=False)
        herald = make_herald(FixedSeats("n0", {ROLE: "n0"}), ear)
        running = asyncio.create_task(herald.run())
        await asyncio.sleep(3.0)
        ear.linked = True
        await asyncio.sleep(1.5)
        herald.tell_anew()
        await asyncio.sleep(0.1)
        running.cancel()
        assert len(ear.heard) == 2

    run(main())


def test_a_time_that_is_none_is_refused() -> None:
    async def main() -> None:
        payload = say("n0", 1).payload.replace(b'"until":10.0', b'"until":1e999')
        with pytest.raises(PayloadError):
            make_views().hear(Message(topic=topics.role_view("c0", ROLE), payload=payload))

    run(main())

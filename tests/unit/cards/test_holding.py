"""Holds as actions: one for each round of an incident, and only its own are let go."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from supernoded.cards.holding import HoldActuator, name_hold, read_round
from supernoded.errors import WireError
from supernoded.model import Effect
from supernoded.testing import ManualClock
from tests.unit.cards.rooms import POLICY, CardRoom, make_action, make_hold

HOLD, UNHOLD = make_action("card.hold", serial="SN3", cause="silent", expires_s="600"), make_action("card.unhold")


@pytest.fixture
async def room(tmp_path: Path, supernoded_clock: ManualClock) -> CardRoom:
    room = CardRoom(tmp_path, supernoded_clock)
    await room.holds.take_up()
    return room


@pytest.fixture
def actuator(room: CardRoom) -> HoldActuator:
    return HoldActuator(room.holds, ["n0", "n0/card*", "n1", "n1/card*"], room.clock)


async def test_a_hold_says_what_its_step_does_and_asked_twice_is_one(room: CardRoom, actuator: HoldActuator) -> None:
    assert (await actuator.observe(HOLD)).effect is Effect.ABSENT
    await actuator.apply(HOLD)
    await actuator.apply(HOLD)
    assert (await actuator.observe(HOLD)).effect is Effect.PRESENT
    (hold,) = room.holds.standing()
    assert (hold.id, hold.subject, hold.serial, hold.owner, hold.cause, hold.node) == (
        name_hold(HOLD),
        "n0/card3",
        "SN3",
        POLICY,
        "silent",
        "n0",
    )
    assert (hold.reason, hold.expires) == ("no beat for 20 s", room.clock.now() + 600.0)


async def test_what_an_operator_has_lifted_is_not_placed_again(room: CardRoom, actuator: HoldActuator) -> None:
    await actuator.apply(HOLD)
    await room.holds.lift(name_hold(HOLD), "operator alice")
    sight = await actuator.observe(HOLD)
    assert (sight.effect, sight.text.endswith("was lifted by operator alice, and is not placed again")) == (Effect.ABSENT, True)
    await actuator.apply(HOLD)
    assert room.holds.standing() == ()


async def test_letting_go_lifts_its_own_of_every_round_and_no_other(room: CardRoom, actuator: HoldActuator) -> None:
    again = make_action("card.hold", name="2-hold-n0/card3")
    other = make_action("card.hold", incident="i2")
    for action in (HOLD, again, other):
        await actuator.apply(action)
    await room.holds.place(make_hold("h9", owner="operator alice"))
    assert len({name_hold(action) for action in (HOLD, again, other)}) == 3
    let_go = make_action("card.unhold", name="2-unhold-n0/card3")
    assert (await actuator.observe(let_go)).effect is Effect.ABSENT
    await actuator.apply(let_go)
    assert {hold.id for hold in room.holds.standing()} == {"h9", name_hold(other)}
    sight = await actuator.observe(let_go)
    assert (sight.effect, sight.text) == (Effect.PRESENT, f"let go; operator alice, {POLICY} holds it still")
    assert (await actuator.observe(UNHOLD)).effect is Effect.PRESENT


async def test_before_the_holds_are_known_nothing_is_said_to_be_let_go(tmp_path: Path, supernoded_clock: ManualClock) -> None:
    room = CardRoom(tmp_path, supernoded_clock)
    actuator = HoldActuator(room.holds, ["n0/card*"], room.clock)
    assert (await actuator.observe(UNHOLD)).effect is Effect.UNKNOWN


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon", "1e300"])
async def test_a_time_that_is_none_is_refused(actuator: HoldActuator, room: CardRoom, seconds: str) -> None:
    with pytest.raises(WireError, match="is no number of seconds"):
        await actuator.apply(make_action("card.hold", expires_s=seconds))
    assert room.holds.standing() == ()


async def test_what_cannot_be_durable_is_a_failed_order(actuator: HoldActuator, room: CardRoom) -> None:
    await room.journal.close()
    with pytest.raises(WireError):
        await actuator.apply(HOLD)
    assert (await actuator.observe(HOLD)).effect is Effect.ABSENT
    bad = msgspec.structs.replace(HOLD, policy="")
    with pytest.raises(WireError, match="has no owner"):
        await actuator.apply(bad)


@pytest.mark.parametrize(
    ("name", "number"), [("2-hold-n0/card3", 2), ("hold", 0), ("", 0), ("٣-hold", 0), ("99999-x", 100), ("9999999999-x", 0), ("-1-x", 0)]
)
def test_the_round_is_in_the_name(name: str, number: int) -> None:
    assert read_round(name) == number

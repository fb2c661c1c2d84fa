"""The actuators as the daemon performs them: what people read of each ending."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from supernoded.actions import Performer
from supernoded.cards.fencing import FenceActuator
from supernoded.cards.holding import HoldActuator
from supernoded.cards.hooks import SiteHooks
from supernoded.cards.testing import TrialActuator
from supernoded.cards.trial import Trial
from supernoded.guards import Tally, guard_holds
from supernoded.model import NODE, Action, Outcome, Result
from supernoded.parts import Actuator
from supernoded.settings import Hooks
from supernoded.testing import ManualClock
from tests.unit.cards.rooms import CardRoom, make_action, make_hold, read


@pytest.fixture
async def room(tmp_path: Path, supernoded_clock: ManualClock) -> CardRoom:
    room = CardRoom(tmp_path, supernoded_clock)
    await room.holds.take_up()
    return room


async def perform(room: CardRoom, action: Action, actuator: Actuator, *, seconds: float = 10.0, patience: float = 10.0) -> Outcome:
    now = room.clock.now()
    action = msgspec.structs.replace(action, scope=NODE, epoch=0, issued=now, deadline=now + patience)
    guards = [guard_holds(room.holds.standing)]
    task = asyncio.create_task(Performer(lambda _: actuator, guards, Tally(9, 9), room.journal, room.clock).perform(action))
    for _ in range(int(2 * (seconds + 1.0))):
        await room.clock.advance(0.5)
    return await task


def says(outcome: Outcome, result: Result, words: Sequence[str]) -> bool:
    return outcome.result is result and all(word in outcome.text for word in words)


async def test_hold_then_isolate_then_the_way_back(room: CardRoom) -> None:
    holding, fencing = HoldActuator(room.holds, ["n0/card*"], room.clock), FenceActuator(room.fence, room.holds, room.clock)
    refused = await perform(room, make_action("card.isolate"), fencing)
    assert says(refused, Result.REFUSED, ["no hold of supernoded_isolation stands on it"])
    assert room.ran == []
    steps: list[tuple[str, Actuator]] = [
        ("card.hold", holding),
        ("card.isolate", fencing),
        ("card.unhold", holding),
        ("card.release", fencing),
    ]
    for kind, actuator in steps:
        assert (await perform(room, make_action(kind, name=f"1-{kind}2-n0/card3"), actuator)).result is Result.DONE, kind
    assert room.ran == [("cardctl", "isolate", "n0/card3"), ("cardctl", "release", "n0/card3")]


async def test_what_an_operator_holds_is_let_go_by_the_policy_and_not_given_back(room: CardRoom) -> None:
    holding, fencing = HoldActuator(room.holds, ["n0/card*"], room.clock), FenceActuator(room.fence, room.holds, room.clock)
    await perform(room, make_action("card.hold"), holding)
    await perform(room, make_action("card.isolate"), fencing)
    await room.holds.place(make_hold("h9", owner="operator alice"))
    assert says(await perform(room, make_action("card.test", incident="i2"), fencing), Result.REFUSED, ["is held by operator alice"])
    assert (await perform(room, make_action("card.unhold"), holding)).result is Result.DONE
    assert says(await perform(room, make_action("card.release"), fencing), Result.REFUSED, ["not released: operator alice holds"])
    assert [hold.id for hold in room.holds.standing()] == ["h9"]


async def test_a_failed_test_says_what_failed(room: CardRoom) -> None:
    trial = Trial(SiteHooks(Hooks(), room.wires), room.clock, 5.0, lambda card: room.ranks.get(card, []), lambda _: "SN3")
    testing = TrialActuator(trial, ["n0/card3"], room.clock)
    trial.take([read("card.health", frozenset({"0x80E01801"}), room.clock.now())], 60.0)
    failed = await perform(room, make_action("card.test"), testing)
    assert says(failed, Result.UNCONFIRMED, ["n0/card3 failed its test", "its health says 0x80E01801"])
    room.ranks["n0/card3"] = ["job/a/rank3"]
    busy = await perform(room, make_action("card.test", name="2-test"), testing)
    assert says(busy, Result.REFUSED, ["job/a/rank3 runs on it"])

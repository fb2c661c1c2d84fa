"""The fence: nothing without a hold, nothing back while one stands, and a crash in between is taken up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from supernoded.cards import fencing
from supernoded.cards.fencing import FenceActuator, FenceSensor
from supernoded.cards.roster import Roster
from supernoded.errors import RefusedError, WireError
from supernoded.model import Effect
from supernoded.settings import Hooks
from supernoded.testing import ManualClock
from tests.unit.cards.rooms import POLICY, CardRoom, make_action, make_hold

ISOLATE, RELEASE = make_action("card.isolate"), make_action("card.release")


@pytest.fixture
async def room(tmp_path: Path, supernoded_clock: ManualClock) -> CardRoom:
    room = CardRoom(tmp_path, supernoded_clock)
    await room.holds.take_up()
    return room


def usable(room: CardRoom) -> list[int]:
    text = room.runtime.files["cards.json"]
    assert isinstance(text, str)
    return [card.slot for card in msgspec.json.decode(text, type=Roster).cards if card.usable]


async def test_a_card_is_isolated_once_it_is_held_and_released_once_it_is_not(room: CardRoom) -> None:
    actuator = FenceActuator(room.fence, room.holds, room.clock)
    with pytest.raises(RefusedError, match=f"no hold of {POLICY} stands on it"):
        await actuator.apply(ISOLATE)
    assert (await actuator.observe(ISOLATE)).effect is Effect.ABSENT
    await room.holds.place(make_hold())
    await actuator.apply(ISOLATE)
    sight = await actuator.observe(ISOLATE)
    assert (sight.effect, sight.text) == (Effect.PRESENT, "n0/card3: 1 hold stands, done")
    assert (room.ran, usable(room)) == ([("cardctl", "isolate", "n0/card3")], [0, 1, 2])
    with pytest.raises(RefusedError, match=r"n0/card3 is not released: supernoded_isolation holds n0/card3 \(SN3\): no beat \[h1\]"):
        await actuator.apply(RELEASE)
    await room.holds.lift("h1", POLICY)
    assert (await actuator.observe(RELEASE)).effect is Effect.ABSENT
    assert usable(room) == [0, 1, 2]  # nobody holds it, and it is taken away still
    await actuator.apply(RELEASE)
    assert (await actuator.observe(RELEASE)).effect is Effect.PRESENT
    assert (room.ran[1:], usable(room)) == ([("cardctl", "release", "n0/card3")], [0, 1, 2, 3])


async def test_a_hold_of_somebody_else_fences_nothing_and_keeps_it_from_coming_back(room: CardRoom) -> None:
    await room.holds.place(make_hold(owner="operator alice"))
    with pytest.raises(RefusedError, match="no hold of"):
        await room.fence.isolate("n0/card3", POLICY, "x")
    await room.holds.place(make_hold("h2"))
    await room.fence.isolate("n0/card3", POLICY, "x")
    await room.holds.lift("h2", POLICY)
    with pytest.raises(RefusedError, match="operator alice holds"):
        await room.fence.release("n0/card3", "x")


async def test_a_program_that_fails_leaves_it_unfenced_and_is_asked_again(room: CardRoom) -> None:
    actuator = FenceActuator(room.fence, room.holds, room.clock)
    await room.holds.place(make_hold())
    room.code, room.said = 4, "driver is busy"
    await actuator.apply(ISOLATE)
    sight = await actuator.observe(ISOLATE)
    assert sight.effect is Effect.ABSENT
    assert sight.text == "[hooks] isolate: cardctl isolate n0/card3 ended with code 4: driver is busy"
    room.code = 0
    await actuator.apply(ISOLATE)
    assert (await actuator.observe(ISOLATE)).effect is Effect.PRESENT
    assert len(room.ran) == 2


async def test_after_a_crash_between_program_and_record_it_is_asked_again(room: CardRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    await room.holds.place(make_hold())

    async def crash(_scope: str, _path: str, _text: str) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(room.state, "order", crash)
        with pytest.raises(asyncio.CancelledError):
            await room.fence.isolate("n0/card3", POLICY, "x")
    later = FenceActuator(room.make_fence(), room.holds, room.clock)
    assert (await later.observe(ISOLATE)).effect is Effect.ABSENT
    await later.apply(ISOLATE)
    assert (await later.observe(ISOLATE)).effect is Effect.PRESENT
    assert room.ran == [("cardctl", "isolate", "n0/card3")] * 2


async def test_the_next_life_knows_what_is_fenced_and_writes_the_roster_anew(room: CardRoom) -> None:
    await room.holds.place(make_hold())
    await room.fence.isolate("n0/card3", POLICY, "x")
    room.runtime.files.clear()
    later = room.make_fence()
    sensor = FenceSensor(later, room.clock)
    assert await sensor.read() == []
    keeping = asyncio.create_task(later.run())
    await room.clock.advance(0.1)
    assert usable(room) == [0, 1, 2]
    assert [(reading.quantity, reading.subject, reading.value) for reading in await sensor.read()][2:] == [
        ("card.isolated", "n0/card2", 0.0),
        ("card.isolated", "n0/card3", 1.0),
        ("card.proven", "n0/card3", 0.0),
    ]
    await room.holds.place(make_hold("h2", "n0/card0", expires=room.clock.now() + 60.0))
    await room.clock.advance(0.1)
    assert usable(room) == [1, 2]
    await room.clock.advance(70.0)
    assert usable(room) == [0, 1, 2]  # it has expired by itself
    keeping.cancel()


async def test_what_a_person_took_for_a_time_comes_back_after_it_and_what_he_lifted_does_not(room: CardRoom) -> None:
    owner = "operator alice"
    await room.holds.place(make_hold("h1", "n0/card0", owner, expires=room.clock.now() + 60.0))
    await room.holds.place(make_hold("h2", "n0/card1", owner))
    await room.holds.place(make_hold("h3", "n0/card2", expires=room.clock.now() + 60.0))
    for card, who in (("n0/card0", owner), ("n0/card1", owner), ("n0/card2", POLICY)):
        await room.fence.isolate(card, who, "x")
    await room.holds.lift("h2", owner)
    keeping = asyncio.create_task(room.fence.run())
    await room.clock.advance(50.0)
    assert usable(room) == [3]
    await room.clock.advance(20.0)
    assert usable(room) == [0, 3]
    assert (room.ran[-1], len(room.ran)) == (("cardctl", "release", "n0/card0"), 4)
    assert [room.fence.is_fenced(f"n0/card{slot}") for slot in range(4)] == [False, True, True, False]
    assert room.fence.is_fenced("n1/card0") is None
    keeping.cancel()


async def test_while_the_holds_are_not_known_the_roster_stays_and_nothing_is_released(
    tmp_path: Path, supernoded_clock: ManualClock
) -> None:
    room = CardRoom(tmp_path, supernoded_clock)
    room.runtime.files["cards.json"] = "as it was"
    with pytest.raises(RefusedError, match="not yet read from the journal"):
        await room.fence.release("n0/card3", "x")
    keeping = asyncio.create_task(room.fence.run())
    await room.clock.advance(1.0)
    assert room.runtime.files["cards.json"] == "as it was"
    assert "may be out of date" in room.health.troubles()[0].text
    await room.holds.take_up()
    await room.clock.advance(1.0)
    assert (room.health.troubles(), usable(room)) == ([], [0, 1, 2, 3])
    keeping.cancel()


async def test_without_programs_the_roster_is_the_fence_and_garbage_in_the_record_is_named(
    tmp_path: Path, supernoded_clock: ManualClock
) -> None:
    room = CardRoom(tmp_path, supernoded_clock, Hooks())
    await room.holds.take_up()
    await room.holds.place(make_hold())
    assert await room.fence.isolate("n0/card3", POLICY, "a tool said \udcff" + "x" * 5000) == ""
    assert usable(room) == [0, 1, 2]
    with pytest.raises(RefusedError, match="n1/card0 is no card of n0, which has n0/card0"):
        await room.fence.isolate("n1/card0", POLICY, "x")
    room.state.files["fence.json"] = "{"
    with pytest.raises(WireError, match=r"fence.json in the state folder is no record of isolated cards"):
        await room.fence.find("n0/card3")


async def test_a_program_that_takes_its_time_is_waited_for_by_looking(
    tmp_path: Path, supernoded_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An order from another node is answered soon; it is not begun twice meanwhile, nor is the way back."""
    monkeypatch.setattr(fencing, "SOON", 0.0)
    room = CardRoom(tmp_path, supernoded_clock)
    await room.holds.take_up()
    await room.holds.place(make_hold())
    ended = asyncio.Event()

    async def call(_verb: str, _occasion: object) -> str:
        room.ran.append(("begun",))
        await ended.wait()
        return "done"

    monkeypatch.setattr(room.hooks, "call", call)
    actuator = FenceActuator(room.fence, room.holds, room.clock)
    for _ in range(2):
        await actuator.apply(ISOLATE)
        sight = await actuator.observe(ISOLATE)
        assert (sight.effect, sight.text) == (Effect.UNKNOWN, "[hooks] isolate is under way on n0/card3")
    await room.holds.lift("h1", POLICY)
    with pytest.raises(WireError, match="the other way is still under way"):
        await actuator.apply(RELEASE)
    ended.set()
    await room.clock.advance(0.1)
    assert (await actuator.observe(ISOLATE)).effect is Effect.PRESENT
    assert room.ran == [("begun",)]


async def test_a_test_that_is_passed_counts_for_the_card_in_the_slot_and_till_it_is_fenced_anew(room: CardRoom) -> None:
    await room.holds.place(make_hold())
    await room.fence.isolate("n0/card3", POLICY, "x")
    await room.fence.note_passed("n0/card3", "SN")
    await room.fence.note_passed("n0/card2", "SN")  # nobody has fenced it
    later = room.make_fence()
    assert await later.find("n0/card2") is None
    assert (later.is_proven("n0/card3"), later.is_proven("n0/card2")) == (True, False)
    room.serials["n0/card3"] = "SN9"
    assert not later.is_proven("n0/card3")
    room.serials.clear()
    await later.isolate("n0/card3", POLICY, "x")
    assert not later.is_proven("n0/card3")

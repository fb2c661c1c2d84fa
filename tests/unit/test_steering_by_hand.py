"""A person's hand on a device, its loop beside it; what a loop does without; a device that must not be taken."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from supernoded.errors import AdminError, WireError
from supernoded.history import View
from supernoded.model import Mode, Setpoint
from supernoded.steering import Hand, Steering
from tests.unit.test_steering import At, Ramp, Scene, Valve, steer


@dataclass
class Held(Ramp):
    """A ramp that can be held, but never below ten; its memory follows."""

    notes: str = ""

    def steer(self, seen: View, memory: At) -> tuple[At, Setpoint | None]:
        memory, setpoint = super().steer(seen, memory)
        return memory, None if setpoint is None else msgspec.structs.replace(setpoint, note=self.notes)

    def hold(self, seen: View, memory: At, value: float) -> tuple[At, Setpoint | None]:
        at = max(value, 10.0)
        return At(at), Setpoint(target=self.target, quantity="coolant.valve", value=at, unit="%")

    def aim(self, memory: At) -> float:
        if self.broken:
            raise ZeroDivisionError("oops")
        return 1000.0 / memory.value


def find_hand(steering: Steering) -> Hand | None:
    return steering.hand


def find_aim(steering: Steering) -> float | None:
    return steering.aim


def put_values(scene: Scene) -> list[float]:
    return [setpoint.value for _, setpoint in scene.valve.put_at]


def test_a_hand_is_laid_on_at_once_and_the_loop_goes_on_from_there_when_its_time_is_up(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(1.5)
        steering.lay_hand(50.0, 3.0, "alice", "cleaning")
        assert steering.hand == Hand(50.0, asyncio.get_running_loop().time() + 3.0, "alice", "cleaning")
        await asyncio.sleep(6)
        assert put_values(scene) == [31.0, 32.0, 50.0, 50.0, 50.0, 51.0, 52.0, 53.0]
        assert find_hand(steering) is None

    notes = steer(Scene(Held()), tmp_path / "j.db", play)
    assert ("held", "at 50 by alice: cleaning") in notes


def test_a_renewed_hand_stays_and_is_noted_once_and_the_loop_keeps_its_floor(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.7)
        for _ in range(5):
            steering.lay_hand(3.0, 2.0, "alice")
            await asyncio.sleep(1.5)
        assert set(put_values(scene)[1:]) == {10.0}
        steering.take_hand_off("bob")
        await asyncio.sleep(1.1)
        assert put_values(scene)[-1] == 11.0

    notes = [note for note in steer(Scene(Held()), tmp_path / "j.db", play) if note[0] in ("held", "let go")]
    assert notes == [("held", "at 3 by alice"), ("let go", "by bob")]


def test_what_is_not_steered_or_cannot_be_held_is_not_held(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.5)
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        with pytest.raises(AdminError, match="is not steered now: the policy no longer acts"):
            steering.lay_hand(50.0, 3.0, "alice")

    steer(Scene(Held()), tmp_path / "j.db", play)

    async def play_stiff(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.5)
        assert not steering.can_be_held
        with pytest.raises(AdminError, match="cannot be held by hand: its loop ramp has no way to"):
            steering.lay_hand(50.0, 3.0, "alice")

    steer(Scene(), tmp_path / "k.db", play_stiff)


def test_leaving_act_takes_the_hand_off(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.5)
        steering.lay_hand(50.0, 3000.0, "alice")
        await asyncio.sleep(2)
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        assert (steering.hand, scene.valve.handed_back) == (None, 1)
        scene.say(Mode.ACT)
        await asyncio.sleep(3)
        assert put_values(scene)[-1] == 52.0

    steer(Scene(Held()), tmp_path / "j.db", play)


def test_in_silence_nothing_is_put_and_then_the_device_is_taken_anew_from_where_it_fell_back_to(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(1.5)
        steering.lay_hand(None, 20.0, "alice")
        scene.valve.stands = 70.0  # by its own controller
        await asyncio.sleep(19)
        assert (steering.engaged, put_values(scene)) == (True, [31.0, 32.0])
        await asyncio.sleep(3)
        assert put_values(scene)[2] == 71.0
        assert scene.valve.handed_back == 0

    notes = steer(Scene(), tmp_path / "j.db", play)  # needs no way to be held
    assert notes[1:4] == [("held", "silent by alice"), ("disengaged", "the silence is over, it is taken anew"), ("engaged", "from 70 %")]


def test_a_silence_can_be_ended_sooner_by_taking_the_hand_off_or_by_holding_a_value(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.5)
        steering.lay_hand(None, 1000.0, "alice")
        scene.valve.stands = 70.0
        steering.take_hand_off("alice")
        await asyncio.sleep(1.1)
        assert put_values(scene)[-1] == 71.0
        steering.lay_hand(None, 1000.0, "alice")
        scene.valve.stands = 60.0
        steering.lay_hand(20.0, 1000.0, "alice")
        await asyncio.sleep(1.1)
        assert put_values(scene)[-1] == 20.0

    notes = steer(Scene(Held()), tmp_path / "j.db", play)
    assert ("engaged", "from 60 %") in notes


def test_leaving_act_in_silence_hands_the_device_back(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.5)
        steering.lay_hand(None, 1000.0, "alice")
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        assert scene.valve.handed_back == 1

    steer(Scene(), tmp_path / "j.db", play)


def test_a_device_that_must_not_be_taken_is_named_and_tried_again(tmp_path: Path) -> None:
    class Taken(Valve):
        refusal = "another hand is on it: its watchdog has 9 s left"

        async def now_at(self) -> Setpoint | None:
            if self.refusal:
                raise WireError(self.refusal)
            return await super().now_at()

    valve = Taken()

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(5)
        assert (steering.engaged, steering.idle_because, scene.valve.put_at) == (False, valve.refusal, [])
        assert scene.health.troubles()[0].text == f"does not steer cdu/0/valve: {valve.refusal}"
        valve.refusal = ""
        await asyncio.sleep(2)
        assert put_values(scene)[0] == 31.0
        assert scene.health.troubles() == []

    steer(Scene(valve=valve), tmp_path / "j.db", play)


def test_what_a_loop_has_to_do_without_is_a_trouble_until_it_has_it_again(tmp_path: Path) -> None:
    loop = Held(notes="by energy balance: the supply transmitter is lost")

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(1.5)
        assert scene.health.troubles()[0].text == f"steers cdu/0/valve {loop.notes}"
        loop.notes = ""
        await asyncio.sleep(1)
        assert scene.health.troubles() == []

    steer(Scene(loop), tmp_path / "j.db", play)


def test_it_tells_what_its_loop_aims_at_while_it_steers_and_when_it_put_last(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        assert (steering.aim, steering.put_at) == (None, None)
        await asyncio.sleep(9.5)  # ten outputs
        assert (steering.aim, steering.put_at) == (25.0, 9.0)
        scene.loop.broken = True
        assert find_aim(steering) is None
        assert [(one.name, one.text) for one in scene.health.troubles()] == [
            ("aim of loop ramp", "cannot be told: ZeroDivisionError: oops")
        ]
        scene.loop.broken = False
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        assert find_aim(steering) is None

    steer(Scene(Held()), tmp_path / "j.db", play)

    async def play_mute(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.5)
        assert (steering.engaged, steering.aim) == (True, None)

    steer(Scene(), tmp_path / "k.db", play_mute)

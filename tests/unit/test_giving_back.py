"""A device goes back to its own control: again until it has it; what lapsed is taken anew, what is yielded is not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from supernoded.errors import LapsedError, NotHeldError, WireError, YieldedError
from supernoded.model import Effect, Mode, Setpoint, Sight
from supernoded.steering import Steering
from tests.unit.test_steering import Ramp, Scene, Valve, steer


@dataclass
class Left(Valve):
    """One that an earlier life may have left engaged."""

    left: bool = True
    unread: bool = False

    async def is_left(self) -> bool:
        if self.unread:
            raise WireError("the record cannot be read")
        return self.left


@dataclass
class Stubborn(Valve):
    """Says what it is told to of each try to hand it back."""

    answers: tuple[Sight | WireError, ...] = ()

    async def hand_back(self, scope: str) -> Sight:
        answer = self.answers[min(self.handed_back, len(self.answers) - 1)]
        self.handed_back += 1
        if isinstance(answer, WireError):
            raise answer
        return answer


BACK = Sight(effect=Effect.PRESENT, text="it has its own control")


@pytest.mark.parametrize("answer", [WireError("no answer"), Sight(effect=Effect.ABSENT, text="still direct")])
def test_one_that_does_not_go_back_is_told_so_again_until_it_does(tmp_path: Path, answer: Sight | WireError) -> None:
    valve = Stubborn(answers=(answer, answer, BACK))

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2.5)
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        assert valve.handed_back == 1
        assert scene.health.troubles() != []
        await asyncio.sleep(30)
        assert valve.handed_back == 3
        assert scene.health.troubles() == []
        assert len(valve.put_at) == 3

    notes = steer(Scene(valve=valve), tmp_path / "j.db", play)
    assert [what for what, _ in notes] == ["engaged", "disengaged", "disengaged"]
    assert "the device shows it: it has its own control" in notes[-1][1]


@pytest.mark.parametrize("answer", [NotHeldError("the lease has ended"), Sight(effect=Effect.UNKNOWN, text="another has it")])
def test_what_is_another_s_is_left_to_him(tmp_path: Path, answer: Sight | WireError) -> None:
    valve = Stubborn(answers=(answer,))

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2.5)
        scene.say(Mode.OBSERVE)
        await asyncio.sleep(30)
        assert valve.handed_back == 1
        assert scene.health.troubles() == []

    steer(Scene(valve=valve), tmp_path / "j.db", play)


@pytest.mark.parametrize(("left", "refusal", "times"), [(True, None, 1), (False, None, 0), (True, "another holds it", 0)])
def test_what_an_earlier_life_has_left_is_handed_back_in_any_mode_by_who_holds_it(
    tmp_path: Path, left: bool, refusal: str | None, times: int
) -> None:
    valve = Left(left=left, unread=True)

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(5)
        assert valve.handed_back == 0
        valve.unread = False
        await asyncio.sleep(30)
        assert valve.handed_back == times
        assert valve.put_at == []
        scene.refusal = None
        scene.say(Mode.ACT)
        await asyncio.sleep(3)
        assert valve.put_at[0][1].value == 31.0

    steer(Scene(valve=valve, mode=Mode.OBSERVE, refusal=refusal), tmp_path / "j.db", play)


@dataclass
class Refusing(Valve):
    error: WireError | None = None

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        if self.error is not None:
            raise self.error
        await super().put(setpoint, scope)


def test_what_has_lapsed_is_taken_anew_from_where_it_stands(tmp_path: Path) -> None:
    valve = Refusing()

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2.5)
        valve.error = LapsedError("it has its own control again")
        valve.stands = 70.0
        await asyncio.sleep(0.8)
        valve.error = None
        await asyncio.sleep(2.2)
        assert [setpoint.value for _, setpoint in valve.put_at] == [31.0, 32.0, 33.0, 71.0, 72.0]
        assert scene.health.troubles() == []

    notes = steer(Scene(valve=valve), tmp_path / "j.db", play)
    assert ("disengaged", "it has its own control again, it is taken anew") in notes


def test_what_is_yielded_is_not_taken_anew_by_a_blind_loop_nor_by_the_end_of_a_silence(tmp_path: Path) -> None:
    valve = Refusing()

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2.5)
        valve.error = YieldedError("another hand is on it")
        await asyncio.sleep(2)
        valve.error, valve.stands = None, 70.0  # from here on a put would go through: it is not ours to try from anew
        scene.loop.silent = True
        await asyncio.sleep(10)
        steering.lay_hand(None, 3.0, "alice")
        await asyncio.sleep(5)
        assert steering.engaged
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        assert valve.handed_back == 1
        scene.loop.silent = False
        scene.say(Mode.ACT)
        await asyncio.sleep(2)
        assert 71.0 <= valve.put_at[-1][1].value <= 73.0

    notes = steer(Scene(Ramp(), valve), tmp_path / "j.db", play)
    assert [text for what, text in notes if what == "engaged"] == ["from 30 %", "from 70 %"]

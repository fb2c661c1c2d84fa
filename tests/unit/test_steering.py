from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.history import History, View
from supernoded.journal.writer import open_journal
from supernoded.model import NODE, Effect, Mode, Said, Setpoint, Sight
from supernoded.modes import Modes
from supernoded.steering import LIVES, Helm, Steering
from tests.unit.worlds import LoopClock, health, run


class At(msgspec.Struct, frozen=True):
    value: float


@dataclass
class Ramp:
    """Adds one each period, from where the device was; silent when told so."""

    name: str = "ramp"
    scope: str = NODE
    period: float = 1.0
    target: str = "cdu/0/valve"
    watches: Mapping[str, float] = field(default_factory=lambda: {"coolant.valve": 60.0})
    silent: bool = False
    broken: bool = False

    def start(self, now_at: Setpoint | None) -> At:
        return At(now_at.value if now_at is not None else 0.0)

    def steer(self, seen: View, memory: At) -> tuple[At, Setpoint | None]:
        if self.broken:
            raise ZeroDivisionError("oops")
        if self.silent:
            return memory, None
        return At(memory.value + 1), Setpoint(target=self.target, quantity="coolant.valve", value=memory.value + 1, unit="%")


@dataclass
class Valve:
    target: str = "cdu/0/valve"
    quantity: str = "coolant.valve"
    stands: float = 30.0
    put_at: list[tuple[float, Setpoint]] = field(default_factory=list)
    handed_back: int = 0
    dead: bool = False

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        if self.dead:
            raise WireError("the valve does not answer")
        self.put_at.append((asyncio.get_running_loop().time(), setpoint))
        self.stands = setpoint.value

    async def now_at(self) -> Setpoint | None:
        return Setpoint(target=self.target, quantity=self.quantity, value=self.stands, unit="%")

    async def hand_back(self, scope: str) -> Sight:
        if self.dead:
            raise WireError("the valve does not answer")
        self.handed_back += 1
        return Sight(effect=Effect.PRESENT, text="its PLC has it")


@dataclass
class Scene:
    loop: Ramp = field(default_factory=Ramp)
    valve: Valve = field(default_factory=Valve)
    refusal: str | None = None
    mode: Mode = Mode.ACT

    def build(self, journal: Path) -> Steering:
        self.health, self.modes, clock = health(), Modes(self.mode, {}), LoopClock()
        self.journal = open_journal(journal, clock)
        helm = Helm(NODE, History({"coolant.valve": 60.0}), self.journal, clock, self.modes, self.health, lambda _: self.refusal)
        return Steering(helm, self.loop, self.valve, "thermal")

    def say(self, mode: Mode) -> None:
        self.modes.say(Said(policy="thermal", mode=mode, by="alice", at=0.0))


def steer(scene: Scene, journal: Path, play: Callable[[Scene, Steering], Awaitable[None]]) -> list[tuple[str, str]]:
    async def main() -> None:
        steering = scene.build(journal)
        task = asyncio.ensure_future(steering.run())
        await play(scene, steering)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await scene.journal.close()

    run(main())
    with sqlite3.connect(journal) as db:
        return db.execute("SELECT what, text FROM engagements ORDER BY id").fetchall()


def test_bumpless_and_each_setpoint_expires_by_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(3.5)
        assert [setpoint.value for _, setpoint in scene.valve.put_at] == [31.0, 32.0, 33.0, 34.0]
        assert all(setpoint.until == at + LIVES for at, setpoint in scene.valve.put_at)

    notes = steer(Scene(), tmp_path / "j.db", play)
    assert notes[0] == ("engaged", "from 30 %")
    assert notes[-1][0] == "disengaged"
    assert "handed back, and the device shows it: its PLC has it" in notes[-1][1]
    assert [record.getMessage() for record in caplog.records] == [f"loop ramp: {what}, {text}" for what, text in notes]


def test_in_observe_nothing_is_put_and_switching_to_act_does_not_jump(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(50)
        assert scene.valve.put_at == []
        scene.say(Mode.ACT)
        await asyncio.sleep(1.5)
        assert scene.valve.put_at[0][1].value == 31.0

    steer(Scene(mode=Mode.OBSERVE), tmp_path / "j.db", play)


def test_leaving_act_hands_the_device_back(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2.5)
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        assert scene.valve.handed_back == 1
        assert steering.last_word == "handed back, and the device shows it: its PLC has it"
        await asyncio.sleep(10)
        assert len(scene.valve.put_at) == 3

    steer(Scene(), tmp_path / "j.db", play)


def test_a_loop_with_a_long_period_hands_back_within_a_second(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(45.5)  # in the midst of its second period
        scene.say(Mode.OBSERVE)
        said = asyncio.get_running_loop().time()
        await steering.disengaged.wait()
        assert asyncio.get_running_loop().time() - said <= 1.0
        assert (scene.valve.handed_back, len(scene.valve.put_at)) == (1, 2)

    steer(Scene(Ramp(period=30.0)), tmp_path / "j.db", play)


def test_a_lost_lease_stops_it_at_once(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2.5)
        scene.refusal = "another holds cdu/0"
        await asyncio.sleep(10)
        assert len(scene.valve.put_at) == 3

    assert "another holds cdu/0" in steer(Scene(), tmp_path / "j.db", play)[-1][1]


def test_a_dead_device_is_named_and_the_setpoint_is_left_to_expire(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2.5)
        scene.valve.dead = True
        await asyncio.sleep(2)
        assert "was not put: the valve does not answer" in scene.health.troubles()[0].text
        scene.say(Mode.OBSERVE)
        await steering.disengaged.wait()
        assert steering.last_word == "not handed back, and tried again until it is: the valve does not answer"

    steer(Scene(), tmp_path / "j.db", play)


def test_a_loop_that_raises_or_is_silent_puts_nothing(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(1.5)
        scene.loop.silent = True
        await asyncio.sleep(3)
        scene.loop.silent, scene.loop.broken = False, True
        await asyncio.sleep(3)
        assert len(scene.valve.put_at) == 2
        assert "cannot steer, its last setpoint expires: ZeroDivisionError: oops" in scene.health.troubles()[0].text

    steer(Scene(), tmp_path / "j.db", play)


def test_a_loop_that_was_blind_for_longer_than_a_setpoint_lives_begins_where_the_device_stands_now(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(1.5)
        scene.loop.silent = True
        await asyncio.sleep(2)
        scene.loop.silent = False
        await asyncio.sleep(1)
        assert scene.valve.put_at[-1][1].value == 33.0  # a moment is nothing: it goes on
        scene.loop.silent = True
        await asyncio.sleep(10)
        scene.valve.stands = 70.0  # it has fallen back by itself, and its own controller has moved it
        scene.loop.silent = False
        await asyncio.sleep(1)
        assert scene.valve.put_at[-1][1].value == 71.0
        assert scene.valve.handed_back == 0

    notes = steer(Scene(), tmp_path / "j.db", play)
    assert [note for note in notes if note[0] == "engaged"] == [("engaged", "from 30 %"), ("engaged", "from 70 %")]


def test_a_summary_a_minute_and_not_a_row_per_output(tmp_path: Path) -> None:
    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(150)

    notes = steer(Scene(), tmp_path / "j.db", play)
    assert [what for what, _ in notes] == ["engaged", "summary", "summary", "disengaged"]
    assert notes[1][1] == "61 outputs, 31 to 91 %"


def test_the_pens_refusal_is_a_setpoint_not_put(tmp_path: Path) -> None:
    class Fenced(Valve):
        async def put(self, setpoint: Setpoint, scope: str) -> None:
            raise NotHeldError(f"{scope}: nothing was written")

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(2)
        assert "nothing was written" in scene.health.troubles()[0].text

    steer(Scene(valve=Fenced()), tmp_path / "j.db", play)


def test_a_word_spoken_while_the_device_is_read_stops_it_before_it_begins(tmp_path: Path) -> None:
    class Slow(Valve):
        async def now_at(self) -> Setpoint | None:
            await asyncio.sleep(0.5)
            return await super().now_at()

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(0.2)
        scene.say(Mode.OBSERVE)
        assert not steering.engaged  # so that whoever spoke need not wait
        await asyncio.sleep(5)
        assert scene.valve.put_at == []
        scene.say(Mode.ACT)
        await asyncio.sleep(2)

    notes = steer(Scene(valve=Slow()), tmp_path / "j.db", play)
    assert [what for what, _ in notes] == ["engaged", "disengaged"]


def test_what_is_no_number_is_never_put(tmp_path: Path) -> None:
    class Odd(Ramp):
        def steer(self, seen: View, memory: At) -> tuple[At, Setpoint | None]:
            return memory, Setpoint(target=self.target, quantity="coolant.valve", value=math.nan)

    async def play(scene: Scene, steering: Steering) -> None:
        await asyncio.sleep(5)
        assert scene.valve.put_at == []
        assert "the setpoint of cdu/0/valve is nan" in scene.health.troubles()[0].text

    steer(Scene(loop=Odd()), tmp_path / "j.db", play)

"""A person's hand on a device, through the desk, with the loops and the journal as they are."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from supernoded.admin.holding import check_value, lay_hand, list_loops, take_hand_off
from supernoded.errors import AdminError, WireError
from supernoded.history import History, View
from supernoded.house import House
from supernoded.journal.writer import open_journal
from supernoded.messages import HandOrder
from supernoded.model import Effect, Mode, Setpoint, Sight
from supernoded.modes import Modes
from supernoded.quantities import VOCABULARY
from supernoded.steering import Helm, Steering
from tests.unit.worlds import LoopClock, health, run

SCOPE = "cdu/0"


@dataclass
class Follower:
    """Puts what it is told by hand, else where it is."""

    target: str
    quantity: str
    scope: str = SCOPE
    period: float = 1.0
    watches: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"thermal {self.target}"

    def start(self, now_at: Setpoint | None) -> float:
        return now_at.value if now_at is not None else 0.0

    def steer(self, seen: View, memory: float) -> tuple[float, Setpoint]:
        return memory, Setpoint(target=self.target, quantity=self.quantity, value=memory, unit="%")

    def hold(self, seen: View, memory: float, value: float) -> tuple[float, Setpoint]:
        return self.steer(seen, value)


@dataclass
class Device:
    target: str
    quantity: str
    put_values: list[float] = field(default_factory=list)
    refusal: str = ""

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        self.put_values.append(setpoint.value)

    async def now_at(self) -> Setpoint | None:
        if self.refusal:
            raise WireError(self.refusal)
        return Setpoint(target=self.target, quantity=self.quantity, value=35.0, unit="%")

    async def hand_back(self, scope: str) -> Sight:
        return Sight(effect=Effect.PRESENT)


class Place:
    """A house with two loops on one unit, and one loop that another node's role has."""

    def __init__(self, folder: Path) -> None:
        self.modes, clock = Modes(Mode.ACT, {}), LoopClock()
        self.journal = open_journal(folder / "j.db", clock)
        self.valve, self.pump = Device("cdu/0/valve", "coolant.valve"), Device("cdu/0/pump", "coolant.pump_speed")
        helm = Helm(SCOPE, History({}), self.journal, clock, self.modes, health(), lambda _: None)
        loops = [Follower(one.target, one.quantity) for one in (self.valve, self.pump)]
        self.steerings = [Steering(helm, loop, one, "thermal") for loop, one in zip(loops, (self.valve, self.pump), strict=True)]
        others = [Follower("cdu/1/valve", "coolant.valve", "cdu/1"), Follower("cdu/2/valve", "coolant.valve", "cdu/2")]
        parts = SimpleNamespace(loops=[*loops, *others, Follower("n0/fans", "fan.duty", "node")])
        seats = SimpleNamespace(held=[SCOPE], roles={SCOPE: "n0", "cdu/1": "n3"})
        duties = [SimpleNamespace(steerings=self.steerings)]
        self.house = cast("House", SimpleNamespace(clock=clock, modes=self.modes, parts=parts, seats=seats, duties=duties))


def play(folder: Path, scene: Callable[[Place], Awaitable[None]]) -> None:
    async def main() -> None:
        place = Place(folder)
        tasks = [asyncio.ensure_future(steering.run()) for steering in place.steerings]
        await asyncio.sleep(0.5)
        await scene(place)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await place.journal.close()

    run(main())


def order(value: float | None, seconds: float = 600.0) -> HandOrder:
    return HandOrder(value=value, seconds=seconds, reason="cleaning")


def test_it_says_what_was_what_is_and_what_will_be_and_the_row_shows_whose_hand_it_is(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        now = asyncio.get_running_loop().time()
        told = lay_hand(place.house, "cdu/0/valve", order(40.0), "alice")
        assert (told.before, told.value, told.until, told.unit) == (35.0, 40.0, now + 600.0, "%")
        assert told.text == (
            "cdu/0/valve is held at 40 %, it stood at 35 %; then its loop thermal cdu/0/valve goes on from there, without a bump"
        )
        await asyncio.sleep(2)
        (valve, pump) = list_loops(place.steerings, asyncio.get_running_loop().time())
        assert (valve.by_hand, valve.hand_value, valve.hand_by, valve.hand_reason, valve.hand_left) == (
            True,
            40.0,
            "alice",
            "cleaning",
            598.0,
        )
        assert (valve.value, valve.engaged, valve.idle_because, pump.by_hand) == (40.0, True, "", False)
        back = take_hand_off(place.house, "cdu/0/valve", "alice")
        assert (back.before, back.until) == (40.0, None)
        assert "goes on from there" in back.text
        assert take_hand_off(place.house, "cdu/0/valve", "alice").text == "cdu/0/valve: nobody held it by hand"

    play(tmp_path, scene)


def test_in_silence_a_unit_hears_nothing_from_any_loop_of_its_scope(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        told = lay_hand(place.house, "cdu/0/valve", order(None), "alice")
        assert told.text.startswith("cdu/0/valve hears nothing, it stood at 35 %; then its loop thermal cdu/0/valve takes it anew")
        said = len(place.valve.put_values), len(place.pump.put_values)
        await asyncio.sleep(30)
        assert (len(place.valve.put_values), len(place.pump.put_values)) == said
        take_hand_off(place.house, "cdu/0/valve", "alice")
        await asyncio.sleep(2)
        assert len(place.valve.put_values) > said[0]
        assert len(place.pump.put_values) > said[1]

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("cdu/0/valv", "no loop of this daemon turns 'cdu/0/valv'; did you mean cdu/0/valve?"),
        ("x", "no loop of this daemon turns 'x'; there are cdu/0/pump, cdu/0/valve"),
        ("cdu/1/valve", "it belongs to the role cdu/1, which node n3 has, ask the daemon there"),
        ("cdu/2/valve", "it belongs to the role cdu/2, which nobody has, give it a node under"),
        ("n0/fans", "n0/fans cannot be steered: no plugin hands in a handle for it"),
    ],
)
def test_what_is_not_turned_here_is_refused_with_the_way_out(tmp_path: Path, target: str, sentence: str) -> None:
    async def scene(place: Place) -> None:
        with pytest.raises(AdminError) as laid:
            lay_hand(place.house, target, order(40.0), "alice")
        with pytest.raises(AdminError) as taken:
            take_hand_off(place.house, target, "alice")
        assert sentence in str(laid.value)
        assert sentence in str(taken.value)

    play(tmp_path, scene)


def test_what_does_not_act_is_not_held_and_the_mode_is_named(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        place.modes.default = Mode.ADVISE
        await asyncio.gather(*(steering.disengaged.wait() for steering in place.steerings))
        with pytest.raises(AdminError, match="its policy thermal is in mode advise; `supernodectl mode act --policy thermal`"):
            lay_hand(place.house, "cdu/0/valve", order(40.0), "alice")

    play(tmp_path, scene)


def test_what_could_not_be_taken_is_not_held_and_the_reason_is_given(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        place.valve.refusal = "another hand is on it"
        place.modes.default = Mode.OBSERVE
        await asyncio.gather(*(steering.disengaged.wait() for steering in place.steerings))
        place.modes.default = Mode.ACT
        await asyncio.sleep(3)
        with pytest.raises(AdminError, match="cdu/0/valve is not steered now: another hand is on it"):
            lay_hand(place.house, "cdu/0/valve", order(40.0), "alice")

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("quantity", "value", "limits"),
    [
        ("coolant.valve", 100.1, "0 to 100 %"),
        ("coolant.valve", math.nan, "0 to 100 %"),
        ("coolant.setpoint", 4.0, "5 to 60 C"),
        ("coolant.pressure_difference", -1.0, "0 to 1000 kPa"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(quantity: str, value: float, limits: str) -> None:
    with pytest.raises(AdminError, match=f"cannot be held at {value:g} .*: {limits} can be asked for"):
        check_value("cdu/0/x", VOCABULARY[quantity], value)


def test_a_quantity_of_somebodys_own_and_silence_have_no_range() -> None:
    check_value("x/1", None, 1e9)
    check_value("cdu/0/valve", VOCABULARY["coolant.valve"], None)

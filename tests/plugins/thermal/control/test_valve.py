import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.plugin import Setpoint
from supernoded_thermal.control.settings import ControlSettings
from supernoded_thermal.control.valve import ValveLoop
from tests.plugins.thermal.control.looking import CARDS, CDU, STEADY, Site, make_data

SET = ControlSettings()
LOOP = ValveLoop(CDU, CARDS, (CDU,), SET, make_data())
PLAIN = ValveLoop(CDU, CARDS, (CDU,), SET)
VALUES = st.one_of(st.none(), st.just(float("nan")), st.floats(-20.0, 110.0), st.floats(20.0, 24.0))
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "coolant.supply_temperature": VALUES,
        "coolant.supply_temperature.2": VALUES,
        "coolant.return_temperature": VALUES,
        "coolant.primary_temperature": VALUES,
        "coolant.flow": st.one_of(st.none(), st.floats(-100.0, 100.0)),
        "coolant.valve": st.one_of(st.none(), st.floats(0.0, 100.0)),
        "air.dew_point": VALUES,
        "coolant.alarm": st.sampled_from([frozenset(), frozenset({"supply-sensor"}), frozenset({"return-sensor"})]),
    },
)


def stand_at(value: float | None) -> Setpoint | None:
    return None if value is None else Setpoint(target="cdu/0/valve", quantity="coolant.valve", value=value, unit="%")


class Run:
    """A loop asked second by second, with a valve that goes where it is told."""

    def __init__(self, loop: ValveLoop = LOOP, valve: float | None = 26.0, watts: float | None = 2229.0) -> None:
        self.loop, self.memory, self.site, self.at = loop, loop.start(stand_at(valve)), Site(), 0.0
        self.valve, self.watts, self.told = valve, watts, list[Setpoint | None]()

    def go(self, seconds: int = 1, hand: float | None = None, step: float = 1.0, **changes: object) -> "Run":
        return self.go_on({name.replace("__", "."): value for name, value in changes.items()}, seconds, hand, step)

    def go_on(self, changes: Mapping[str, Any], seconds: int = 1, hand: float | None = None, step: float = 1.0) -> "Run":
        for _ in range(seconds):
            self.at += step
            self.site.add(self.at, {**STEADY, "coolant.valve": self.valve, **changes})
            if self.watts is not None:
                self.site.heat(self.at, self.watts)
            view = self.site.view(self.at)
            self.memory, told = self.loop.steer(view, self.memory) if hand is None else self.loop.hold(view, self.memory, hand)
            self.told.append(told)
            self.valve = self.valve if told is None else told.value
        return self

    @property
    def last(self) -> Setpoint:
        assert self.told[-1] is not None
        return self.told[-1]


def test_a_steady_loop_stays_where_it_is() -> None:
    run = Run().go(60)
    assert all(abs(told.value - 26.0) < 1.0 for told in run.told if told)
    assert run.last.note == ""


@pytest.mark.parametrize("stands", [5.0, 26.0, 60.0])
def test_it_begins_where_the_valve_stands_without_a_bump(stands: float) -> None:
    assert abs(Run(valve=stands).go().last.value - stands) <= SET.still_percent
    assert abs(Run(PLAIN, valve=stands).go().last.value - stands) <= SET.still_percent


def test_more_heat_in_the_return_opens_at_once_before_the_supply_shows_it() -> None:
    assert Run().go(20).go(3, coolant__return_temperature=28.0).last.value > 32.0


def test_without_commissioning_data_it_is_pi_alone_and_says_so() -> None:
    run = Run(PLAIN).go(20).go(3, coolant__return_temperature=28.0)
    assert run.last.value == 26.0
    assert run.last.note == "by PI alone: no commissioning data"
    assert run.go(3, coolant__supply_temperature=22.5).last.value > 28.0


def test_too_warm_opens_and_too_cold_closes() -> None:
    assert Run().go(5).go(5, coolant__supply_temperature=22.6).last.value > 28.0
    assert Run().go(5).go(5, coolant__supply_temperature=21.4).last.value < 24.0


def test_blind_is_no_heartbeat() -> None:
    run = Run().go(3).go(3, coolant__supply_temperature=None, coolant__return_temperature=None)
    assert run.told[-3:] == [None] * 3
    assert run.go(1).last.value == pytest.approx(26.0, abs=1.0)
    assert LOOP.steer(Site().view(0.0), LOOP.start(None))[1] is None
    assert Run().go(1, hand=50.0, coolant__supply_temperature=None, coolant__return_temperature=None).told == [None]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"coolant.supply_temperature": None}, "by energy balance"),
        ({"coolant.return_temperature": None}, "by the power model"),
        ({"coolant.primary_temperature": None}, "primary temperature"),
        ({"coolant.flow": None}, "last flow"),
        ({"coolant.valve": None}, "by its command"),
        ({"air.dew_point": None}, "commissioned floor"),
        ({"coolant.alarm": frozenset({"supply-sensor"})}, "by energy balance"),
        ({"coolant.flow": 0.1}, "no coolant flows"),
        ({"coolant.supply_temperature.2": 23.0}, "disagree"),
    ],
)
def test_what_it_does_without_is_said_and_nothing_jumps(changes: dict[str, Any], words: str) -> None:
    run = Run().go_on(changes, 10)
    assert words in run.last.note
    assert run.last.value == pytest.approx(26.0, abs=12.0 if "temperature.2" in str(changes) else 1.0)


def test_the_power_model_alone_opens_when_the_heat_arrives_and_not_before() -> None:
    run = Run().go(30, coolant__return_temperature=None)
    run.watts = 4458.0
    assert run.go(15, coolant__return_temperature=None).last.value == pytest.approx(26.0, abs=1.0)
    assert run.go(40, coolant__return_temperature=None).last.value > 35.0


def test_neither_return_nor_power_is_pi_alone() -> None:
    run = Run(watts=None).go(10, coolant__return_temperature=None)
    assert "by PI alone" in run.last.note
    assert run.go(3, coolant__return_temperature=None, coolant__supply_temperature=22.5).last.value > 28.0


def test_a_valve_that_is_stuck_winds_nothing_up() -> None:
    run = Run()
    for _ in range(300):
        run.go(1, coolant__supply_temperature=23.0, coolant__valve=26.0)
    assert run.memory.regulator.integral < 1.0
    assert "does not follow" in run.last.note


def test_an_end_stop_winds_nothing_up() -> None:
    run = Run().go(300, coolant__supply_temperature=30.0, coolant__return_temperature=34.0, coolant__primary_temperature=29.0)
    assert run.last.value == 100.0
    assert run.go(40).last.value < 60.0


def test_by_hand_it_stays_within_the_floor_and_hands_back_without_a_bump() -> None:
    run = Run().go(5).go(60, hand=40.0)
    assert run.last.value == 40.0
    assert abs(run.go(1).last.value - 40.0) < 3.0
    assert run.go(120).last.value == pytest.approx(26.0, abs=4.0)
    humid = Run().go(60, hand=100.0, air__dew_point=19.9)
    assert humid.last.value < 30.0  # the floor is 21.9


def test_below_the_floor_it_never_opens_further() -> None:
    run = Run().go(5)
    for _ in range(20):
        before = run.last.value
        run.go(1, air__dew_point=21.0, coolant__return_temperature=28.0)
        assert run.last.value <= before


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CHANGES, st.one_of(st.none(), st.floats(-50.0, 150.0))), min_size=1, max_size=25), st.booleans())
def test_whatever_is_read_the_valve_stays_in_its_stroke_and_slew(steps: list[tuple[dict[str, Any], float | None]], known: bool) -> None:
    run, before = Run(LOOP if known else PLAIN), 26.0
    for changes, hand in steps:
        run.go_on(changes, 1, hand)
        told, output = run.told[-1], run.memory.output
        assert output is not None
        assert told is None or 0.0 <= told.value <= 100.0
        assert math.isfinite(output)
        assert abs(output - before) <= SET.slew_percent_s * 1.0 + 1e-6
        before = output

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Setpoint
from supernoded_thermal.control.pump import PumpLoop, PumpMemory
from supernoded_thermal.control.settings import ControlSettings
from tests.plugins.thermal.control.looking import CDU, Site

SET = ControlSettings()
LOOP = PumpLoop(CDU, {"n0": 8, "n1": 8}, SET)
FLOOR = 8 * 350.0 / (4180.0 * 15.0) * 60.0  # L/min of a node
AT = Setpoint(target="cdu/0/pump", quantity="coolant.pump_speed", value=60.0, unit="%")


def run(
    pressures: Sequence[float | None], flows: Mapping[str, float] | None = None, memory: PumpMemory | None = None
) -> tuple[PumpMemory, list[float]]:
    """The speeds for pressures second by second."""
    memory, site, speeds = memory or LOOP.start(AT), Site(LOOP.watches), []
    for at, pressure in enumerate(pressures):
        site.read(float(at), coolant__pressure_difference=pressure)
        for node, flow in (flows or {}).items():
            site.read(float(at), node, coolant__flow=flow)
        memory, setpoint = LOOP.steer(site.view(float(at)), memory)
        assert setpoint is not None
        speeds.append(setpoint.value)
    return memory, speeds


def test_pressure_is_held() -> None:
    speed = 45.0
    memory, site = LOOP.start(Setpoint(target="", quantity="", value=speed)), Site(LOOP.watches)
    for at in range(120):
        site.read(float(at), coolant__pressure_difference=100.0 * (speed / 60.0) ** 2)
        memory, setpoint = LOOP.steer(site.view(float(at)), memory)
        assert setpoint is not None
        assert abs(setpoint.value - speed) <= SET.pump_slew_percent_s + 1e-9
        speed = setpoint.value
    assert 100.0 * (speed / 60.0) ** 2 == pytest.approx(100.0, abs=2.5)


def test_right_pressure_is_let_be_and_unknown_pressure_keeps_the_speed() -> None:
    assert run([100.0, 100.5, 99.5])[1] == [60.0] * 3
    site = Site(LOOP.watches)
    _, setpoint = LOOP.steer(site.view(0.0), LOOP.start(AT))
    assert setpoint is not None
    assert (setpoint.value, "unknown" in setpoint.note) == (60.0, True)


def test_unknown_speed_turns_nothing() -> None:
    assert LOOP.steer(Site(LOOP.watches).read(0.0, coolant__pressure_difference=50.0).view(0.0), LOOP.start(None))[1] is None


def test_a_lost_pump_is_the_units_own_to_take_over_and_help_comes_later() -> None:
    _, speeds = run([100.0] * 3 + [50.0] * 30)
    assert speeds[3:22] == [60.0] * 19
    assert speeds[-1] > 60.0


def test_a_node_below_its_floor_gets_more_at_most_once_a_minute() -> None:
    memory, _ = run([100.0] * 130, {"n0": FLOOR * 0.9, "n1": FLOOR * 2.0})
    assert memory.target == SET.most_pressure_kpa  # 100 / 0.81, and once more
    memory, _ = run([100.0] * 50, {"n0": FLOOR * 0.9})
    assert memory.target == pytest.approx(100.0 / 0.81)


def test_less_is_held_again_when_all_have_had_enough_for_long() -> None:
    memory, _ = run([100.0] * 5, {"n0": FLOOR * 0.9})
    assert memory.target > 100.0
    memory, _ = run([memory.target] * 700, {"n0": FLOOR * 2.0}, memory)
    assert memory.target == 100.0


@given(st.lists(st.one_of(st.none(), st.floats(-100.0, 500.0), st.just(float("nan"))), min_size=1, max_size=30))
def test_whatever_is_read_it_stays_within_its_speeds_and_slew(pressures: list[float | None]) -> None:
    _, speeds = run(pressures)
    assert all(SET.least_speed_percent <= speed <= 100.0 for speed in speeds)
    assert all(abs(after - before) <= SET.pump_slew_percent_s + 1e-9 for before, after in zip([60.0, *speeds], speeds, strict=False))


def test_by_hand_it_never_stops() -> None:
    _, setpoint = LOOP.hold(Site(LOOP.watches).view(0.0), LOOP.start(AT), 5.0)
    assert setpoint is not None
    assert setpoint.value == SET.least_speed_percent

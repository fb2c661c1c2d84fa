import math

import pytest

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import State
from sim_hardware.plant.cooling.orders import (
    AddMaster,
    Beat,
    Foul,
    Humidify,
    LosePrimary,
    SetControl,
    SetTemperature,
    SetValve,
    SetWatchdog,
    ShiftPrimary,
    StickValve,
)
from sim_hardware.plant.words import OrderError
from tests.sim.plant.cooling.cooled import give, list_kinds, load, read, run, start_site


def _start(plant: str = "reference", share: float = 0.7) -> State:
    state = start_site(plant)
    return run(state, 10.0, load(state, share))[0]


def _supply(state: State) -> float:
    return read(state, "cdu/0", "coolant.true_supply_temperature")


def _beat_on(state: State, until: float) -> State:
    while state.at < until:
        state, _ = run(give(state, Beat("cdu/0")), min(until, state.at + 10.0), load(state, 0.7))
    return state


def test_a_setpoint_of_ours_is_held_while_the_heart_beats() -> None:
    state = _beat_on(give(_start(), SetControl("cdu/0", "setpoint"), SetTemperature("cdu/0", 24.0)), 400.0)
    assert cooling.sense(state, "cdu/0", "coolant.control") == "setpoint"
    assert _supply(state) == pytest.approx(24.0, abs=0.05)
    assert read(state, "cdu/0", "coolant.watchdog_left") == pytest.approx(5.0)


def test_only_a_heartbeat_keeps_the_watchdog_quiet() -> None:
    state = start_site()
    state, _ = run(state, 1.0, load(state))
    state = give(state, SetControl("cdu/0", "direct"))
    for at in range(2, 20):
        state, _ = run(state, float(at), load(state))
        if at < 16:
            state = give(state, SetControl("cdu/0", "direct"), SetWatchdog("cdu/0", 15.0), SetValve("cdu/0", 50.0))
    assert cooling.sense(state, "cdu/0", "coolant.control") == "auto"


def test_the_watchdog_bites_to_the_millisecond_and_the_plc_holds_its_own() -> None:
    state = give(_start(), SetControl("cdu/0", "setpoint"), SetTemperature("cdu/0", 24.0), SetWatchdog("cdu/0", 7.123))
    assert state.next_time == pytest.approx(17.123)
    state, happened = run(state, 20.0, load(state, 0.7))
    assert [(h.kind, h.at) for h in happened if h.kind.startswith("cdu.")] == [("cdu.fallback", 17.123), ("cdu.control_changed", 17.123)]
    assert cooling.sense(state, "cdu/0", "coolant.control") == "auto"
    assert state.next_time == math.inf
    state, _ = run(state, 400.0, load(state, 0.7))
    assert _supply(state) == pytest.approx(22.0, abs=0.05)


def test_direct_takes_the_valve_without_a_bump() -> None:
    state = give(_start(), SetControl("cdu/0", "direct"))
    before = read(state, "cdu/0", "coolant.valve")
    state = _beat_on(state, 60.0)
    assert read(state, "cdu/0", "coolant.valve") == before
    state = _beat_on(give(state, SetValve("cdu/0", 80.0)), 90.0)
    assert read(state, "cdu/0", "coolant.valve") == pytest.approx(80.0)
    assert _supply(state) < 21.5
    after = give(state, SetControl("cdu/0", "auto"))
    assert list_kinds(list(after.happened)) == ["cdu.control_changed"]
    after, _ = run(after, 91.0, load(state, 0.7))
    assert abs(read(after, "cdu/0", "coolant.valve") - 80.0) < 7.0


def test_a_valve_moves_at_its_actuators_speed() -> None:
    state = give(_start(), SetControl("cdu/0", "direct"), SetValve("cdu/0", 0.0))
    before = read(state, "cdu/0", "coolant.valve")
    state, _ = run(state, 11.0, load(state, 0.7))
    assert before - read(state, "cdu/0", "coolant.valve") == pytest.approx(100.0 / 15.0)
    assert read(state, "cdu/0", "coolant.valve_command") == 0.0


def test_backlash_swallows_a_small_reversal() -> None:
    state = give(_start("worn-valve"), SetControl("cdu/0", "direct"), SetValve("cdu/0", 70.0))
    state = _beat_on(state, 40.0)
    there = read(state, "cdu/0", "coolant.valve")
    state = _beat_on(give(state, SetValve("cdu/0", 68.0)), 60.0)
    assert read(state, "cdu/0", "coolant.valve") == there
    state = _beat_on(give(state, SetValve("cdu/0", 60.0)), 90.0)
    assert read(state, "cdu/0", "coolant.valve") == pytest.approx(61.5)


def test_a_stuck_valve_shows_in_feedback_and_not_in_command() -> None:
    state, _ = run(give(_start(), StickValve("cdu/0", 10.0)), 100.0, load(_start(), 0.7))
    assert read(state, "cdu/0", "coolant.valve") == 10.0
    assert read(state, "cdu/0", "coolant.valve_command") == 100.0
    assert _supply(state) > 23.0
    state, _ = run(give(state, StickValve("cdu/0", None)), 500.0, load(state, 0.7))
    assert _supply(state) == pytest.approx(22.0, abs=0.1)


def test_what_is_broken_before_the_beginning_is_broken_at_the_beginning() -> None:
    state = give(start_site(), StickValve("cdu/0", 12.0))
    state, _ = run(state, 60.0, load(state, 0.7))
    assert read(state, "cdu/0", "coolant.valve") == 12.0
    assert _supply(state) > 22.5


def test_the_dew_point_lifts_the_setpoint_that_counts() -> None:
    state = give(_start(), Humidify(21.0))
    state, happened = run(state, 400.0, load(state, 0.7))
    assert read(state, "cdu/0", "coolant.setpoint") == 23.0
    assert read(state, "cdu/0", "coolant.setpoint_asked") == 22.0
    assert _supply(state) == pytest.approx(23.0, abs=0.05)
    assert "condensation" not in list_kinds(happened)


def test_condensation_is_what_really_drips() -> None:
    state = give(_start(), SetControl("cdu/0", "direct"), SetWatchdog("cdu/0", 600.0), SetValve("cdu/0", 100.0), Humidify(20.0))
    state, happened = run(state, 120.0, load(state, 0.7))
    assert _supply(state) < 20.0
    assert list_kinds(happened, "cdu/0").count("condensation") == 1
    state, happened = run(give(state, Humidify(5.0)), 121.0, load(state, 0.7))
    assert list_kinds(happened, "cdu/0") == ["condensation.ended"]


def test_the_last_of_two_masters_wins() -> None:
    state = give(_start(), SetControl("cdu/0", "setpoint"), SetTemperature("cdu/0", 22.0), AddMaster("cdu/0", 26.0))
    state, _ = run(state, 12.0, load(state, 0.7))
    assert read(state, "cdu/0", "coolant.setpoint") == 26.0
    state, _ = run(give(state, SetTemperature("cdu/0", 22.0)), 12.5, load(state, 0.7))
    assert read(state, "cdu/0", "coolant.setpoint") == 22.0
    state, _ = run(give(state, AddMaster("cdu/0", None), SetTemperature("cdu/0", 21.0)), 14.0, load(state, 0.7))
    assert read(state, "cdu/0", "coolant.setpoint") == 21.0


def test_a_plc_that_hears_one_master_does_not_hear_the_other() -> None:
    state = give(_start("three-pumps"), SetControl("cdu/0", "setpoint"), SetTemperature("cdu/0", 23.0), AddMaster("cdu/0", 26.0))
    state, _ = run(state, 16.0, load(state, 0.7))
    assert read(state, "cdu/0", "coolant.setpoint") == 23.0


def test_primary_water_lost_warms_the_supply_until_it_is_back() -> None:
    state = give(_start(), LosePrimary("cdu/0", lost=True))
    assert list_kinds(list(state.happened)) == ["primary.lost"]
    state, happened = run(state, 60.0, load(state, 0.7))
    assert _supply(state) > 27.0
    assert read(state, "cdu/0", "coolant.heat") == 0.0
    assert list_kinds(happened, "cdu/0") == ["coolant.out_of_band", "coolant.swing"]
    state = give(state, LosePrimary("cdu/0", lost=False))
    assert list_kinds(list(state.happened)) == ["primary.back"]
    state, _ = run(state, 600.0, load(state, 0.7))
    assert _supply(state) == pytest.approx(22.0, abs=0.1)


@pytest.mark.parametrize(
    "order", [ShiftPrimary("cdu/0", kelvin=2.0), ShiftPrimary("cdu/0", kilopascals=-80.0), Foul("cdu/0", 0.5)], ids=["warm", "weak", "foul"]
)
def test_worse_primary_water_and_fouling_want_more_valve(order: ShiftPrimary | Foul) -> None:
    before = _start()
    state, _ = run(give(before, order), 600.0, load(before, 0.7))
    assert _supply(state) == pytest.approx(22.0, abs=0.05)
    assert read(state, "cdu/0", "coolant.valve") > read(before, "cdu/0", "coolant.valve") + 3.0


def test_without_power_the_plc_forgets_us_and_hears_nothing() -> None:
    state = give(_start(), SetControl("cdu/0", "setpoint"))
    state, happened = run(state, 11.0, load(state, 0.7, "cdu/0"))
    assert [kind for kind in list_kinds(happened) if kind.startswith("cdu.")] == ["cdu.fallback", "cdu.control_changed"]
    assert read(state, "cdu/0", "coolant.live") == 0.0
    with pytest.raises(OrderError, match="cdu/0: its PLC has no power or still boots"):
        cooling.apply(state, Beat("cdu/0"))
    state, _ = run(state, 17.0, load(state, 0.7))
    assert cooling.sense(cooling.apply(state, Beat("cdu/0")), "cdu/0", "coolant.control") == "auto"

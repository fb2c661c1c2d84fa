"""Flow, pumps, level: what is learned of a healthy loop, and what is not."""

from __future__ import annotations

import pytest

from supernoded.model import Level, Severity
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, NAMES, Bench, Change

FLOW, LIFT = (CDU, "coolant.flow"), (CDU, "coolant.pressure_difference")
Changes = dict[tuple[str, str], Change]


def at_speed(percent: float, share: float = 1.0) -> Changes:
    """The loop at another speed, and with a share of the flow that belongs to it."""
    ratio = percent / 60.0
    pumps: Changes = {(f"cdu/0/pump{n}", "pump.speed"): percent for n in (0, 1)}
    return {**pumps, FLOW: 30.0 * ratio * share, LIFT: 100.0 * (ratio * share) ** 2}


@pytest.mark.parametrize("percent", [30.0, 45.0, 80.0, 100.0])
def test_flow_is_judged_against_what_the_pumps_should_give(percent: float) -> None:
    bench = Bench("coolant.flow")
    bench.run(60)
    assert bench.run(30, at_speed(percent))[CDU].level is Level.CLEAR
    assert bench.run(30, at_speed(percent, 0.6))[CDU].level is Level.RAISED
    level = Bench("coolant.level")
    level.run(60)
    assert level.run(30, at_speed(percent))[CDU].level is Level.CLEAR


def test_a_fault_that_lasts_is_never_learned() -> None:
    bench = Bench("coolant.flow")
    bench.run(60)
    assert bench.run(1200, {FLOW: 18.0})[CDU].level is Level.RAISED
    assert bench.run(1200, {FLOW: 0.0})[CDU].level is Level.RAISED
    assert bench.run(20)[CDU].level is Level.CLEAR


def test_a_meter_that_showed_full_scale_for_a_while_leaves_no_usual_flow_behind() -> None:
    bench = Bench("coolant.flow")
    bench.run(60)
    bench.run(300, {FLOW: 6553.5})
    assert bench.run(60)[CDU].level is Level.CLEAR


def test_a_rated_flow_that_is_set_needs_no_learning() -> None:
    settings = ThermalSettings(rated_flow={"cdu0": 30.0})
    bench = Bench("coolant.flow", settings)
    assert bench.run(4, {FLOW: 5.0})[CDU].level is Level.RAISED


def test_a_branch_that_we_have_closed_is_no_lost_flow() -> None:
    bench = Bench("coolant.flow")
    bench.run(60)
    closed: Changes = {("n0", "coolant.branch"): 0.0, ("n1", "coolant.branch"): 0.0}
    pumps: Changes = {(f"cdu/0/pump{n}", "pump.speed"): 40.0 for n in (0, 1)}
    assert bench.run(20, {**closed, **pumps, FLOW: 15.0})[CDU].level is Level.CLEAR


@pytest.mark.parametrize("kind", ["coolant.flow", "coolant.pump"])
def test_nothing_flows_where_every_branch_is_closed_and_that_is_no_trouble(kind: str) -> None:
    bench = Bench(kind)
    bench.run(60)
    closed: Changes = {(node, "coolant.branch"): 0.0 for node in NAMES}
    verdict = bench.run(20, {**closed, FLOW: 0.0, LIFT: 140.0})[CDU]
    assert verdict.level is Level.CLEAR


def test_a_loop_that_was_never_running_has_not_lost_anything() -> None:
    off: Changes = {(f"cdu/0/pump{n}", f"pump.{what}"): 0.0 for n in (0, 1) for what in ("speed", "rpm", "command")}
    off |= {(f"cdu/0/pump{n}", "pump.state"): "off" for n in (0, 1)}
    bench = Bench("coolant.flow")
    assert bench.run(30, {**off, FLOW: 0.0, LIFT: 0.0})[CDU].level is Level.CLEAR


TRIPPED: Changes = {("cdu/0/pump0", "pump.state"): "tripped", ("cdu/0/pump0", "pump.speed"): 0.0, ("cdu/0/pump0", "pump.rpm"): 0.0}
STANDBY: Changes = {("cdu/0/pump2", "pump.state"): "running", ("cdu/0/pump2", "pump.speed"): 60.0}


PUMP = "cdu/0/pump0"


def test_a_takeover_is_told_and_confirmed_by_flow_and_pressure() -> None:
    """First it is the unit's trouble; once flow agrees it is that of the pump that waits for its repair."""
    bench = Bench("coolant.pump")
    bench.run(60)
    gap = bench.run(5, {**TRIPPED, FLOW: 16.0, LIFT: 28.0})
    assert (gap[CDU].level, gap[CDU].severity, gap[PUMP].level) == (Level.RAISED, Severity.WARNING, Level.UNSURE)
    assert "not what speed and pressure should give" in gap[CDU].text
    assert bench.run(8, {**TRIPPED, **STANDBY})[PUMP].level is Level.UNSURE  # one at a time
    over = bench.run(15, {**TRIPPED, **STANDBY})
    assert (over[CDU].level, over[PUMP].level, over[PUMP].severity) == (Level.CLEAR, Level.RAISED, Severity.WARNING)
    assert "cdu/0/pump1, cdu/0/pump2 run; flow is 30 of 30 L/min, which agrees with speed and pressure" in over[PUMP].text


def test_what_is_seen_while_one_pump_runs_down_and_another_starts_is_not_learned() -> None:
    bench = Bench("coolant.pump")
    bench.run(60)
    bench.run(4, {**TRIPPED, FLOW: 0.0, LIFT: 0.0})
    runs_down: Changes = {**TRIPPED, ("cdu/0/pump0", "pump.speed"): 11.0, ("cdu/0/pump2", "pump.speed"): 12.0}
    bench.run(1, {**runs_down, ("cdu/0/pump2", "pump.state"): "running", FLOW: 28.0})
    assert bench.run(20, {**TRIPPED, **STANDBY})[CDU].level is Level.CLEAR


def test_a_pump_that_trips_is_not_told_for_itself_while_it_may_be_the_trouble_of_its_unit() -> None:
    bench = Bench("coolant.pump")
    bench.run(60)
    assert bench.run(3, TRIPPED)[PUMP].level is Level.UNSURE  # it runs down
    gone = bench.run(3, {**TRIPPED, FLOW: 0.0, LIFT: 0.0})
    assert (gone[CDU].level, gone[PUMP].level) == (Level.RAISED, Level.UNSURE)


@pytest.mark.parametrize("kind", ["coolant.band", "coolant.capacity"])
def test_a_pump_that_waits_for_its_repair_explains_nothing_else(kind: str) -> None:
    bench = Bench(kind)
    bench.run(60)
    over: Changes = {**TRIPPED, **STANDBY}
    assert bench.run(300, over)[CDU].level is Level.CLEAR
    warm: Changes = {(CDU, f"coolant.{name}"): value for name, value in (("supply_temperature", 23.0), ("supply_temperature.2", 23.0))}
    valve: Changes = {(CDU, f"coolant.{name}"): 100.0 if kind == "coolant.capacity" else 60.0 for name in ("valve", "valve_command")}
    assert bench.run(90, {**over, **warm, **valve})[CDU].level is Level.RAISED


def test_no_flow_is_critical_when_no_standby_comes_or_there_is_none() -> None:
    all_: Changes = {(f"cdu/0/pump{n}", f"pump.{what}"): 0.0 for n in (0, 1) for what in ("speed", "rpm")}
    all_ |= {**{(f"cdu/0/pump{n}", "pump.state"): "tripped" for n in (0, 1)}, FLOW: 0.0, LIFT: 0.0}
    waits = ThermalSettings(takeover_s=8.0)
    bench = Bench("coolant.pump", waits)
    bench.run(60)
    assert bench.run(7, all_)[CDU].severity is Severity.WARNING  # the unit starts its standby by itself
    assert bench.run(4, all_)[CDU].severity is Severity.CRITICAL
    none = Bench("coolant.pump", waits)
    none.run(60)
    assert none.run(3, {**all_, ("cdu/0/pump2", "pump.state"): "tripped"})[CDU].severity is Severity.CRITICAL


def test_a_pump_that_failed_is_remembered_till_it_turns() -> None:
    """The unit takes its run signal away: then nothing but memory says that there is no standby any more."""
    bench = Bench("coolant.pump")
    bench.run(60)
    bench.run(5, {**TRIPPED, **STANDBY})
    off: Changes = {**TRIPPED, **STANDBY, ("cdu/0/pump0", "pump.state"): "off", ("cdu/0/pump0", "pump.command"): 0.0}
    verdict = bench.run(100, off)[PUMP]
    assert verdict.level is Level.RAISED
    assert "cdu/0/pump0 has not run since it failed" in verdict.text
    assert bench.run(12)[PUMP].level is Level.CLEAR


def test_a_pump_whose_drive_has_reset_stands_by_again() -> None:
    bench = Bench("coolant.pump")
    bench.run(60)
    bench.run(20, {**TRIPPED, **STANDBY})
    resets: Changes = {**TRIPPED, **STANDBY, ("cdu/0/pump0", "pump.state"): "resetting", ("cdu/0/pump0", "pump.command"): 0.0}
    assert bench.run(20, resets)[PUMP].level is Level.RAISED
    assert bench.run(12, {**resets, ("cdu/0/pump0", "pump.state"): "off"})[PUMP].level is Level.CLEAR


def test_a_pump_that_tells_no_more_than_its_speed_is_judged_by_what_it_was_told() -> None:
    silent = [(f"cdu/0/pump{n}", f"pump.{what}") for n in (0, 1, 2) for what in ("rpm", "state")]
    bench = Bench("coolant.pump")
    assert bench.run(30, without=silent)[CDU].level is Level.CLEAR
    verdict = bench.run(6, {("cdu/0/pump0", "pump.speed"): 0.0}, without=silent)[PUMP]
    assert verdict.level is Level.RAISED
    assert "told to run at 60 % and does not turn (0 %)" in verdict.text


def test_a_counter_of_turns_that_is_lost_is_no_standing_pump() -> None:
    bench = Bench("coolant.pump")
    bench.run(10)
    assert bench.run(30, {("cdu/0/pump0", "pump.rpm"): None})[CDU].level is Level.CLEAR


def test_a_level_that_falls_is_told_before_it_is_low() -> None:
    bench = Bench("coolant.level")
    bench.run(60)
    for second in range(240):
        said = bench.run(1, {(CDU, "coolant.level"): 80.0 - second / 60.0})
    assert said[CDU].level is Level.RAISED
    assert "in 3 minutes" in said[CDU].text


def test_a_level_that_rocks_by_a_step_does_not_fall() -> None:
    bench = Bench("coolant.level")
    for second in range(300):
        assert bench.run(1, {(CDU, "coolant.level"): 80.0 - (second // 7) % 2})[CDU].level is Level.CLEAR


def test_a_standby_that_acknowledges_and_does_not_run_is_not_waited_for() -> None:
    bench = Bench("coolant.pump")
    bench.run(60)
    gone: Changes = {**TRIPPED, ("cdu/0/pump1", "pump.state"): "tripped", FLOW: 0.0, LIFT: 0.0}
    gone |= {(f"cdu/0/pump{n}", f"pump.{what}"): 0.0 for n in (0, 1) for what in ("speed", "rpm")}
    assert bench.run(3, gone)[CDU].severity is Severity.WARNING
    deaf: Changes = {**gone, ("cdu/0/pump2", "pump.state"): "starting", ("cdu/0/pump2", "pump.speed"): 0.0}
    assert bench.run(3, deaf)[CDU].severity is Severity.WARNING  # it starts
    assert bench.run(3, deaf)[CDU].severity is Severity.CRITICAL


def test_flow_that_is_gone_is_an_emergency_though_the_reservoir_is_low() -> None:
    """Of a low reservoir people are told, and nobody is capped for it."""
    bench = Bench("coolant.flow")
    bench.run(60)
    low: Changes = {(CDU, "coolant.level"): 10.0}
    assert bench.run(20, {**low, FLOW: 15.0})[CDU].level is Level.UNSURE
    assert bench.run(3, {**low, FLOW: 0.0, LIFT: 0.0})[CDU].level is Level.RAISED


def test_pumps_that_turn_too_slowly_all_the_time_explain_no_lost_flow() -> None:
    """Nobody says that they fail, as they do what they are told: then flow must."""
    bench = Bench("coolant.flow")
    bench.run(60)
    slow: Changes = {(f"cdu/0/pump{n}", f"pump.{what}"): 10.0 for n in (0, 1) for what in ("speed", "command")}
    slow |= {(f"cdu/0/pump{n}", "pump.rpm"): 300.0 for n in (0, 1)}
    assert bench.run(5, {**slow, FLOW: 3.0, LIFT: 2.0})[CDU].level is Level.UNSURE
    verdict = bench.run(12, {**slow, FLOW: 3.0, LIFT: 2.0})[CDU]
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.CRITICAL)

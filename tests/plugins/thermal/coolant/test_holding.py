"""The supply: setpoints that change, swings, and two masters."""

from __future__ import annotations

import math

import pytest

from supernoded.model import Level, Severity
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, Bench, read

SUPPLY, SECOND, SETPOINT = ("coolant.supply_temperature", "coolant.supply_temperature.2", "coolant.setpoint")


def both(celsius: float) -> dict[tuple[str, str], float | str | set[str] | None]:
    return {(CDU, SUPPLY): celsius, (CDU, SECOND): celsius}


def test_hysteresis_keeps_what_is_raised_raised() -> None:
    bench = Bench("coolant.band")
    bench.run(10)
    assert bench.run(8, both(22.35))[CDU].level is Level.RAISED
    assert bench.run(30, both(22.28))[CDU].level is Level.RAISED  # within the limit, but not by enough
    assert bench.run(9, both(22.1))[CDU].level is Level.RAISED
    assert bench.run(3, both(22.1))[CDU].level is Level.CLEAR


def test_alarms_follow_the_effective_setpoint() -> None:
    """A humid hall lifts it; the supply has time to follow, and is judged by the new one then."""
    bench = Bench("coolant.band")
    bench.run(20)
    lifted = {(CDU, SETPOINT): 23.5}
    assert bench.run(60, {**both(22.4), **lifted})[CDU].level is Level.CLEAR
    assert bench.run(60, {**both(23.5), **lifted})[CDU].level is Level.CLEAR
    assert bench.run(80, {**both(22.0), **lifted})[CDU].level is Level.RAISED


@pytest.mark.parametrize(("celsius", "level"), [(23.0, Level.UNSURE), (25.0, Level.RAISED)])
def test_a_flow_that_has_changed_explains_what_follows_but_no_supply_that_is_far_off(celsius: float, level: Level) -> None:
    bench = Bench("coolant.band")
    bench.run(20)
    less = {(CDU, "coolant.flow"): 20.0}  # two thirds of what it was
    bench.run(70, {**both(celsius), **less})
    verdict = bench.run(20, {**both(celsius), **less})[CDU]
    assert verdict.level is level
    assert verdict.text.startswith("explained by coolant.flow") is (level is Level.UNSURE)


def test_a_sensor_that_its_unit_flags_is_not_believed() -> None:
    """It may read as it did before (row 23); the other one is gone by."""
    bench = Bench("coolant.band")
    flagged: dict[tuple[str, str], float | str | set[str] | None] = {(CDU, "coolant.alarm"): {"supply-sensor"}}
    assert bench.run(20, {**flagged, (CDU, SUPPLY): 25.0})[CDU].level is Level.CLEAR
    assert bench.run(20, {**flagged, (CDU, SECOND): 22.5})[CDU].level is Level.RAISED
    both_flagged: dict[tuple[str, str], float | str | set[str] | None] = {(CDU, "coolant.alarm"): {"supply-sensor", "supply-2-sensor"}}
    verdict = bench.run(20, both_flagged)[CDU]
    assert verdict.level is Level.UNSURE
    assert "it says supply-2-sensor, supply-sensor" in verdict.text


def test_without_a_setpoint_told_dew_and_what_was_asked_make_it() -> None:
    bench = Bench("coolant.band")
    gone = [(CDU, SETPOINT)]
    humid = {(CDU, "air.dew_point"): 21.5, (CDU, "coolant.setpoint_asked"): 20.0}
    assert bench.run(20, {**both(23.5), **humid}, without=gone)[CDU].level is Level.CLEAR
    assert "23.50" in bench.run(1, {**both(23.5), **humid}, without=gone)[CDU].text


@pytest.mark.parametrize(("size", "level"), [(0.2, Level.CLEAR), (0.3, Level.RAISED)])
def test_a_swing_is_peak_to_peak_within_a_minute(size: float, level: Level) -> None:
    bench = Bench("coolant.swing")
    for second in range(90):
        said = bench.run(1, both(22.0 + size * math.sin(second / 6.0)))
    assert (said[CDU].level, said[CDU].severity) == (level, Severity.CRITICAL)
    assert "K within 60 s, the limit is 0.5" in said[CDU].text


def test_one_odd_reading_a_changed_setpoint_and_a_lone_sensor_are_no_swing() -> None:
    bench = Bench("coolant.swing")
    bench.run(30)
    assert bench.run(1, both(24.0))[CDU].level is Level.CLEAR
    assert bench.run(30)[CDU].level is Level.CLEAR
    for second in range(40):
        assert bench.run(1, {**both(22.0 + second / 20.0), (CDU, SETPOINT): 24.0})[CDU].level is Level.CLEAR
    alone = Bench("coolant.swing")
    for second in range(90):
        said = alone.run(1, {(CDU, SUPPLY): 22.0 + math.sin(second / 6.0), (CDU, SECOND): 22.0 + 0.1 * math.sin(second / 6.0)})
    assert said[CDU].level is Level.CLEAR


def test_a_swing_is_seen_with_few_good_readings_or_not_at_all() -> None:
    bench = Bench("coolant.swing")
    assert bench.run(4)[CDU].level is Level.UNSURE
    bench.run(20)
    assert bench.run(20, {(CDU, SUPPLY): None, (CDU, SECOND): None})[CDU].level is Level.UNSURE


@pytest.mark.parametrize(
    ("quantity", "one", "other"),
    [("coolant.setpoint_asked", 22.0, 27.5), ("coolant.valve_command", 40.0, 90.0), ("coolant.control", "setpoint", "auto")],
)
def test_what_goes_back_and_forth_has_two_masters(quantity: str, one: float | str, other: float | str) -> None:
    bench = Bench("coolant.masters")
    bench.run(20)
    for _ in range(5):
        bench.run(2, {(CDU, quantity): other})
        said = bench.run(2, {(CDU, quantity): one})
    assert said[CDU].level is Level.RAISED
    assert quantity.removeprefix("coolant.") in said[CDU].text
    assert bench.run(170)[CDU].level is Level.CLEAR


def test_a_person_who_changes_their_mind_and_a_ramp_are_one_master() -> None:
    bench = Bench("coolant.masters")
    bench.run(10)
    bench.run(10, {(CDU, "coolant.setpoint_asked"): 24.0})
    assert bench.run(20)[CDU].level is Level.CLEAR
    for step in range(40):
        assert bench.run(1, {(CDU, "coolant.valve_command"): 50.0 + step})[CDU].level is Level.CLEAR


def test_a_valve_that_follows_a_load_up_and_down_has_one_master() -> None:
    """A square load of 40 s: the valve goes up and down by slew, and comes back to the same ends again and again."""
    bench = Bench("coolant.masters")
    bench.run(10)
    for second in range(200):
        phase = second % 40
        valve = 40.0 + 10.0 * min(phase, 4) if phase < 20 else 80.0 - 10.0 * min(phase - 20, 4)
        assert bench.run(1, {(CDU, "coolant.valve_command"): valve})[CDU].level is Level.CLEAR


@pytest.mark.parametrize("later", [{f"n{n}/card0": None for n in range(4)}, {f"n{n}/card{c}": 100.0 for n in range(4) for c in (0, 1)}])
def test_a_sensor_that_was_wrong_is_not_right_because_no_balance_can_be_made(later: dict[str, float | None]) -> None:
    """Half of the cards are silent, or all idle: neither says anything of the return."""
    bench, back = Bench("coolant.sensor"), (CDU, "coolant.return_temperature")
    bench.run(10)
    assert bench.run(200, {back: 45.0})[CDU].level is Level.RAISED
    assert bench.run(60, {back: 45.0, **{(card, "card.power"): watts for card, watts in later.items()}})[CDU].level is Level.UNSURE
    assert bench.run(80)[CDU].level is Level.CLEAR


YIELDED, ASKED = (CDU, "coolant.yielded"), (CDU, "coolant.setpoint_asked")


def test_a_valve_that_our_loop_turns_to_and_fro_by_noise_has_one_master() -> None:
    bench = Bench("coolant.masters")
    ours: dict[tuple[str, str], float | str | None] = {YIELDED: 0.0, (CDU, "coolant.control"): "direct"}
    for turn in range(40):
        assert bench.run(1, {**ours, (CDU, "coolant.valve_command"): 40.0 + 10.0 * (turn % 2)})[CDU].level is Level.CLEAR


def test_a_unit_that_was_yielded_has_another_hand_on_it() -> None:
    bench = Bench("coolant.masters")
    bench.run(10, {YIELDED: 0.0})
    verdict = bench.run(2, {YIELDED: 1.0})[CDU]
    assert verdict.level is Level.RAISED
    assert "in another hand" in verdict.text
    assert "mode observe, then act" in verdict.text
    assert bench.run(40, {YIELDED: None})[CDU].level is Level.UNSURE
    assert bench.run(40, {YIELDED: 0.0})[CDU].level is Level.CLEAR


def test_our_own_operators_hand_is_no_second_master() -> None:
    """Where the device says that it was not yielded, what is asked of it was asked by this daemon; else it can only be guessed."""
    bench = Bench("coolant.masters")
    assert bench.run(60, {YIELDED: 0.0, ASKED: 28.0})[CDU].level is Level.CLEAR
    guess = Bench("coolant.masters")
    guess.run(10)
    verdict = guess.run(30, {ASKED: 28.0})[CDU]
    assert verdict.level is Level.RAISED
    assert "a hand that is laid on our loop" in verdict.text


@pytest.mark.parametrize(
    ("holds", "dew", "level", "words"),
    [
        (22.0, 12.0, Level.CLEAR, ""),
        (17.0, 16.5, Level.RAISED, "17.0 C, the dew point of 16.5 C and its margin make 18.5"),
        (30.0, 12.0, Level.RAISED, "30.0 C where 22.0 are held here, the limit is 5 K"),
        (17.0, None, Level.RAISED, "the commissioned floor is 19.0"),
        (None, 12.0, Level.UNSURE, "cannot be seen"),
    ],
)
def test_what_a_unit_holds_alone_is_judged_too(holds: float | None, dew: float | None, level: Level, words: str) -> None:
    bench = Bench("coolant.fallback")
    verdict = bench.run(70, {(CDU, "coolant.fallback"): holds, (CDU, "air.dew_point"): dew})[CDU]
    assert verdict.level is level
    assert words in verdict.text


def test_a_hall_without_a_sensor_on_purpose_has_the_commissioned_floor() -> None:
    bench, gone = Bench("coolant.dew", ThermalSettings(no_dew_sensor=True)), [(CDU, "air.dew_point")]
    assert bench.run(1300, without=gone)[CDU].level is Level.CLEAR
    cold: dict[tuple[str, str], float | str | set[str] | None] = {(CDU, SUPPLY): 18.0}
    verdict = bench.run(35, cold, without=gone)[CDU]
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.WARNING)
    assert "no dew point is measured there, as the settings say, and the commissioned floor is 19.0" in verdict.text


def move_cards(bench: Bench, watts: float, seconds: int, back: float = 27.0) -> Level:
    changes = {(f"n{n}/card{c}", "card.power"): watts for n in range(4) for c in (0, 1)}
    return bench.run(seconds, {**changes, (CDU, "coolant.return_temperature"): back})[CDU].level


def test_a_return_that_stands_still_while_heat_moves_is_frozen() -> None:
    bench = Bench("coolant.frozen")
    assert move_cards(bench, 1300.0, 120) is Level.UNSURE
    move_cards(bench, 650.0, 100)
    assert move_cards(bench, 650.0, 45) is Level.RAISED
    assert move_cards(bench, 650.0, 45, back=24.5) is Level.CLEAR


def test_a_return_that_moves_or_flow_that_follows_is_not_frozen() -> None:
    bench = Bench("coolant.frozen")
    move_cards(bench, 1300.0, 120)
    assert move_cards(bench, 650.0, 130, back=24.5) is Level.CLEAR
    other = Bench("coolant.frozen")
    move_cards(other, 1300.0, 120)
    changes = {(f"n{n}/card{c}", "card.power"): 650.0 for n in range(4) for c in (0, 1)}
    assert other.run(120, {**changes, (CDU, "coolant.flow"): 15.0})[CDU].level is Level.UNSURE


def test_it_is_never_asked_of_the_supply() -> None:
    assert not {name for name in Bench("coolant.frozen").rule.watches if "supply" in name}


def test_a_valve_on_its_way_is_not_stuck() -> None:
    bench = Bench("coolant.valve")
    bench.run(10)
    for second in range(30):
        said = bench.run(1, {(CDU, "coolant.valve_command"): 90.0, (CDU, "coolant.valve"): 50.0 + second})
        assert said[CDU].level is Level.CLEAR


def test_a_register_that_nobody_writes_is_no_command() -> None:
    """Under its own controller a unit may show the command of a master that left long ago."""
    bench = Bench("coolant.valve")
    stale: dict[tuple[str, str], float | str | set[str] | None] = {(CDU, "coolant.valve_command"): 5.0}
    assert bench.run(60, {**stale, **both(22.5)})[CDU].level is Level.CLEAR
    full = Bench("coolant.capacity")
    full.run(5, stale)
    assert full.run(70, {**stale, **both(23.0), (CDU, "coolant.valve"): 100.0})[CDU].level is Level.RAISED


def test_what_was_never_read_is_not_judged() -> None:
    bench = Bench("coolant.valve")
    bench.see([read(CDU, "coolant.valve", 50.0, 1.0)])
    bench.at = 1.0
    assert bench.ask() == {}


def test_a_dew_point_that_is_not_known_is_told_after_ten_minutes() -> None:
    bench = Bench("coolant.dew")
    bench.run(10)
    blind = {(CDU, "air.dew_point"): None}
    assert bench.run(590, blind)[CDU].level is Level.UNSURE
    verdict = bench.run(17, blind)[CDU]
    assert verdict.level is Level.RAISED
    assert "not known for 60" in verdict.text
    assert bench.run(11)[CDU].level is Level.CLEAR

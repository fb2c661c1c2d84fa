"""What two masters look like, and what only looks like it."""

from __future__ import annotations

from supernoded.model import Level
from supernoded_thermal.coolant.masters import RETURNS, count_returns, list_jumps
from tests.plugins.thermal.coolant.bench import CDU, Bench, Change

ASKED, CONTROL, YIELDED = "coolant.setpoint_asked", "coolant.control", "coolant.yielded"


def test_a_setpoint_that_somebody_writes_while_the_valve_is_ours_is_told() -> None:
    bench = Bench("coolant.masters")
    ours: dict[tuple[str, str], Change] = {(CDU, CONTROL): "direct", (CDU, YIELDED): 0.0}
    assert bench.run(10, ours)[CDU].level is Level.CLEAR
    verdict = bench.run(200, {**ours, (CDU, ASKED): 24.5})[CDU]
    assert verdict.level is Level.RAISED
    assert verdict.text.startswith("24.5 C are asked of cdu/0, 22.0 before, while its valve is turned from here: by somebody else")
    unseen = bench.run(10, {**ours, (CDU, ASKED): 24.5, (CDU, CONTROL): None})[CDU]
    assert unseen.level is Level.RAISED  # what cannot be read for a moment is not forgotten
    assert bench.run(40, ours)[CDU].level is Level.CLEAR


def test_with_its_own_controller_in_charge_a_setpoint_is_anybodys() -> None:
    bench = Bench("coolant.masters")
    alone: dict[tuple[str, str], Change] = {(CDU, CONTROL): "auto", (CDU, YIELDED): 0.0}
    bench.run(10, alone)
    assert bench.run(10, {**alone, (CDU, ASKED): 24.5})[CDU].level is Level.CLEAR


def test_who_writes_in_turn_is_seen_by_the_jumps_back() -> None:
    jumps = list_jumps([27.0, 27.0, 60.0, 27.0, 60.0, 60.0, 27.0], 5.0)
    assert count_returns(jumps, 5.0) >= RETURNS


def test_a_valve_that_follows_the_load_to_and_fro_is_one_masters() -> None:
    ramp = [37.0 - 2.0 * step for step in range(10)]
    values = [*ramp, *reversed(ramp), *ramp, *reversed(ramp)]
    assert count_returns(list_jumps(values, 5.0), 5.0) == 0


def test_somebody_who_changes_their_mind_once_is_one() -> None:
    assert count_returns(list_jumps([22.0, 24.0, 22.0], 0.3), 0.3) == 1

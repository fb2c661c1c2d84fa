"""What two masters look like, and what only looks like it."""

from __future__ import annotations

from supernoded_thermal.coolant.masters import RETURNS, count_returns, list_jumps


def test_who_writes_in_turn_is_seen_by_the_jumps_back() -> None:
    jumps = list_jumps([27.0, 27.0, 60.0, 27.0, 60.0, 60.0, 27.0], 5.0)
    assert count_returns(jumps, 5.0) >= RETURNS


def test_a_valve_that_follows_the_load_to_and_fro_is_one_masters() -> None:
    ramp = [37.0 - 2.0 * step for step in range(10)]
    values = [*ramp, *reversed(ramp), *ramp, *reversed(ramp)]
    assert count_returns(list_jumps(values, 5.0), 5.0) == 0


def test_somebody_who_changes_their_mind_once_is_one() -> None:
    assert count_returns(list_jumps([22.0, 24.0, 22.0], 0.3), 0.3) == 1

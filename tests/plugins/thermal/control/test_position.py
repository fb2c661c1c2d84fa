from collections.abc import Sequence

import pytest

from supernoded_thermal.control.doubting import Doubt, doubt_supply
from supernoded_thermal.control.position import Position, follow_position
from supernoded_thermal.control.sensing import Gauge

FOLLOW = 4.0


def watch(pairs: Sequence[tuple[float, float | None]], position: Position | None = None) -> Position:
    """Told and shown, second by second."""
    position = position or Position()
    for at, (told, shown) in enumerate(pairs):
        position = follow_position(position, told, None if shown is None else Gauge(shown, float(at), "m"), float(at), FOLLOW)
    return position


def test_a_valve_on_its_way_is_not_at_rest_and_not_frozen() -> None:
    position = watch([(50.0, 20.0 + second) for second in range(20)])
    assert (position.at_rest, position.note) == (False, "")
    assert watch([(50.0, 20.0 + second) for second in range(31)]).at_rest


def test_feedback_that_does_not_follow_is_said_and_nothing_is_integrated_against_it() -> None:
    position = watch([(20.0, 20.0)] * 5 + [(50.0, 20.0)] * 12)
    assert not position.at_rest
    assert "does not follow" in position.note
    assert watch([(20.0, 20.0)] * 5 + [(50.0, 20.0)] * 12 + [(50.0, 49.0)] * 3).note == ""


def test_no_feedback_goes_by_the_command_and_says_so() -> None:
    position = watch([(50.0, None)] * 3)
    assert position.at_rest
    assert "unknown" in position.note


def test_play_is_learned_from_a_valve_that_stands_and_forgotten_slowly() -> None:
    worn = watch([(50.0, 48.5)] * 12)
    assert worn.play == pytest.approx(1.5, abs=0.1)
    assert watch([(50.0, 50.0)] * 12, worn).play == pytest.approx(worn.play, rel=0.05)


def test_old_feedback_teaches_no_play() -> None:
    position = Position()
    for at in range(12):
        position = follow_position(position, 50.0 if at < 6 else 52.0, Gauge(50.0, 4.0, "m"), float(at), FOLLOW)
    assert position.play == 0.0


def doubt(pairs: Sequence[tuple[float | None, float | None]], before: Doubt | None = None, correction: float = 1.0) -> Doubt:
    found = before or Doubt()
    for at, (supply, balance) in enumerate(pairs):
        found = doubt_supply(found, supply, balance, correction, float(at))
    return found


def test_a_supply_that_two_others_contradict_is_doubted() -> None:
    assert doubt([(22.1, 20.5)] * 25).doubted
    assert not doubt([(22.1, 20.5)] * 15).doubted  # not yet
    assert not doubt([(22.1, 20.5)] * 25, correction=0.1).doubted  # the valve does not: a power meter is off
    assert not doubt([(22.1, 23.5)] * 25).doubted  # they contradict each other
    assert not doubt([(22.1, None)] * 25).doubted
    assert not doubt([(None, 20.5)] * 25).doubted


def test_it_is_believed_again_once_it_has_moved_and_agrees() -> None:
    doubted = doubt([(22.1, 20.5)] * 25)
    assert doubt([(22.1, 22.0)] * 60, doubted).doubted  # frozen at the setpoint, which is held
    assert not doubt([(22.5, 22.4)] * 25, doubted).doubted

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.admin.tracking import DRAWN, draw_history, thin
from supernoded.history import History, View
from supernoded.messages import ThermalHistory, ThermalHistoryFilter
from supernoded.model import Reading, State, Value
from supernoded.quantities import VOCABULARY


def read(at: float, value: Value, quantity: str = "coolant.supply_temperature", subject: str = "cdu/0") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit="C", at=at, state=state)


def view(*readings: Reading, now: float = 1000.0, seconds: float = 600.0) -> View:
    history = History({})
    history.add(readings, 5.0)
    return history.view(now, dict.fromkeys(DRAWN, seconds))


def draw(*views: View, points: int = 600, seconds: float = 600.0) -> ThermalHistory | None:
    return draw_history(views, ThermalHistoryFilter(loop="cdu/0", points=points, seconds=seconds), 1000.0)


def test_what_could_not_be_measured_is_a_gap_and_what_is_too_old_is_left_out() -> None:
    told = draw(view(read(399.0, 20.0), read(500.0, 22.0), read(600.0, None), read(990.0, 22.5), read(990.0, 41.0, "coolant.valve")))
    assert told is not None
    assert (told.since, [track.quantity for track in told.tracks]) == (400.0, ["coolant.supply_temperature", "coolant.valve"])
    assert told.tracks[0].points == ((500.0, 22.0), (600.0, None), (990.0, 22.5))
    assert (told.tracks[0].unit, told.tracks[1].unit) == ("C", "%")


def test_of_several_scopes_the_one_that_knows_most_tells() -> None:
    told = draw(view(read(990.0, 1.0)), view(read(980.0, 22.0), read(990.0, 22.5)))
    assert told is not None
    assert [value for _, value in told.tracks[0].points] == [22.0, 22.5]


def test_a_unit_of_which_nothing_was_ever_read_is_none_and_one_that_is_silent_has_no_tracks() -> None:
    assert draw(view(read(990.0, 22.0, subject="cdu/1"))) is None
    told = draw(view(read(1.0, 22.0)))
    assert told is not None
    assert told.tracks == ()


def test_all_that_is_drawn_is_in_the_vocabulary() -> None:
    assert set(DRAWN) <= set(VOCABULARY)


@given(st.integers(1, 500), st.integers(2, 50))
def test_thinned_it_keeps_its_ends_and_its_order(count: int, most: int) -> None:
    readings = [read(float(i), 1.0) for i in range(count)]
    thinned = thin(readings, most)
    assert len(thinned) == min(count, most)
    assert (thinned[0], thinned[-1]) == (readings[0], readings[-1])
    assert [one.at for one in thinned] == sorted({one.at for one in thinned})

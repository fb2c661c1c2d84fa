import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.cooling.slugs import add_heat, draw_off, fill_pipe, push_in

_FLOWS = st.lists(st.tuples(st.floats(0.0, 9.0), st.floats(5.0, 90.0)), max_size=40)


@given(_FLOWS)
def test_what_goes_in_comes_out_or_stays(flows: list[tuple[float, float]]) -> None:
    pipe, gone, come = fill_pipe(10.0, 22.0), 0.0, 0.0
    for litres, celsius in flows:
        pipe, mixed = draw_off(pipe, litres)
        pipe = push_in(pipe, litres, celsius, 10.0)
        gone += litres * mixed
        come += litres * celsius
    assert add_heat(pipe) / 4180.0 + gone == pytest.approx(10.0 * 22.0 + come)
    assert sum(litres for litres, _ in pipe) == pytest.approx(10.0)


def test_a_front_comes_out_when_its_volume_has_passed() -> None:
    pipe, shown = fill_pipe(10.0, 20.0), []
    for _ in range(12):
        pipe, mixed = draw_off(pipe, 1.0)
        pipe = push_in(pipe, 1.0, 30.0, 10.0)
        shown.append(mixed)
    assert shown == pytest.approx([20.0] * 10 + [30.0] * 2)


def test_a_trickle_does_not_fill_the_memory() -> None:
    pipe = fill_pipe(10.0, 20.0)
    for _ in range(5000):
        pipe, _ = draw_off(pipe, 0.001)
        pipe = push_in(pipe, 0.001, 30.0, 10.0)
    assert len(pipe) < 520


def test_more_than_a_pipe_holds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"12\.0 L drawn from a pipe that holds 10\.0 L"):
        draw_off(fill_pipe(10.0, 20.0), 12.0)

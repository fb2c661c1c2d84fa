from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import PluginError
from supernoded_thermal.control.commissioning import parse_commissioning, read_commissioning
from supernoded_thermal.control.exchanger import make_exchanger

HEAD = 'cdu = "cdu/0"\nrecorded = "2026-11-30T10:00:00Z"\nsilence_s = 15.2\nfallback_c = 22.0\n'
GOOD = ((10.0, 36.0, 40.0, 16.0, 8.0), (30.0, 20.9, 24.9, 16.0, 8.0), (60.0, 18.0, 22.0, 16.0, 8.1))


def write(points: Sequence[Sequence[object]] = GOOD, tail: str = "") -> bytes:
    keys = ("valve", "supply", "return", "primary", "flow")
    tables = ["[[points]]\n" + "\n".join(f"{key} = {value}" for key, value in zip(keys, point, strict=True)) for point in points]
    return (HEAD + "\n".join(tables) + "\n" + tail).encode()


def test_a_file_as_it_is_recorded_is_read() -> None:
    data = parse_commissioning(write(), "cdu0.toml")
    assert (data.cdu, data.silence_s, len(data.points)) == ("cdu/0", 15.2, 3)
    assert data.points[1].effectiveness == pytest.approx(4.0 / 8.9)
    assert data.flow == pytest.approx(8.033, abs=0.001)
    assert data.trace is None


def test_its_course_may_be_there_too() -> None:
    tail = "[trace]\ntold = [10.0, 10.0]\nvalve = [10.0, 10.0]\nsupply = [22.0, 22.1]\nreturn = [26.0, 26.0]\n"
    trace = parse_commissioning(write(tail=tail), "f").trace
    assert trace is not None
    assert trace.returned == (26.0, 26.0)


@pytest.mark.parametrize(
    ("points", "word"),
    [
        (GOOD[:2], "at least 3"),
        ((*GOOD, (70.0, 22.0, 21.0, 16.0, 8.0)), "rise in this order"),
        ((*GOOD, (70.0, 22.0, 26.0, 23.0, 8.0)), "rise in this order"),
        ((*GOOD, (170.0, 22.0, 26.0, 16.0, 8.0)), "0 to 100 %"),
        ((*GOOD, (70.0, 22.0, 26.0, 16.0, 0.0)), "flow 0"),
        ((*GOOD, (70.0, 22.0, 26.0, 16.0, 16.0)), "keep the pumps"),
        ((*GOOD, (70.0, 22.0, 22.1, 16.0, 8.0)), "needed to see heat"),
        ((*GOOD, (70.0, "nan", 22.1, 16.0, 8.0)), "no number"),
        (tuple((point[0] / 10.0, *point[1:]) for point in GOOD), "stroke"),
    ],
)
def test_nonsense_is_refused_with_what_is_wrong(points: Sequence[Sequence[object]], word: str) -> None:
    with pytest.raises(PluginError, match=word) as caught:
        parse_commissioning(write(points), "folder/cdu0.toml")
    assert "folder/cdu0.toml" in str(caught.value)
    assert "thermal commission" in str(caught.value)


def test_lists_of_a_trace_that_differ_in_length_are_refused() -> None:
    tail = "[trace]\ntold = [10.0]\nvalve = []\nsupply = [22.0]\nreturn = [26.0]\n"
    with pytest.raises(PluginError, match="length"):
        parse_commissioning(write(tail=tail), "f")


@given(st.binary(max_size=400))
def test_any_text_is_data_or_a_plugin_error(text: bytes) -> None:
    try:
        parse_commissioning(text, "f")
    except PluginError as error:
        assert str(error).startswith("f: ")


@given(st.lists(st.tuples(*[st.floats(-10.0, 110.0)] * 5), max_size=6))
def test_any_points_give_a_curve_that_has_a_way_back_or_an_error(points: list[tuple[float, ...]]) -> None:
    try:
        exchanger = make_exchanger(parse_commissioning(write(points), "f"))
    except PluginError:
        return
    assert all(before < after for before, after in zip(exchanger.effects, exchanger.effects[1:], strict=False))
    assert all(0.0 <= exchanger.find_valve(effect / 10.0, exchanger.flow) <= 100.0 for effect in range(-2, 30))


def test_no_file_is_no_data_and_one_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert read_commissioning(tmp_path / "cdu0.toml") is None
    (tmp_path / "cdu0.toml").write_bytes(write())
    assert read_commissioning(tmp_path / "cdu0.toml") is not None
    with pytest.raises(PluginError, match="cannot be read"):
        read_commissioning(tmp_path)

"""Parameters as people write them."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.command.faulting import read_parameters


def test_a_value_is_toml_where_it_can_be_and_else_a_text() -> None:
    given_ = [
        "depth=0.5",
        "count=3",
        "on=true",
        "phase=L1",
        'text="5"',
        "cards=[1, 2]",
        "empty=",
        "equation=a=b",
        "day=2026-01-01",
        "odd=nan",
    ]
    assert read_parameters(given_) == {
        "depth": 0.5,
        "count": 3,
        "on": True,
        "phase": "L1",
        "text": "5",
        "cards": [1, 2],
        "empty": "",
        "equation": "a=b",
        "day": "2026-01-01",
        "odd": "nan",
    }


@pytest.mark.parametrize("wrong", ["depth", "=5", ""])
def test_what_is_no_pair_is_a_slip_of_the_hand(wrong: str) -> None:
    with pytest.raises(click.UsageError, match="write name=value"):
        read_parameters([wrong])


@given(st.text())
def test_no_value_brings_it_down(value: str) -> None:
    assert list(read_parameters([f"x={value}"])) == ["x"]


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63 - 1))
def test_numbers_come_through(value: float) -> None:
    assert read_parameters([f"x={value}"]) == {"x": value}

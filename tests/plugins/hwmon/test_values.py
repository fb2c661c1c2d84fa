"""What single attributes are worth, whatever is in them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_hwmon.values import Worth, is_faulty, parse_whole, read_celsius, read_duty, read_limit, read_rpm, to_percent, to_pwm


@pytest.mark.parametrize(
    ("text", "celsius"), [("24000", 24.0), ("51500\n", 51.5), ("-5000", -5.0), ("+112000", 112.0), ("126999", 126.999), ("0", 0.0)]
)
def test_thousandths_of_a_degree(text: str, celsius: float) -> None:
    assert read_celsius(text) == Worth(celsius)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-128000", "an open input"),
        ("-99999999", "outside -40000 to 127000"),
        ("127000", "outside"),
        ("255000", "outside"),
        ("65261850", "outside"),
        ("-650788984", "outside"),
        ("255", "another unit"),
        ("-1", "another unit"),
        ("9" * 19, "no temperature"),
        ("", "'' is no temperature"),
        ("nan", "'nan' is no temperature"),
        ("24.5", "no temperature"),
        ("٣٤٠٠٠", "no temperature"),
        ("24000 25000", "no temperature"),
    ],
)
def test_nonsense_is_no_temperature(text: str, why: str) -> None:
    worth = read_celsius(text)
    assert worth.value is None
    assert why in worth.note


@pytest.mark.parametrize(
    ("texts", "limit"),
    [
        (("90000", "100000"), 90.0),
        (("0", "105000"), 105.0),
        (("127000", None, "99000"), 99.0),
        ((None, "100000"), 100.0),
        (("65261850",), None),
        (("", "nan"), None),
    ],
)
def test_the_first_limit_that_can_be_one(texts: tuple[str | None, ...], limit: float | None) -> None:
    found = read_limit(*texts)
    assert found is not None
    assert found.value == limit
    assert bool(found.note) == (limit is None)


def test_no_file_is_no_limit() -> None:
    assert read_limit(None, None) is None


@pytest.mark.parametrize(("text", "rpm"), [("0", 0.0), ("7002", 7002.0), ("-1", None), ("65535", None), ("1350000", None), ("", None)])
def test_speeds(text: str, rpm: float | None) -> None:
    assert read_rpm(text).value == rpm


@pytest.mark.parametrize(("text", "percent"), [("0", 0.0), ("255", 100.0), ("102", 40.0), ("256", None), ("-1", None), ("auto", None)])
def test_duties(text: str, percent: float | None) -> None:
    assert read_duty(text).value == percent


@given(st.text() | st.integers().map(str))
def test_any_text_is_a_value_or_says_why_not(text: str) -> None:
    for read in (read_celsius, read_rpm, read_duty, read_limit):
        worth = read(text)
        assert worth is not None
        assert (worth.value is None) == bool(worth.note)
        assert worth.value is None or math.isfinite(worth.value)
    assert is_faulty(text) == (parse_whole(text) == 1)


@given(st.integers(0, 255))
def test_a_duty_comes_back_as_the_same_step(pwm: int) -> None:
    assert to_pwm(to_percent(pwm)) == pwm


@given(st.floats(allow_nan=False))
def test_a_duty_stays_within_its_register(percent: float) -> None:
    assert 0 <= to_pwm(percent) <= 255

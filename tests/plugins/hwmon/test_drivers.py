"""What the numbers of a switch mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_hwmon.drivers import ABI, DEVIATIONS, can_be_given_back, find_driver, list_ways_back, name_control
from supernoded_hwmon.settings import DriverSettings


@pytest.mark.parametrize(
    ("chip", "number", "control"),
    [
        ("nct6798", 0, "full"),
        ("nct6798", 1, "manual"),
        ("nct6798", 2, "auto"),
        ("nct6798", 5, "auto"),  # what its kernel driver shows after a sleep
        ("nct6798", None, None),
        ("nct6798", -1, None),
        ("nct6687", 99, "auto"),
        ("corsairpsu", 1, "auto"),
        ("corsairpsu", 3, "manual"),
        ("corsairpsu", 0, None),
        ("gpdfan", 0, "auto"),
        ("gpdfan", 2, None),
        ("max31785", 2, None),
        ("max31785", 3, "auto"),
        ("pwmfan", 0, None),
        ("pwmfan", 1, "manual"),
    ],
)
def test_words(chip: str, number: int | None, control: str | None) -> None:
    assert name_control(find_driver(chip, {}), number) == control


def test_the_settings_know_better() -> None:
    told = {"nct6798": DriverSettings(manual=3, auto=1, full=-1, others=False)}
    assert name_control(find_driver("nct6798", told), 1) == "auto"
    assert name_control(find_driver("nct6798", told), 0) is None


@pytest.mark.parametrize(
    ("driver", "found", "ways"),
    [
        (ABI, 2, [2, 0]),
        (ABI, 5, [5, 2, 0]),
        (ABI, 0, [0, 2]),
        (ABI, 1, [2, 0]),
        (ABI, None, [2, 0]),
        (DriverSettings(auto=-1), 1, [0]),
        (DEVIATIONS["corsairpsu"], 3, [1]),
        (DEVIATIONS["pwmfan"], 2, []),
    ],
)
def test_ways_back(driver: DriverSettings, found: int | None, ways: list[int]) -> None:
    assert list(list_ways_back(driver, found)) == ways


WORDS = st.integers(-1, 255)


@given(st.builds(DriverSettings, manual=WORDS, auto=WORDS, full=WORDS, others=st.booleans()), st.none() | st.integers(-5, 300))
def test_manual_is_never_a_way_back(driver: DriverSettings, found: int | None) -> None:
    ways = list(list_ways_back(driver, found))
    assert all(name_control(driver, way) in {"auto", "full"} for way in ways)
    assert len(set(ways)) == len(ways)


def test_without_a_word_for_it_there_is_no_way_back() -> None:
    assert can_be_given_back(ABI)
    assert not can_be_given_back(DEVIATIONS["pwmfan"])
    assert not can_be_given_back(DriverSettings(manual=-1))

from typing import Any

import pytest

from supernoded_thermal.control.loading import sum_power
from supernoded_thermal.control.sensing import discard_impossible, look
from supernoded_thermal.control.settings import ControlSettings
from tests.plugins.thermal.control.looking import CARDS, CDU, STEADY, Site, see

SET = ControlSettings()
SECOND = "coolant.supply_temperature.2"


def test_one_sensor_is_taken_as_it_is() -> None:
    water = look(see(), CDU, SET)
    assert water.supply is not None
    assert (water.supply.value, water.coldest, water.flow, water.notes) == (22.0, 22.0, 8.0, ())


def test_two_that_agree_go_by_the_first_and_two_that_do_not_by_the_warmer() -> None:
    agree = look(see(**{SECOND: 22.3}), CDU, SET)
    assert agree.supply is not None
    assert (agree.supply.value, agree.notes) == (22.0, ())
    apart = look(see(**{SECOND: 24.0}), CDU, SET)
    assert apart.supply is not None
    assert (apart.supply.value, apart.coldest) == (24.0, 22.0)
    assert "disagree" in apart.notes[0]


def test_sources_of_one_quantity_are_sensors_too() -> None:
    site = Site().add(0.0, STEADY).read(0.0, source="redfish", coolant__supply_temperature=25.0)
    water = look(site.view(0.0), CDU, SET)
    assert water.supply is not None
    assert (water.supply.value, water.coldest) == (25.0, 22.0)


@pytest.mark.parametrize(
    ("flag", "lost"),
    [("supply-sensor", "supply"), ("return-sensor", "returned"), ("primary-sensor", "primary"), ("flow-sensor", "flow")],
)
def test_what_its_unit_flags_is_not_believed(flag: str, lost: str) -> None:
    water = look(see(coolant__alarm=frozenset({flag, "level-low"})), CDU, SET)
    assert getattr(water, lost) is None
    assert getattr(water, "returned" if lost == "supply" else "supply") is not None


def test_a_flag_of_the_second_sensor_leaves_the_first() -> None:
    changes: dict[str, Any] = {SECOND: 30.0, "coolant.alarm": frozenset({"supply-2-sensor"})}
    water = look(see(**changes), CDU, SET)
    assert water.supply is not None
    assert water.supply.value == 22.0


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_what_is_no_number_is_not_there(value: float | None) -> None:
    assert look(see(coolant__supply_temperature=value), CDU, SET).supply is None


def test_what_is_old_is_not_there() -> None:
    assert look(Site().add(0.0, STEADY).view(20.0), CDU, SET).supply is None


def test_power_is_the_sum_of_the_cards() -> None:
    assert sum_power(see(watts=2000.0), CARDS) == pytest.approx(2000.0)
    assert sum_power(see(watts=None), CARDS) is None
    assert sum_power(see(watts=2000.0), ()) is None


def test_a_silent_card_counts_with_its_last_word_then_as_one_like_the_others() -> None:
    site = Site().heat(0.0, 2000.0)
    for at in (30.0, 90.0):
        for card in CARDS[1:]:
            site.add(at, {"card.power": 100.0}, card, "npu")
    assert sum_power(site.view(30.0), CARDS) == pytest.approx(500.0 + 300.0)
    assert sum_power(site.view(90.0), CARDS) == pytest.approx(400.0)


def test_too_few_cards_are_no_sum() -> None:
    assert sum_power(Site().add(0.0, {"card.power": 500.0}, CARDS[0]).view(0.0), CARDS) is None


def test_two_sensors_agree_where_both_are_there_and_two_views_of_one_do_not() -> None:
    twice = Site().add(0.0, STEADY).read(0.0, source="redfish", coolant__supply_temperature=22.0)
    assert not look(twice.view(0.0), CDU, SET).agreed
    assert look(see(**{SECOND: 22.3}), CDU, SET).agreed
    assert not look(see(**{SECOND: 24.0}), CDU, SET).agreed


def test_what_cannot_be_is_as_if_it_had_not_been_read() -> None:
    well = look(see(), CDU, SET)
    assert discard_impossible(well, 8.0) == well
    assert discard_impossible(well, None) == well
    assert discard_impossible(look(see(**{"coolant.flow": 6553.5}), CDU, SET), 8.0).flow is None
    assert discard_impossible(look(see(**{"coolant.primary_temperature": 60.8}), CDU, SET), 8.0).primary is None

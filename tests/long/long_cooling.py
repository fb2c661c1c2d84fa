"""A day of lies of each kind over whole daemons that hold the coolant, and a day of faults of the unit: half an hour each on one core.

`make test` does not collect this file, as its name does not begin with `test`; `make long` names the pattern.
"""

from __future__ import annotations

import pytest

from benchmarks.cdu import Job, run
from sim_hardware.plant.cooling import list_designs
from tests.chaos.cooling_judging import judge, share_in_band
from tests.chaos.cooling_play import play_storm
from tests.chaos.cooling_storm import DAY, WAYS, draw_storm
from tests.chaos.test_cooling_storms import SHARES

LEAST = 0.7  # of the day within the band, whatever lies

pytestmark = pytest.mark.timeout(4 * 3600)


@pytest.mark.parametrize("way", WAYS)
def test_a_day_of_lies_leaves_cards_cool_and_the_training_alone(way: str) -> None:
    record = play_storm(draw_storm(way, 1000, seconds=DAY))
    assert judge(record) == []
    assert share_in_band(record) >= LEAST


def test_a_day_of_faults_of_the_unit_leaves_cards_cool_or_capped() -> None:
    assert judge(play_storm(draw_storm("plant", 1000, seconds=DAY))) == []


@pytest.mark.parametrize("way", WAYS)
def test_half_an_hour_of_lies_leaves_cards_cool_and_the_training_alone(way: str) -> None:
    record = play_storm(draw_storm(way, 1))
    assert judge(record) == []
    assert share_in_band(record) >= SHARES[way]


@pytest.mark.parametrize("rack", ["rack-1x8", "direct-4x8"])
@pytest.mark.parametrize("way", [*WAYS, "plant"])
def test_half_an_hour_over_other_racks(way: str, rack: str) -> None:
    assert judge(play_storm(draw_storm(way, 1001, rack))) == []


@pytest.mark.parametrize("seed", range(1002, 1022))
@pytest.mark.parametrize("way", [*WAYS, "plant"])
def test_half_an_hour_of_other_seeds(way: str, seed: int) -> None:
    assert judge(play_storm(draw_storm(way, seed))) == []


@pytest.mark.parametrize("plant", list_designs())
@pytest.mark.parametrize("seconds", [20, 40, 60, 90, 120])
def test_no_plant_has_a_limit_cycle_after_any_square_load(plant: str, seconds: int) -> None:
    assert run(Job("ours", f"square{seconds}", plant, 1.0))["limit_cycle"] is False

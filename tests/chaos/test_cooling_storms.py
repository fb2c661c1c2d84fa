"""Half an hour over whole daemons with each way in which a sensor can lie, one sensor after another, under a load that never rests.

Of the seven ways the three that are hardest to tell from the truth are played here; `make long` plays all of them, and a day of each. The
shares are of the seconds in which the real supply was within 0.3 K of 22 C, whatever was shown.
"""

from __future__ import annotations

import pytest

from benchmarks.cdu import Job, run
from sim_hardware.plant.cooling import list_designs
from tests.chaos.cooling_judging import judge, share_in_band
from tests.chaos.cooling_play import play_storm
from tests.chaos.cooling_storm import BEGINS, DAY, HALF_HOUR, SENSORS, WAYS, draw_storm

DAILY = ("frozen", "drifting", "sentinel")
SHARES = {"dead": 0.99, "frozen": 0.95, "noisy": 0.95, "drifting": 0.75, "off": 0.92, "sentinel": 0.96, "late": 0.95}

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("way", DAILY)
def test_half_an_hour_of_lies_leaves_cards_cool_and_the_training_alone(way: str) -> None:
    record = play_storm(draw_storm(way, 1))
    assert judge(record) == []
    assert share_in_band(record) >= SHARES[way]


def test_lies_are_no_more_believed_where_the_unit_holds_our_setpoint() -> None:
    assert judge(play_storm(draw_storm("off", 3, "rack-1x8", 600.0))) == []


def test_half_an_hour_of_faults_of_the_unit_leaves_cards_cool_or_capped() -> None:
    assert judge(play_storm(draw_storm("plant", 1))) == []


def test_storms_differ_and_are_what_they_are_meant_to_be() -> None:
    for way in WAYS:
        storms = [draw_storm(way, seed) for seed in range(40)]
        assert {(ill.subject, ill.quantity) for ill in storms[0].ills} == set(SENSORS)
        assert len({storm.ills for storm in storms}) == len(storms)
        assert all(BEGINS <= ill.at < ill.ends < HALF_HOUR for storm in storms for ill in storm.ills)
        assert all(after.at > before.ends for storm in storms for before, after in zip(storm.ills, storm.ills[1:], strict=False))
    day = draw_storm("off", 1, seconds=DAY)
    assert len(day.ills) > 100
    assert max(ill.lasts for ill in day.ills) < 600.0  # one wet detector for longer is a large leak
    assert len({strike.fault for strike in draw_storm("plant", 1, seconds=DAY).strikes}) > 8


@pytest.mark.parametrize(("plant", "seconds"), list(zip(list_designs(), (20, 40, 60, 90, 120) * 2, strict=False)))
def test_no_plant_has_a_limit_cycle_after_a_square_load(plant: str, seconds: int) -> None:
    assert run(Job("ours", f"square{seconds}", plant, 1.0))["limit_cycle"] is False

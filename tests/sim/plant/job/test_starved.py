"""A job whose training data come too slowly."""

from __future__ import annotations

import pytest

from sim_hardware.plant import job
from sim_hardware.plant.job.orders import StarveJob
from tests.sim.plant.job.test_job import ask, begin


def test_steps_take_so_many_times_as_long_and_cards_are_idle_meanwhile() -> None:
    well = begin(4.0)
    starved = job.apply(well, StarveJob("train", 10.0))
    assert (ask(well, "job.step_time"), ask(starved, "job.step_time")) == pytest.approx((2.0, 20.0))
    assert max(job.list_loads(starved)) < 0.3
    assert job.list_loads(well)[0] > 0.9


def test_fed_again_it_is_what_it_was() -> None:
    well = begin(4.0)
    fed = job.apply(job.apply(well, StarveJob("train", 10.0)), StarveJob("train", 1.0))
    assert job.list_loads(fed) == job.list_loads(well)
    assert fed.ends_at == pytest.approx(well.ends_at)

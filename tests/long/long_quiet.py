"""A day in which nothing is wrong: every cooling plant, every shipped rack of a size that a day can be played of.

`make test` does not collect this file, as its name does not begin with `test`; `make long` names the pattern.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from msgspec.structs import replace

from sim_hardware.plant import power
from sim_hardware.plant.cooling.bookkeeping import heat_book
from sim_hardware.plant.cooling.design import load_design
from sim_hardware.plant.site import Site, advance, sense, start
from sim_hardware.rack import Rack, load_rack
from sim_hardware.rack.shape import SimLoop

DAY = 86_400.0
PLANTS = ("brisk", "long-pipes", "rear-door", "reference", "slow-valve", "swaying-primary", "three-pumps", "uneven-rows", "worn-valve")
QUIET = {"checkpoint.begun", "checkpoint.committed"}

pytestmark = pytest.mark.timeout(1800)


def with_plant(plant: str) -> Rack:
    rack = load_rack("rack-4x8")
    assert load_design(plant).text
    return replace(rack, sim=replace(rack.sim, loops={loop.name: SimLoop(plant=plant) for loop in rack.loops}))


def live_a_day(rack: Rack, seed: int) -> tuple[Site, Counter[str]]:
    site, kinds = start(rack, seed), Counter[str]()
    for hour in range(1, 25):
        site = advance(site, hour * DAY / 24)
        kinds.update(happening.kind for happening in site.happened)
    return site, kinds


def check(site: Site, kinds: Counter[str]) -> None:
    assert set(kinds) == QUIET
    assert all(kinds[one] - kinds[other] in {0, 1} for one, other in pairwise(sorted(kinds)))
    assert sense(site, "job/train", "job.state") in {"running", "saving"}
    book = power.energy(site.power)
    assert book.drawn == pytest.approx(book.delivered + book.lost + book.batteries + book.shelves, rel=1e-9)
    for heat in heat_book(site.cooling):
        assert abs(heat.coolant_gap) <= 0.01 * heat.into_coolant


@pytest.mark.parametrize("name", ["rack-1x8", "rack-4x8", "single-path-8x8"])
def test_a_day_of_a_rack_is_quiet(name: str) -> None:
    check(*live_a_day(load_rack(name), 11))


@pytest.mark.parametrize("plant", PLANTS)
def test_a_day_of_a_cooling_plant_is_quiet(plant: str) -> None:
    check(*live_a_day(with_plant(plant), 12))


def test_a_quarter_of_an_hour_of_a_thousand_nodes_is_quiet() -> None:
    site = advance(start(load_rack("pod-1024x8"), 13), 900.0)
    assert {happening.kind for happening in site.happened} == QUIET

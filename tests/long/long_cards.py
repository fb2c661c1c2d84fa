"""Every turn of every daemon during both card sagas, all shapes of partitions, also during one of these, and storms: hours on two cores.

`make test` does not collect this file, as its name does not begin with `test`; `make long` names the pattern.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim_hardware.loop.explorer import Crash, How
from tests.chaos import card_cuts
from tests.chaos.card_judging import NEVER, STEPS
from tests.chaos.card_saga import References, play_saga
from tests.chaos.card_site import FOURTH, NODES
from tests.chaos.card_storm import play_storm
from tests.chaos.partitions import Sides, list_shapes, play_partition

PARTS = 40  # the points are dealt out to so many tests, which run side by side
LEASED_EVERY = 8  # of the turns of a holder whose role is leased
SHAPES = [*list_shapes(2), *list_shapes(3)]

pytestmark = pytest.mark.timeout(3600)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "world"
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(scope="session")
def references(tmp_path_factory: pytest.TempPathFactory) -> References:
    """Played once for each process that runs tests."""
    return References(tmp_path_factory.mktemp("references"))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize(("how", "back_after"), [(How.KILL, 2.0), (How.PAUSE, 8.0)])
@pytest.mark.parametrize("scene", STEPS)
def test_no_strike_loses_or_doubles_a_step(
    references: References, folder: Path, scene: str, how: How, back_after: float, node: str, part: int
) -> None:
    reference, faults = references.find(scene), dict[str, int]()
    for k in range(part + 1, reference.turns[node] + 1, PARTS):
        ending = play_saga(folder, scene, node, Crash(how, k, reference.window, back_after))
        shutil.rmtree(folder)
        for fault in ending.faults():
            faults.setdefault(fault, k)
    assert faults == {}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(("how", "back_after"), [(How.KILL, NEVER), (How.PAUSE, 30.0)])
@pytest.mark.parametrize("scene", STEPS)
def test_the_next_holder_ends_what_the_first_has_begun(
    references: References, folder: Path, scene: str, how: How, back_after: float, part: int
) -> None:
    reference, faults = references.find(scene, leased=True), dict[str, int]()
    for k in range(part + 1, reference.turns[FOURTH] + 1, PARTS * LEASED_EVERY):
        ending = play_saga(folder, scene, FOURTH, Crash(how, k, reference.window, back_after), leased=True)
        shutil.rmtree(folder)
        for fault in ending.faults():
            faults.setdefault(fault, k)
    assert faults == {}


@pytest.mark.parametrize("shape", SHAPES, ids=["|".join("+".join(side) for side in shape) for shape in SHAPES])
def test_at_most_the_greater_side_takes_out_and_all_agree_once_it_is_whole(tmp_path: Path, shape: Sides) -> None:
    assert list(play_partition(tmp_path, shape).faults()) == []


@pytest.mark.parametrize("shape", card_cuts.SHAPES, ids=["|".join("+".join(side) for side in shape) for shape in card_cuts.SHAPES])
def test_a_card_that_is_being_replaced_is_replaced_in_the_end_and_once(tmp_path: Path, shape: Sides) -> None:
    seen = card_cuts.play_cut(tmp_path, shape)
    assert list(seen.faults()) == []
    assert (seen.steps > 0.0, len(seen.ended) <= 1) == (True, True)


@pytest.mark.parametrize("seed", range(1000, 1300))
def test_a_storm_leaves_everything_as_it_must_be(tmp_path: Path, seed: int) -> None:
    assert list(play_storm(tmp_path, seed).faults()) == []

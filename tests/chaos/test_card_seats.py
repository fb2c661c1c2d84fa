"""The daemon that decides dies for good in mid-saga, or stands still beyond its lease: the next one goes on, alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim_hardware.loop.explorer import Crash, How
from tests.chaos.card_judging import NEVER, STEPS
from tests.chaos.card_saga import References, find_seed, play_saga
from tests.chaos.card_site import FOURTH

WAYS = [(How.KILL, NEVER), (How.PAUSE, 30.0)]
POINTS = 1  # of each scene and way

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "world"
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(scope="session")
def references(tmp_path_factory: pytest.TempPathFactory) -> References:
    """Played once for each process that runs tests."""
    return References(tmp_path_factory.mktemp("references"))


@pytest.mark.parametrize(("how", "back_after"), WAYS)
@pytest.mark.parametrize("scene", STEPS)
def test_the_next_holder_ends_what_the_first_has_begun(
    references: References, folder: Path, scene: str, how: How, back_after: float
) -> None:
    reference, seed = references.find(scene, leased=True), find_seed()
    assert reference.ending.faults() == []
    faults: dict[str, int] = {}
    for k in reference.spread(FOURTH, POINTS, seed):
        ending = play_saga(folder, scene, FOURTH, Crash(how, k, reference.window, back_after), leased=True)
        shutil.rmtree(folder)
        for fault in ending.faults():
            faults.setdefault(fault, k)
    assert faults == {}, f"seed {seed}"

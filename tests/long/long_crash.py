"""The crash points that `make test` leaves out: a daemon killed, or paused, before every other one of its turns during a saga."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim_hardware.loop.explorer import How
from tests.chaos.test_crash import PARTS, STRIDE, WAYS, count_turns, explore

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "world"
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(("how", "back_after"), [*WAYS, (How.KILL, 0.0)])
def test_no_other_crash_point_loses_or_doubles_an_action(folder: Path, how: How, back_after: float, part: int) -> None:
    faults, where = explore(folder, how, back_after, range(2 * part + 2, count_turns(folder) + 1, STRIDE))
    assert faults == {}
    assert where["intent to first byte"] > 0

"""Twenty minutes of random faults on a small site: whatever comes, what must hold does. `make long` plays many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.card_storm import KINDS, QUIET, draw_storm, play_storm

pytestmark = pytest.mark.timeout(600)


def test_storms_have_every_kind_and_end_in_time() -> None:
    storms = [draw_storm(seed) for seed in range(20)]
    assert {blow.kind for storm in storms for blow in storm} == set(KINDS)
    assert all(blow.at < blow.until <= QUIET for storm in storms for blow in storm)
    assert storms[3] == draw_storm(3)


def test_a_storm_leaves_everything_as_it_must_be(tmp_path: Path) -> None:
    seed = 2  # its broker is lost between a hold and the test of a spare: once a replica was given up for that
    assert list(play_storm(tmp_path, seed).faults()) == []

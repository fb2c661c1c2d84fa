"""Five daemons in a network that falls apart: at most one side takes cards out, never the lesser; whole again, all agree.

Some of the shapes (SUPERNODED_CHAOS_SEED chooses others); `make long` plays all of them.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.chaos import card_cuts
from tests.chaos.card_saga import find_seed
from tests.chaos.partitions import BROKER, DATABASE, Seen, list_shapes, play_partition
from tests.sim.cluster.five import NODES

SAMPLE = 2  # shapes of two sides, and as many of three
WHOLE = [("n0", "n1", "n3", BROKER, DATABASE), ("n2", "n4")]

pytestmark = pytest.mark.timeout(300)


def test_there_are_as_many_shapes_as_there_should_be() -> None:
    """Stirling numbers of the second kind: 15 ways into two sides and 25 into three, times the places of broker and database."""
    assert [len(set(list_shapes(sides))) for sides in (2, 3)] == [15 * 9, 25 * 16]
    assert all(sorted(name for side in shape for name in side) == sorted((*NODES, BROKER, DATABASE)) for shape in list_shapes(3))


@pytest.mark.parametrize("number", range(SAMPLE))
@pytest.mark.parametrize("sides", [2, 3])
def test_at_most_the_greater_side_takes_out_and_all_agree_once_it_is_whole(tmp_path: Path, sides: int, number: int) -> None:
    seed = find_seed()
    shape = Random(seed).sample(list(list_shapes(sides)), SAMPLE)[number]
    assert list(play_partition(tmp_path, shape).faults()) == [], f"seed {seed}: {shape}"


def test_the_greater_side_with_everything_goes_on(tmp_path: Path) -> None:
    seen = play_partition(tmp_path, tuple(WHOLE))
    assert list(seen.faults()) == []
    assert {node for node, result in seen.done.items() if result == "done"} == {"n0", "n1", "n3"}


def test_a_card_that_is_being_replaced_is_replaced_in_the_end_and_once(tmp_path: Path) -> None:
    seed = find_seed()
    shape = Random(seed).choice(card_cuts.SHAPES)
    seen = card_cuts.play_cut(tmp_path, shape)
    assert list(seen.faults()) == [], f"seed {seed}: {shape}"
    assert (seen.steps > 0.0, len(seen.ended) <= 1) == (True, True), f"seed {seed}: {shape}"


def test_canary_a_side_that_counts_itself_the_greater_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.cluster.fleet.muster.Muster.find_split", lambda self, now: "")
    seen: Seen = play_partition(tmp_path, (("n0", "n1", BROKER, DATABASE), ("n2", "n3", "n4")))
    assert any("took cards out on a side of 2" in fault for fault in seen.faults())

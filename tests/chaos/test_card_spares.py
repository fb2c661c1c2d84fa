"""The judge of replicas that are given up and of cards that are held: it must see both, and blame nobody who could not do better."""

from __future__ import annotations

import math

import pytest

from tests.chaos.card_spares import Blow, Glimpse, Held, judge_holds, judge_replicas

SPARE = "n2/card0"
DROPS_AT, ENDED = 200.0, (60.0, 150.0)
SEEN = [Glimpse(float(at), 4.0 if at <= DROPS_AT else 2.0, (SPARE,)) for at in range(100, 300)]
DEAF = Blow(140.0, 320.0, "broker.lost", "broker", {})


def test_a_replica_is_not_given_up_beside_a_spare_that_is_heard() -> None:
    assert list(judge_replicas(SEEN, ENDED, [], [])) == [f"at 200 s a replica was given up, and {[SPARE]} were well and heard"]


@pytest.mark.parametrize(("ended", "faults"), [((150.0,), 1), ((-150.0,), 0)])
def test_a_spare_that_is_only_not_heard_is_waited_for(ended: tuple[float, ...], faults: int) -> None:
    assert len(list(judge_replicas(SEEN, ended, [DEAF], []))) == faults


@pytest.mark.parametrize(
    ("blows", "holds"),
    [
        ([Blow(100.0, 180.0, "card.hang", SPARE, {})], []),
        ([], [Held(SPARE, "isolation", 50.0, math.inf)]),
        ([], [Held(SPARE, "isolation", 50.0, 175.0)]),
    ],
)
def test_a_spare_that_could_not_be_tested_in_time_excuses(blows: list[Blow], holds: list[Held]) -> None:
    assert list(judge_replicas(SEEN, ENDED, blows, holds)) == []


def test_a_spare_with_a_rank_excuses() -> None:
    used = [Glimpse(one.at, one.world, () if one.at < DROPS_AT - 5.0 else one.free) for one in SEEN]
    assert list(judge_replicas(used, ENDED, [], [])) == []


def test_a_job_that_keeps_its_ranks_is_no_fault() -> None:
    assert list(judge_replicas(SEEN[:50], ENDED, [], [])) == []


def test_only_a_card_that_was_struck_before_may_be_held() -> None:
    holds = [Held("n1/card0", "isolation", 30.0, 40.0), Held("n1/card1", "isolation", 20.0, 40.0), Held("n2", "fleet", 20.0, 40.0)]
    struck = {"n1/card0": 10.0, "n1/card1": 25.0}
    assert list(judge_holds(holds, struck)) == ["isolation held n1/card1 from 20 s to 40 s, and nothing had been wrong with it"]

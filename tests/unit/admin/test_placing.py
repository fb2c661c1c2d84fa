from __future__ import annotations

from supernoded.admin.placing import find_rank_map
from supernoded.messages import RankMap
from supernoded.model import Reading, State
from supernoded.reading import make_reading


def tell(node: str, subject: str, quantity: str, value: str | float, at: float = 1.0, state: State = State.GOOD) -> Reading:
    return Reading(
        subject=subject,
        quantity=quantity,
        value=value,
        unit="text" if isinstance(value, str) else "1",
        at=at,
        state=state,
        source=f"job@{node}",
    )


def tell_rank(node: str, rank: int, card: str, state: str = "running", at: float = 1.0) -> list[Reading]:
    subject = f"job/train/rank{rank}"
    return [tell(node, subject, "rank.card", card, at), tell(node, subject, "rank.state", state, at)]


def list_cards(found: RankMap) -> dict[int, str]:
    return {one.rank: one.card for one in found.ranks}


WORLD = tell("n0", "job/train", "job.world_size", 3.0)


def test_ranks_of_several_nodes_make_one_map() -> None:
    told = [WORLD, *tell_rank("n1", 2, "n1/card0"), *tell_rank("n0", 0, "n0/card0"), *tell_rank("n0", 1, "n0/card1")]
    found = find_rank_map([*told, tell("n1", "job/train", "job.plan", "tp=1 pp=1 dp=3 ep=1")], "train", 9.0)
    assert found is not None
    assert list_cards(found) == {0: "n0/card0", 1: "n0/card1", 2: "n1/card0"}
    assert (found.world, found.plan, found.faults) == (3, "tp=1 pp=1 dp=3 ep=1", ())


def test_what_is_missing_is_said_and_another_job_is_another() -> None:
    other = [tell("n0", "job/trainer/rank1", "rank.card", "n9/card0"), tell("n0", "job/train/rankx", "rank.card", "n9/card1")]
    found = find_rank_map([WORLD, *tell_rank("n0", 0, "n0/card0"), *other], "train", 9.0)
    assert found is not None
    assert found.faults == ("No card is known of ranks 1, 2 of 3.",)


def test_a_rank_that_has_moved_is_where_it_runs_however_late_the_old_node_speaks() -> None:
    told = [WORLD, *tell_rank("n0", 0, "n0/card0", "gone", 8.0), *tell_rank("n1", 0, "n1/card4", at=5.0)]
    found = find_rank_map(told, "train", 9.0)
    assert found is not None
    assert list_cards(found) == {0: "n1/card4"}
    assert find_rank_map(reversed(told), "train", 9.0) == found


def test_what_is_not_good_is_not_told_and_of_nothing_there_is_no_map() -> None:
    gone = tell("n0", "job/train/rank0", "rank.card", "n0/card0", state=State.STALE)
    found = find_rank_map([WORLD, gone], "train", 9.0)
    assert found is not None
    assert list_cards(found) == {}
    assert find_rank_map([gone, make_reading("n0/card0", "card.power", 1.0, "W", 1.0)], "train", 9.0) is None

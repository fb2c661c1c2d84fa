from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.topology import (
    GroupKind,
    Plan,
    drop_replica,
    find_replica,
    format_plan,
    lint_plan,
    list_groups,
    number_replica,
    parse_plan,
)

KINDS: tuple[GroupKind, ...] = ("tp", "pp", "dp", "ep")
LARGE = Plan(tp=8, pp=16, dp=4)  # the example of X2


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    tp, pp, dp = draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    return Plan(tp=tp, pp=pp, dp=dp, ep=draw(st.sampled_from([size for size in range(1, tp * dp + 1) if tp * dp % size == 0])))


def place(plan: Plan, rank: int) -> tuple[int, int, int]:
    """Replica, stage and shard, by subtraction alone."""
    replica, rest = divmod(rank, plan.tp * plan.pp)
    return replica, *divmod(rest, plan.tp)


@given(plan=plans(), kind=st.sampled_from(KINDS))
def test_groups_of_each_kind_hold_every_rank_once_and_are_of_one_size(plan: Plan, kind: GroupKind) -> None:
    groups = list_groups(plan, kind)
    assert sorted(rank for group in groups for rank in group) == list(range(plan.world))
    assert {len(group) for group in groups} == {getattr(plan, kind)}
    assert all(list(group) == sorted(group) for group in groups)


@given(plan=plans())
def test_members_of_a_group_differ_in_that_dimension_alone(plan: Plan) -> None:
    numbers: dict[GroupKind, int] = {"tp": 2, "pp": 1, "dp": 0}
    for kind, number in numbers.items():
        for group in list_groups(plan, kind):
            places = [place(plan, rank) for rank in group]
            assert [one[number] for one in places] == list(range(len(group)))
            assert len({one[:number] + one[number + 1 :] for one in places}) == 1


@given(plan=plans())
def test_ranks_of_a_tensor_group_stand_side_by_side(plan: Plan) -> None:
    assert all(group == tuple(range(group[0], group[0] + plan.tp)) for group in list_groups(plan, "tp"))


@given(plan=plans())
def test_a_data_group_has_one_member_of_every_replica(plan: Plan) -> None:
    for group in list_groups(plan, "dp"):
        assert [number_replica(plan, rank) for rank in group] == list(range(plan.dp))


@given(plan=plans())
def test_an_expert_group_stays_in_its_stage_and_within_a_replica_where_it_fits(plan: Plan) -> None:
    for group in list_groups(plan, "ep"):
        assert len({place(plan, rank)[1] for rank in group}) == 1
        if plan.tp % plan.ep == 0:
            assert len({number_replica(plan, rank) for rank in group}) == 1


def test_the_example_of_512_ranks() -> None:
    assert LARGE.world == 512
    assert {kind: len(list_groups(LARGE, kind)) for kind in KINDS} == {"tp": 64, "pp": 32, "dp": 128, "ep": 512}
    assert list_groups(LARGE, "pp")[0] == tuple(range(0, 128, 8))
    assert list_groups(LARGE, "dp")[3] == (3, 131, 259, 387)
    assert find_replica(LARGE, 200) == tuple(range(128, 256))


@given(plan=plans(), data=st.data())
def test_replicas_hold_whole_tensor_and_pipeline_groups(plan: Plan, data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, plan.world - 1))
    ranks = set(find_replica(plan, rank))
    assert rank in ranks
    assert len(ranks) == plan.replica_size
    assert all(set(group) <= ranks or not set(group) & ranks for kind in ("tp", "pp") for group in list_groups(plan, kind))


@given(plan=plans().filter(lambda plan: plan.dp > 1 and plan.tp % plan.ep == 0), data=st.data())
def test_a_dropped_replica_leaves_groups_that_are_whole(plan: Plan, data: st.DataObject) -> None:
    replica = data.draw(st.integers(0, plan.dp - 1))
    smaller, numbers = drop_replica(plan, replica)
    assert (smaller.tp, smaller.pp, smaller.dp, smaller.ep) == (plan.tp, plan.pp, plan.dp - 1, plan.ep)
    assert sorted(numbers.values()) == list(range(smaller.world))
    assert sorted(numbers) == sorted(set(range(plan.world)) - set(find_replica(plan, replica * plan.replica_size)))
    for kind in ("tp", "pp", "ep"):
        old = {tuple(numbers[rank] for rank in group) for group in list_groups(plan, kind) if group[0] in numbers}
        assert old == set(list_groups(smaller, kind))
    old = {tuple(numbers[rank] for rank in group if rank in numbers) for group in list_groups(plan, "dp")}
    assert old == set(list_groups(smaller, "dp"))
    assert all(place(plan, rank)[1:] == place(smaller, number)[1:] for rank, number in numbers.items())


@pytest.mark.parametrize(
    ("plan", "replica", "why"),
    [
        (Plan(tp=8), 0, "one replica only"),
        (Plan(tp=2, dp=2), 2, "has no replica 2"),
        (Plan(tp=2, dp=2), -1, "has no replica -1"),
        (Plan(tp=1, dp=4, ep=4), 0, "spread over replicas"),
    ],
)
def test_what_cannot_be_dropped_is_refused(plan: Plan, replica: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        drop_replica(plan, replica)


@pytest.mark.parametrize("rank", [-1, 512])
def test_a_rank_outside_the_plan_is_refused(rank: int) -> None:
    with pytest.raises(ValueError, match=f"rank {rank} is none"):
        find_replica(LARGE, rank)


@given(plan=plans())
def test_a_plan_is_read_as_it_is_written(plan: Plan) -> None:
    assert parse_plan(format_plan(plan)) == plan


def test_sizes_may_stand_in_any_order_and_be_left_out() -> None:
    assert parse_plan("dp=4, tp=8") == Plan(tp=8, dp=4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no sizes"),
        ("tp=8 tp=8", "tp is given twice"),
        ("tp=0", "below 1"),
        ("tp=-1", "is no size"),
        ("cp=2", "is no size"),
        ("tp=99999999 dp=2", "above 10000000"),
        ("tp=2 dp=3 ep=4", "does not divide the 6 ranks"),
        ("tp=٣", "is no size"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_plan(text)


@given(text=st.text() | st.text(alphabet="tpde=0123456789 ,"))
def test_any_text_is_a_plan_or_a_sentence(text: str) -> None:
    try:
        plan = parse_plan(text)
    except ValueError as error:
        assert str(error).startswith("plan ")
    else:
        assert plan.world >= 1


def test_a_plan_that_fits_has_no_faults() -> None:
    assert lint_plan(LARGE, 8, 512) == ()
    assert lint_plan(Plan(tp=3), 0, 0) == ()


@pytest.mark.parametrize(
    ("cards", "world", "words"),
    [(8, 256, ["512", "256", "X2"]), (4, 512, ["more than the 4 cards", "X1"]), (12, 512, ["divide the 12", "X1"])],
)
def test_a_plan_that_does_not_fit_is_told(cards: int, world: int, words: list[str]) -> None:
    (fault,) = lint_plan(LARGE, cards, world)
    assert all(word in fault for word in words)

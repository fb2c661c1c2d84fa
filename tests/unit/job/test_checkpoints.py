from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from supernoded.job import checkpoints
from supernoded.job.checkpoints import Checkpoint

RANKS = (0, 1, 2)
ASKED = Checkpoint(id="i1/save", number=1, kind="checkpoint", asked=0.0, deadline=10.0, hard=20.0, expected=RANKS)
Event = Callable[[Checkpoint], Checkpoint]

ranks, steps = st.integers(0, 3), st.integers(98, 102)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(lambda rank, step: lambda one: checkpoints.agree(one, rank, step), ranks, steps),
    st.builds(lambda step: lambda one: checkpoints.begin_save(one, step), steps),
    st.builds(lambda rank, step: lambda one: checkpoints.save(one, rank, step), ranks, steps),
    st.builds(lambda step: lambda one: checkpoints.make_durable(one, step), steps),
    st.builds(lambda rank: lambda one: checkpoints.lose(one, rank), ranks),
    st.builds(lambda rank: lambda one: checkpoints.expect(one, rank), ranks),
    st.builds(lambda rank: lambda one: checkpoints.excuse(one, rank), ranks),
    st.builds(lambda now: lambda one: checkpoints.pass_time(one, now), st.floats(0.0, 30.0)),
    st.just(checkpoints.withdraw),
)
MAY_FOLLOW = {
    "asked": {"agreed", "withdrawn", "late", "failed"},
    "agreed": {"saving", "saved", "durable", "late", "failed"},
    "saving": {"saved", "durable", "late", "failed"},
    "late": {"saved", "durable", "withdrawn", "failed"},
    "saved": {"durable"},
    "withdrawn": {"agreed"},
    "durable": set(),
    "failed": set(),
}


@given(st.lists(EVENTS, max_size=40))
def test_a_request_goes_only_ways_that_there_are(events: list[Event]) -> None:
    one = ASKED
    for event in events:
        new = event(one)
        assert new.stage == one.stage or new.stage in MAY_FOLLOW[one.stage]
        assert not one.agreed or new.step == one.step, "a step that was agreed on stands"
        assert set(one.saved) <= set(new.saved)
        assert new.stage != "saved" or set(new.expected) <= set(new.saved)
        assert new.stage != "withdrawn" or not new.agreed
        assert new.stage not in {"agreed", "saving", "saved", "durable"} or new.agreed
        one = new


def test_all_ranks_saved_is_saved_and_then_durable() -> None:
    one = checkpoints.begin_save(checkpoints.agree(ASKED, 1, 100), 100)
    assert one.stage == "saving"
    for rank in RANKS:
        assert one.stage == "saving"
        one = checkpoints.save(one, rank, 100)
    assert one.stage == "saved"
    assert checkpoints.make_durable(one, 99).stage == "saved"
    assert checkpoints.make_durable(one, 100).stage == "durable"
    assert checkpoints.make_durable(one, 140).stage == "durable"


def test_what_ranks_have_agreed_on_cannot_be_withdrawn_and_a_faster_agreement_wins() -> None:
    assert checkpoints.withdraw(checkpoints.agree(ASKED, 0, 100)).stage == "agreed"
    withdrawn = checkpoints.withdraw(ASKED)
    assert withdrawn.stage == "withdrawn"
    assert checkpoints.agree(withdrawn, 0, 100).stage == "agreed"


def test_ranks_that_name_two_steps_fail_it_by_name() -> None:
    one = checkpoints.agree(checkpoints.agree(ASKED, 0, 100), 2, 101)
    assert one.stage == "failed"
    assert "rank 2 saves step 101 and the others 100" in one.text


def test_late_goes_on_until_its_hard_limit() -> None:
    late = checkpoints.pass_time(checkpoints.agree(ASKED, 0, 100), 10.0)
    assert late.stage == "late"
    saved = late
    for rank in RANKS:
        saved = checkpoints.save(saved, rank, 100)
    assert saved.stage == "saved"
    failed = checkpoints.pass_time(late, 20.0)
    assert failed.stage == "failed"
    assert "20.0 s" in failed.text


def test_a_rank_that_dies_with_its_part_unsaved_fails_it_and_one_that_saved_does_not() -> None:
    one = checkpoints.save(checkpoints.agree(ASKED, 0, 100), 0, 100)
    assert checkpoints.lose(one, 0).stage == "saving"
    assert checkpoints.lose(one, 1).stage == "failed"


def test_a_rank_that_ended_in_order_is_not_waited_for() -> None:
    one = checkpoints.agree(checkpoints.excuse(ASKED, 2), 0, 100)
    for rank in (0, 1):
        one = checkpoints.save(one, rank, 100)
    assert one.stage == "saved"

"""Over random histories of orders and of what happens to cards."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.plant import job
from sim_hardware.plant.job.orders import (
    AbortCollective,
    FailSave,
    HangSave,
    RemapRanks,
    RequestCheckpoint,
    ResumeJob,
    ShrinkBuffer,
    SilenceRank,
    StopJob,
    WithdrawCheckpoint,
)
from sim_hardware.plant.words import Order, OrderError
from sim_hardware.rack import generate_rack
from sim_hardware.rack.shape import Sim, SimJob

RACK = msgspec.structs.replace(generate_rack(4, 1), sim=Sim(job=SimJob(tensor=1)))  # three ranks, each a replica, and a spare
CARDS = st.dictionaries(st.integers(0, 2), st.sampled_from([f"n{n}/card0" for n in range(4)]))
ORDERS = st.one_of(
    st.sampled_from(
        [RequestCheckpoint("train"), WithdrawCheckpoint("train"), AbortCollective("train"), ResumeJob("train"), StopJob("train")]
    ),
    st.builds(SilenceRank, st.just("train"), st.integers(0, 2), st.booleans()),
    st.builds(ShrinkBuffer, st.just("train"), st.booleans()),
    st.builds(HangSave, st.just("train"), st.booleans()),
    st.builds(FailSave, st.just("train"), st.booleans()),
    st.builds(RemapRanks, st.just("train"), CARDS, st.sampled_from([(), (), (0,), (1,), (2,), (0, 1)])),
)
CARD = st.sampled_from([(1.0, True), (1.0, True), (1.0, True), (0.6, True), (0.0, True), (0.0, False)])
HISTORIES = st.lists(
    st.tuples(st.floats(0.0, 30.0), st.lists(CARD, min_size=4, max_size=4), st.floats(1.0, 6.0), ORDERS | st.none()), max_size=12
)
Moment = tuple[float, list[tuple[float, bool]], float, Order | None]


def run(history: list[Moment], cuts: int) -> Iterator[job.State]:
    """All states of the history, each of whose intervals is cut into so many pieces."""
    state = job.start(RACK, 2)
    yield state
    for seconds, states, ring, order in history:
        if order is not None:
            try:
                state = job.apply(state, order)
            except OrderError:
                continue
            yield state
        inputs = job.Inputs(tuple(speed for speed, _ in states), tuple(alive for _, alive in states), ring)
        since = state.at
        for cut in range(1, cuts + 1):
            state = job.update(state, since + seconds if cut == cuts else since + seconds * cut / cuts, inputs)
            yield state


@given(HISTORIES)
@settings(max_examples=150, deadline=None)
def test_it_does_not_matter_how_time_is_cut(history: list[Moment]) -> None:
    one, many = list(run(history, 1)), list(run(history, 5))
    told, same = ([news for state in states for news in state.happened] for states in (one, many))
    assert [(news.kind, news.subject) for news in told] == [(news.kind, news.subject) for news in same]
    assert [news.at for news in told] == pytest.approx([news.at for news in same])
    assert (one[-1].phase, one[-1].step, one[-1].committed_step) == (many[-1].phase, many[-1].step, many[-1].committed_step)
    assert job.list_loads(one[-1]) == pytest.approx(job.list_loads(many[-1]))


@given(HISTORIES)
@settings(max_examples=150, deadline=None)
def test_checkpoints_never_fall_and_never_lead(history: list[Moment]) -> None:
    committed = 0
    for state in run(history, 3):
        assert committed <= state.committed_step <= state.step
        committed = state.committed_step
        assert state.next_time >= state.at


@given(HISTORIES)
@settings(max_examples=150, deadline=None)
def test_steps_advance_and_checkpoints_commit_only_with_all_ranks_able(history: list[Moment]) -> None:
    before = job.start(RACK, 2)
    for state in run(history, 3):
        if state.step > before.step or state.committed_step > before.committed_step:
            assert not state.silent
            assert all(state.inputs.speed[card] > 0.0 and state.inputs.alive[card] for card in state.placed)
        before = state


@given(HISTORIES)
@settings(max_examples=150, deadline=None)
def test_losses_are_what_was_not_saved_and_ranks_have_a_card_each(history: list[Moment]) -> None:
    for state in run(history, 3):
        losses = [news.value for news in state.happened if news.kind in {"job.lost", "job.aborted", "job.stopped"}]
        assert losses in ([], [state.step - state.committed_step])
        assert len(set(state.placed)) == len(state.placed) == len(state.plan.noise) == state.plan.replicas
        assert 1 <= len(state.placed) <= 3
        assert set(job.list_loads(state)) == {0.0} or state.phase not in {"lost", "stopped"}


@given(HISTORIES)
@settings(max_examples=60, deadline=None)
def test_loads_and_traffic_are_shares(history: list[Moment]) -> None:
    for state in run(history, 2):
        assert all(0.0 <= load <= 1.0 for load in job.list_loads(state))
        assert all(0.0 <= share <= 0.6 for share in job.list_traffic(state))

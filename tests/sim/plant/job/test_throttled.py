"""A card that heat has slowed down: its steps take longer, and what waits for it times out (T9)."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant import job
from sim_hardware.plant.job.orders import ShrinkBuffer, SilenceRank
from sim_hardware.plant.words import Happening
from tests.sim.plant.job.test_job import RACK, ask, begin

HOT = 3  # card and rank


def play(state: job.State, seconds: float, *, hot: bool, every: float = 100.0) -> job.State:
    """On to a time with the card throttled or not, asked at least so often."""
    inputs = job.Inputs(
        tuple(0.6 if hot and card == HOT else 1.0 for card in range(8)), (True,) * 8, throttled=frozenset({HOT} if hot else ())
    )
    happened: list[Happening] = []
    end = state.at + seconds
    while state.at < end:
        state = job.update(state, min(end, state.next_time, state.at + every), inputs)
        happened += state.happened
    return msgspec.structs.replace(state, happened=tuple(happened))


def list_time_outs(state: job.State) -> list[float]:
    return [news.at for news in state.happened if news.kind == "comm.timeout"]


def test_while_it_is_throttled_steps_are_slow_and_sends_time_out() -> None:
    state = play(begin(4.0), 10.0, hot=True)
    assert list_time_outs(state) == [7.0, 10.0, 13.0]
    assert ask(state, "job.step_time") == pytest.approx(2.0 * (0.939 / 0.6 + 0.061))
    assert "while it waited for rank 3" in next(news.text for news in state.happened if news.kind == "comm.timeout")
    after = play(state, 10.0, hot=False)
    assert (list_time_outs(after), ask(after, "job.step_time")) == ([], 2.0)


def test_a_moment_of_it_passes_unheard() -> None:
    state = play(begin(4.0), 2.0, hot=True)
    assert list_time_outs(state) == []
    assert list_time_outs(play(state, 10.0, hot=False)) == []


def test_a_spare_card_may_be_as_hot_as_it_likes() -> None:
    inputs = job.Inputs((1.0,) * 8, (True,) * 8, throttled=frozenset({7}))
    state = job.update(begin(4.0), 5.0, inputs)
    assert state.complain_at == float("inf")


def test_a_small_buffer_goes_on_complaining_when_it_has_cooled_down() -> None:
    state = play(job.apply(begin(4.0), ShrinkBuffer("train", small=True)), 5.0, hot=True)
    assert len(list_time_outs(play(state, 9.0, hot=False))) == 3


def test_who_waits_for_a_silent_rank_does_not_complain() -> None:
    state = play(job.apply(begin(4.0), SilenceRank("train", 0, silent=True)), 10.0, hot=True)
    assert ask(state, "job.state") == "hung"
    assert list_time_outs(play(state, 60.0, hot=True)) == []


@given(st.lists(st.tuples(st.floats(0.1, 20.0), st.booleans()), min_size=1, max_size=6), st.floats(0.05, 3.0))
def test_how_time_is_cut_does_not_matter(spells: list[tuple[float, bool]], every: float) -> None:
    whole = cut = job.start(RACK, 1)
    for seconds, hot in spells:
        end = whole.at + seconds
        whole = play(whole, end - whole.at, hot=hot)
        cut = play(cut, end - cut.at, hot=hot, every=every)
        assert [(news.at, news.kind) for news in cut.happened] == [(news.at, news.kind) for news in whole.happened]
        assert (cut.complain_at, cut.step) == (whole.complain_at, whole.step)

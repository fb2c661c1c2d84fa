"""Whatever comes of the steps, each order ends, and safely."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.plugin import ASSUMED, Outcome, Result
from tests.plugins.isolation.saga.theatre import CARD, alive, but, silent
from tests.plugins.isolation.site import SITE


@pytest.mark.parametrize("make", [silent, alive])
@pytest.mark.parametrize("result", [Result.REFUSED, Result.EXPIRED, Result.UNCONFIRMED])
@pytest.mark.parametrize("kind", ["card.capture", "card.hold", "job.abort", "card.isolate", "job.remap", "job.resume"])
def test_each_stage_that_fails_ends_it_safely(make: object, kind: str, result: Result) -> None:
    if kind == "card.hold" and result is not Result.UNCONFIRMED:
        return  # it is asked for again: see `test_waiting.py`
    if kind in {"job.remap", "job.resume"} and result is Result.EXPIRED:
        return  # the same: see `test_waiting.py`
    play = (silent if make is silent else alive)(plan=but(**{kind.replace(".", "_"): result}))
    play.run()
    tried = play.kinds.count(kind)
    if kind == "card.capture":
        assert (tried, play.kinds[-1]) == (1, "job.resume")
    elif kind == "card.isolate":
        assert (tried, play.kinds[-1]) == (2, "job.resume")
        assert "not seen: it is fenced" in play.told[0]
    else:
        assert tried == 2
        assert "came to nothing in 2 tries" in play.told[0]
        assert play.log[-1].kind == "notify"
    assert len(play.told) == 1


def test_steps_that_do_not_go_up_are_told() -> None:
    play = silent()
    while play.kinds[-1:] != ["job.resume"]:
        play.turn()
    play.site.states = dict.fromkeys(play.site.places, "waiting")
    play.run()
    assert "its steps are not seen to go up" in play.told[0]


def test_a_trouble_that_is_over_before_it_began_is_left_alone() -> None:
    play = silent(still_raised=False)
    play.run()
    assert play.log == []


def test_what_was_begun_is_ended_though_the_trouble_is_over() -> None:
    play = silent()
    play.turn()
    play.turn()
    play.still_raised = False
    play.run()
    assert "job.resume" in play.kinds


@pytest.mark.parametrize("make", [silent, alive])
def test_a_rehearsal_comes_to_its_end(make: object) -> None:
    """In `observe` every step is assumed to go well, and nothing changes."""
    play = (silent if make is silent else alive)()
    told: list[str] = []
    while steps := play.ask():
        told += [step.kind for step in steps]
        assert len(told) < 20
        play.done |= {step.name: Outcome(action=step.name, result=Result.DONE, text=ASSUMED, at=play.site.now) for step in steps}
    assert told[-3:] == ["job.remap", "job.resume", "notify"]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(list(Result)), min_size=1, max_size=60),
    st.booleans(),
    st.sets(st.sampled_from([spare.card for spare in SITE.spares])),
)
def test_whatever_comes_of_the_steps_it_ends_and_breaks_no_rule(results: list[Result], is_silent: bool, faulty: set[str]) -> None:
    outcomes = iter(results)
    play = (silent if is_silent else alive)(plan=lambda _: next(outcomes, Result.DONE), faulty=faulty)
    play.run()
    assert len([hold for hold in play.holds if hold.subject == CARD]) <= 1
    assert {hold.subject for hold in play.holds} <= {CARD, *play.failed}
    assert play.told or not play.log


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_a_crash_at_any_point_changes_nothing(data: st.DataObject) -> None:
    """All that a new life has is what was written down; steps under way are said again by their names, and not doubled."""
    play = silent()
    for _ in range(30):
        steps = play.ask()
        for step in steps:
            assert step.name not in {one.name for one in play.ask(frozenset({step.name}))} or step.kind == "card.capture"
        for step in steps:
            if data.draw(st.booleans()):
                play.perform(step, Result.DONE)
        play.site.pass_time()
    assert play.kinds.count("job.remap") <= 1
    assert len(play.kinds) == len(set(play.kinds))

"""When a shed is due, and when it is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.reflex.deciding import FIRE, HELD, LATE, WAIT, Flag, Trip

DEADLINE, REFRACTORY = 0.02, 30.0


def make_trip(frames: int = 1, debounce: float = 0.0) -> Trip:
    return Trip([Flag(frames, debounce, DEADLINE) for _ in "AB"], DEADLINE, REFRACTORY)


def see(trip: Trip, at: float, *levels: bool | None) -> int:
    """One look at each feed, None = it could not be seen; what it comes to."""
    for flag, level in zip(trip.flags, levels, strict=True):
        if level is not None:
            flag.note(level, at, at)
    return trip.judge(at)


def test_both_feeds_fire() -> None:
    trip = make_trip()
    assert see(trip, 1.0, False, False) == WAIT
    assert see(trip, 1.01, True, True) == FIRE


def test_one_feed_never_fires() -> None:
    trip = make_trip()
    see(trip, 1.0, False, False)
    assert [see(trip, 1.0 + 0.01 * step, True, False) for step in range(1, 500)] == [WAIT] * 499


def test_the_other_feed_unknown_is_no_shed() -> None:
    trip = make_trip()
    see(trip, 1.0, True, False)
    assert see(trip, 1.01, True, None) == WAIT
    assert see(trip, 1.015, None, False) == WAIT
    assert see(trip, 1.029, None, True) == FIRE, "A was seen 19 ms ago"
    trip = make_trip()
    see(trip, 1.0, True, False)
    assert see(trip, 1.021, None, True) == WAIT, "A was seen 21 ms ago, which is longer than anything may take"


def test_a_feed_never_seen_is_no_shed() -> None:
    assert see(make_trip(), 1.0, None, True) == WAIT


def test_it_takes_all_the_frames() -> None:
    trip = make_trip(frames=3)
    see(trip, 1.0, True, False)
    see(trip, 1.001, True, False)
    assert see(trip, 1.002, True, True) == WAIT
    assert see(trip, 1.003, True, True) == WAIT
    assert see(trip, 1.004, True, False) == WAIT, "one that is well begins the count anew"
    assert [see(trip, 1.005 + 0.001 * step, True, True) for step in range(3)] == [WAIT, WAIT, FIRE]


def test_a_flag_that_bounces_is_none() -> None:
    trip = make_trip(debounce=0.002)
    for step in range(20):
        assert see(trip, 1.0 + 0.001 * step, step % 2 == 1, True) == WAIT
    see(trip, 1.020, False, True)
    assert [see(trip, 1.020 + 0.001 * step, True, True) for step in range(1, 5)] == [WAIT, WAIT, FIRE, WAIT]


def test_flagged_before_anybody_looked_is_late() -> None:
    trip = make_trip()
    assert see(trip, 1.0, True, True) == LATE
    assert see(trip, 1.001, True, True) == WAIT, "it is judged once"


def test_older_than_the_deadline_is_late() -> None:
    trip = make_trip()
    see(trip, 1.0, False, False)
    assert see(trip, 1.0201, True, True) == LATE
    see(trip, 1.03, True, False)
    assert see(trip, 1.04, True, True) == FIRE, "the next one is judged by itself"


def test_a_look_is_as_old_as_its_question() -> None:
    trip = make_trip()
    see(trip, 1.0, True, True)
    for flag in trip.flags:
        flag.note(flagged=False, asked=1.0, now=1.015)
    assert trip.judge(1.015) == WAIT
    assert see(trip, 1.0201, True, True) == LATE


def test_a_feed_down_for_long_leaves_the_other_its_trigger() -> None:
    trip = make_trip()
    for step in range(1000):
        see(trip, 1.0 + 0.01 * step, True, False)
    assert see(trip, 11.0, True, True) == FIRE


def test_a_flapping_trigger_fires_once() -> None:
    trip = make_trip()
    verdicts = [see(trip, 1.0 + 0.01 * step, step % 2 == 1, True) for step in range(200)]
    assert verdicts.count(FIRE) == 1
    assert verdicts.count(HELD) == 99
    see(trip, 1.01 + REFRACTORY - 0.005, False, True)
    assert see(trip, 1.01 + REFRACTORY + 0.001, True, True) == FIRE


def test_standing_flags_do_not_fire_again_when_the_time_is_over() -> None:
    trip = make_trip()
    see(trip, 1.0, False, False)
    assert see(trip, 1.01, True, True) == FIRE
    assert all(see(trip, 1.01 + 0.01 * step, True, True) == WAIT for step in range(1, 4000))


def test_a_feed_lost_from_sight_is_not_judged_anew_when_it_comes_back() -> None:
    trip = make_trip()
    see(trip, 1.0, False, False)
    see(trip, 1.01, True, True)
    assert see(trip, 2.0, None, True) == WAIT
    assert see(trip, 2.01, True, True) == WAIT
    assert trip.newest == FIRE


@given(st.lists(st.tuples(st.floats(0.0005, 0.05), st.sampled_from([True, False, None]), st.sampled_from([True, False, None]))))
def test_whatever_is_seen_it_fires_on_two_fresh_flags_of_a_recent_onset_alone(looks: list[tuple[float, bool | None, bool | None]]) -> None:
    trip = Trip([Flag(2, 0.0, DEADLINE) for _ in "AB"], DEADLINE, 1.0)
    at, fired, seen = 100.0, list[float](), [list[tuple[float, bool]](), list[tuple[float, bool]]()]
    for step, *levels in looks:
        at += step
        for history, level in zip(seen, levels, strict=True):
            if level is not None:
                history.append((at, level))
        if see(trip, at, *levels) != FIRE:
            continue
        assert all(at - history[-1][0] <= DEADLINE for history in seen)
        assert all(history[-1][1] and history[-2][1] for history in seen)
        assert min(at - max((when for when, flagged in history if not flagged), default=-1e9) for history in seen) <= DEADLINE
        assert not fired or at - fired[-1] >= 1.0
        fired.append(at)

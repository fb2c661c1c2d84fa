from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job import ranks
from supernoded.job.ranks import Rank, hear_alive, hear_beat, hear_phase, hear_saving, judge, judge_job


def make(number: int, step: int, heard: float, times: tuple[float, ...] = (1.0,)) -> Rank:
    return Rank(number=number, came=0.0, heard=heard, step=step, beat_at=heard, times=times)


def everybody(*found: Rank) -> dict[int, Rank]:
    return {rank.number: rank for rank in found}


def test_the_one_behind_is_silent_and_its_peers_wait() -> None:
    there = everybody(make(0, 100, 50.0), make(1, 100, 50.0), make(2, 99, 49.0))
    assert judge(there, 60.0, 15.0) == {0: "running", 1: "running", 2: "running"}
    states = judge(there, 66.0, 15.0)
    assert states == {0: "waiting", 1: "waiting", 2: "silent"}
    assert judge_job(states, there, 3, stopping=False) == "silent"


def test_three_p95_steps_are_waited_for_where_steps_are_long() -> None:
    there = everybody(make(0, 10, 100.0, (20.0,) * 30), make(1, 9, 80.0, (20.0,) * 30))
    assert judge(there, 139.0, 15.0)[1] == "running"
    assert judge(there, 141.0, 15.0)[1] == "silent"


def test_when_all_stand_at_one_step_nobody_is_blamed_but_the_job_is_silent() -> None:
    there = everybody(make(0, 100, 50.0), make(1, 100, 50.0))
    states = judge(there, 70.0, 15.0)
    assert states == {0: "waiting", 1: "waiting"}
    assert judge_job(states, there, 2, stopping=False) == "silent"
    assert judge_job(states, there, 4, stopping=False) == "waiting", "the ranks of another node may be the ones"


def test_a_process_that_no_longer_says_that_it_runs_is_silent_at_the_same_step() -> None:
    there = everybody(*(hear_alive(make(number, 100, 50.0), 69.0) for number in range(2)), hear_alive(make(2, 100, 50.0), 51.0))
    states = judge(there, 70.0, 15.0)
    assert states == {0: "waiting", 1: "waiting", 2: "silent"}
    assert judge_job(states, there, 8, stopping=False) == "silent"
    assert judge(there, 64.0, 15.0)[2] == "running"


def test_a_save_and_a_phase_may_stop_every_thread_of_a_process() -> None:
    rank = hear_alive(make(0, 100, 50.0), 50.0)
    saving, busy = hear_saving(rank, 100, 50.0), hear_phase(rank, "compiling", 60.0, 50.0)
    there = everybody(saving, msgspec.structs.replace(busy, number=1), hear_alive(make(2, 100, 50.0), 90.0))
    assert judge(there, 90.0, 15.0) == {0: "saving", 1: "phase", 2: "waiting"}


def test_who_saves_on_long_after_its_peers_have_is_silent() -> None:
    there = everybody(hear_saving(make(0, 100, 50.0), 100, 50.0), make(1, 100, 56.0), make(2, 100, 56.0))
    assert judge(there, 50.0 + 59.0, 15.0, 6.0)[0] == "saving"
    states = judge(there, 50.0 + 61.0, 15.0, 6.0)
    assert states == {0: "silent", 1: "waiting", 2: "waiting"}
    assert judge(there, 50.0 + 61.0, 15.0, 40.0)[0] == "saving", "its saves take long"
    assert judge(there, 50.0 + 61.0, 15.0)[0] == "saving", "nobody has saved yet"
    together = there | {1: hear_saving(there[1], 100, 50.0)}
    assert judge(together, 50.0 + 300.0, 15.0, 6.0)[0] == "saving", "it is not the only one"
    assert judge({0: there[0]}, 50.0 + 300.0, 15.0, 6.0)[0] == "saving", "its peers are elsewhere"


def test_who_saves_and_whose_process_says_nothing_any_more_is_silent() -> None:
    frozen = hear_alive(hear_saving(make(0, 100, 50.0), 100, 50.0), 51.0)
    lively = hear_alive(hear_saving(make(1, 100, 50.0), 100, 50.0), 69.0)
    assert judge(everybody(frozen, lively), 69.5, 15.0, 6.0) == {0: "silent", 1: "saving"}, "three times its peers' worst, of 6 s"
    assert judge(everybody(frozen, lively), 68.5, 15.0, 6.0) == {0: "saving", 1: "saving"}
    assert judge(everybody(frozen, lively), 69.5, 15.0)[0] == "saving", "nobody has saved yet"


def test_one_that_is_alone_here_waits_for_its_peers_elsewhere_while_its_process_runs() -> None:
    lively = hear_alive(make(7, 100, 50.0), 89.0)
    assert judge(everybody(lively), 90.0, 15.0, world=8) == {7: "waiting"}
    assert judge(everybody(lively), 90.0, 15.0, world=1) == {7: "silent"}, "it has no peers"
    assert judge(everybody(hear_alive(make(7, 100, 50.0), 60.0)), 90.0, 15.0, world=8) == {7: "silent"}, "its process is frozen"
    assert judge(everybody(make(7, 100, 50.0)), 90.0, 15.0, world=8) == {7: "silent"}, "it never said that it runs"


def test_the_launchers_word_of_an_abort_is_the_jobs() -> None:
    there = everybody(make(0, 100, 50.0))
    assert judge_job({0: "gone"}, there, 2, stopping=False, aborted=True) == "aborted"
    assert judge_job({}, {}, 2, stopping=False, aborted=True) == "aborted"


def test_steps_that_a_client_may_leave_out_make_nobody_silent() -> None:
    fast = (0.005,) * 10
    assert judge(everybody(make(0, 104, 50.0, fast), make(1, 101, 50.0, fast)), 70.0, 15.0) == {0: "waiting", 1: "waiting"}
    assert judge(everybody(make(0, 106, 50.0, fast), make(1, 101, 50.0, fast)), 70.0, 15.0)[1] == "silent"


def test_a_phase_covers_silence_for_as_long_as_it_said_and_somewhat_more() -> None:
    busy = hear_phase(make(0, 100, 50.0), "evaluation", 100.0, 50.0)
    there = everybody(busy, make(1, 101, 50.0))
    assert judge(there, 340.0, 15.0)[0] == "phase"
    assert judge(there, 351.0, 15.0)[0] == "silent"
    assert judge(everybody(hear_phase(busy, "", 0.0, 60.0)), 61.0, 15.0)[0] == "running"


def test_phases_and_saves_are_no_steps() -> None:
    rank = hear_beat(make(0, 10, 100.0, ()), 12, 104.0)
    assert rank.times == (2.0,)
    rank = hear_beat(hear_phase(hear_phase(rank, "evaluation", 5.0, 104.0), "", 0.0, 160.0), 13, 161.0)
    assert rank.times == (2.0,)
    rank = hear_beat(hear_saving(hear_saving(rank, 13, 161.0), None, 190.0), 14, 191.0)
    assert rank.times == (2.0,)
    assert hear_beat(rank, 15, 194.0).times == (2.0, 3.0)


def test_before_the_first_step_a_job_restores_and_compiles() -> None:
    there = everybody(make(0, -1, 50.0, ()), make(1, -1, 50.0, ()))
    assert judge(there, 640.0, 15.0) == {0: "running", 1: "running"}
    assert judge_job(judge(there, 640.0, 15.0), there, 2, stopping=False) == "starting"
    assert judge(there, 651.0, 15.0) == {0: "waiting", 1: "waiting"}
    assert judge(everybody(make(0, 1, 60.0), make(1, -1, 50.0)), 76.0, 15.0) == {0: "waiting", 1: "silent"}
    assert judge(everybody(make(3, -1, 50.0, ())), 640.0, 15.0) == {3: "running"}, "nor where it is alone on its node"


def test_a_job_that_is_set_back_has_no_step_of_negative_time() -> None:
    assert hear_beat(make(0, 100, 50.0, ()), 40, 51.0).times == ()


@pytest.mark.parametrize("words", [{0: "stopped", 1: "stopped"}, {}])
def test_words_of_a_job_that_does_nothing(words: dict[int, str]) -> None:
    assert judge_job(words, {}, 2, stopping=False) == ("stopped" if words else "absent")


@given(st.lists(st.floats(0.0, 1e6), min_size=1))
def test_p95_is_one_of_them_and_not_exceeded_by_95_percent(times: list[float]) -> None:
    p95 = ranks.find_p95(times)
    assert p95 in times
    assert sum(value <= p95 for value in times) >= 0.95 * len(times) - 1e-9
    assert sum(value < p95 for value in times) <= math.ceil(0.95 * len(times)) - 1

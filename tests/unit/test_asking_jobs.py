from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.asking_jobs import JOB_WATCHES, Job, ask_to_save, ask_to_stop, list_jobs, say_silent
from supernoded.history import History, View
from supernoded.model import Reading
from supernoded.quantities import VOCABULARY
from supernoded.reading import make_reading
from supernoded.seeing import find_least, find_most, is_read, list_numbers, list_words, say_why

JOB = Job("job/train", frozenset({"running"}), frozenset({"none"}), 4.0, 2.0, 100.0)


def change(**fields: object) -> Job:
    return msgspec.structs.replace(JOB, **fields)


def tell(node: str, quantity: str, value: str | float | None, subject: str = "job/train") -> Reading:
    unit = VOCABULARY[quantity].unit
    return msgspec.structs.replace(
        make_reading(subject, quantity, value, unit, 10.0, "" if value is not None else "not yet"), source=f"job@{node}"
    )


def look(*readings: Reading) -> View:
    store = History(dict(JOB_WATCHES))
    store.add(readings, fresh_for=30.0)
    return store.view(12.0, JOB_WATCHES)


def test_a_job_is_what_all_nodes_say_of_it() -> None:
    seen = look(
        tell("n0", "job.state", "running"),
        tell("n1", "job.state", "waiting"),
        tell("n0", "job.request", "asked"),
        tell("n0", "job.save_time", 4.0),
        tell("n1", "job.save_time", 6.0),
        tell("n0", "job.durable_age", 90.0),
        tell("n1", "job.durable_age", 80.0),
        tell("n1", "job.step_time", None),
        tell("n1", "job.state", "running", "job/train/rank3"),
    )
    assert list_jobs(seen) == [Job("job/train", frozenset({"running", "waiting"}), frozenset({"asked"}), 6.0, None, 80.0)]


def test_sources_are_asked_all_and_what_is_not_told_has_a_reason() -> None:
    seen = look(tell("n0", "job.save_time", 4.0), tell("n1", "job.save_time", 6.0), tell("n0", "job.step_time", None))
    assert list_numbers(seen, "job.save_time", "job/train") == [4.0, 6.0]
    assert (find_least(seen, "job.save_time", "job/train"), find_most(seen, "job.save_time", "job/train")) == (4.0, 6.0)
    assert (find_least(seen, "job.step_time", "job/train"), find_most(seen, "job.step_time", "job/none")) == (None, None)
    assert list_words(seen, "job.state", "job/train") == frozenset()
    assert (is_read(seen, "job.step_time", "job/train"), is_read(seen, "job.state", "job/train")) == (True, False)
    assert say_why(seen, "job.step_time", "job/train") == "job.step_time of job/train: not yet"
    assert say_why(seen, "job.state", "job/train") == "job.state of job/train: never read"


@pytest.mark.parametrize(
    ("states", "runs", "saveable", "stopped"),
    [
        ({"running"}, True, True, False),
        ({"running", "absent"}, True, True, False),
        ({"running", "silent"}, True, False, False),
        ({"aborted", "running"}, True, False, False),
        ({"stopping"}, True, False, False),
        ({"stopped", "absent"}, False, False, True),
        (set(), False, False, False),
    ],
)
def test_what_can_be_had_of_a_job(states: set[str], *, runs: bool, saveable: bool, stopped: bool) -> None:
    job = change(states=frozenset(states))
    assert (job.runs, job.saveable, job.stopped) == (runs, saveable, stopped)


@pytest.mark.parametrize(
    ("requests", "asked", "withdrawable"),
    [
        ({"none"}, False, False),
        ({"asked", "none"}, True, True),
        ({"asked", "agreed"}, True, False),
        ({"durable"}, False, False),
        (set(), False, False),
    ],
)
def test_a_request_can_be_withdrawn_until_any_rank_has_agreed(requests: set[str], *, asked: bool, withdrawable: bool) -> None:
    job = change(requests=frozenset(requests))
    assert (job.is_asked, job.can_withdraw) == (asked, withdrawable)


def test_times_are_as_last_seen_else_as_told() -> None:
    assert JOB.time_save(9.0, 9.0, 1.5) == 9.0
    assert change(step_s=None, save_s=None).time_save(1.0, 2.0, 2.0) == 6.0
    assert (JOB.is_saved_since(899.0, 1_000.0), JOB.is_saved_since(900.0, 1_000.0)) == (True, False)
    assert not change(durable_age=None).is_saved_since(0.0, 1_000.0)


def test_a_save_is_asked_of_who_can_give_one_or_was_asked_before() -> None:
    silent, known = change(subject="job/b", states=frozenset({"silent"})), change(subject="job/c", states=frozenset({"silent"}))
    limits = {job.subject: (30.0, "the reserve lasts") for job in (JOB, silent, known)}
    steps = list(ask_to_save([JOB, silent, known], "2-save-", "mains are gone", limits, {"job/c"}))
    assert [(step.name, step.kind, step.amount, step.patience) for step in steps] == [
        ("2-save-job/train", "job.checkpoint", 30.0, 30.0),
        ("2-save-job/c", "job.checkpoint", 30.0, 30.0),
    ]
    assert steps[0].details == {"deadline": "the reserve lasts", "save_time": "4.0 s", "step_time": "2.0 s"}
    assert "job/b, job/c" in say_silent([JOB, silent, known])
    assert say_silent([JOB]) == ""


def test_a_stop_has_its_hard_limit() -> None:
    ended = change(subject="job/b", states=frozenset({"stopped"}))
    (step,) = ask_to_stop([JOB, ended], "1-stop-", "too hot", {"job/train": (9.0, 24.0), "job/b": (1.0, 2.0)})
    assert (step.name, step.kind, step.amount, step.patience, step.details) == (
        "1-stop-job/train",
        "job.stop",
        9.0,
        24.0,
        {"hard_s": "24.0"},
    )


@given(seconds=st.floats(0.0, 1e6))
def test_no_patience_is_shorter_than_half_a_second(seconds: float) -> None:
    (step,) = ask_to_save([JOB], "", "", {"job/train": (seconds, "")})
    assert step.patience is not None
    assert step.patience >= max(seconds, 0.5)
    assert step.details == {}

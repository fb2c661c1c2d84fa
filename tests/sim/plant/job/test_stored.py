"""Where checkpoints are files, a job comes back to what lies on the tiers."""

from __future__ import annotations

import pytest

from sim_hardware.plant.job import State, apply, sense, sensors, start, update
from sim_hardware.plant.job.orders import NoteStored, RequestCheckpoint, ResumeJob, StopJob
from sim_hardware.plant.words import OrderError
from sim_hardware.rack import load_rack

JOB = "train"


def run(state: State, seconds: float) -> State:
    """With all that happened meanwhile."""
    return update(state, state.at + seconds, state.inputs)


def saved_and_stopped(shared: int, durable: int) -> State:
    """Step 2 was saved, by what its ranks know."""
    state = start(load_rack("vault-2x4"), 1)
    state = run(apply(run(state, 2.5), RequestCheckpoint(JOB)), 8.0)
    assert state.committed_step == 2
    state = apply(state, NoteStored(JOB, shared=shared, durable=durable))
    return apply(state, StopJob(JOB))


@pytest.mark.parametrize(
    ("shared", "durable", "step", "tier", "lost", "seconds"),
    [
        (2, 0, 2, "shared", 0, 3.0),
        (2, 2, 2, "shared", 0, 3.0),
        (0, 2, 2, "durable", 0, 30.0),
        (0, 1, 1, "durable", 1, 30.0),
        (0, 0, 0, "shared", 2, 3.0),
    ],
)
def test_it_comes_back_to_what_is_there(shared: int, durable: int, step: int, tier: str, lost: int, seconds: float) -> None:
    state = apply(saved_and_stopped(shared, durable), ResumeJob(JOB))
    assert (state.step, state.committed_step, sense(state, f"job/{JOB}", "job.restored_from")) == (step, step, tier)
    assert [one.value for one in state.happened if one.kind == "checkpoint.lost"] == ([float(lost)] if lost else [])
    assert state.takes_s == pytest.approx(seconds)


def test_ranks_say_from_which_step_and_tier_and_cannot_invent_one() -> None:
    stopped = saved_and_stopped(2, 1)
    state = apply(stopped, ResumeJob(JOB, 1, "durable"))
    assert (state.step, state.restored_from) == (1, "durable")
    with pytest.raises(OrderError, match="step 7 is on no tier; the newest is step 2"):
        apply(stopped, ResumeJob(JOB, 7, "shared"))


def test_what_becomes_durable_goes_or_is_published_happens() -> None:
    state = start(load_rack("vault-2x4"), 1)
    assert sense(state, f"job/{JOB}", "job.durable_step") == 0.0
    found = []
    for note in (NoteStored(JOB, 4, 0), NoteStored(JOB, 4, 4), NoteStored(JOB, 4, 4, published="a"), NoteStored(JOB, 4, 2, 1, 3, "a")):
        state = apply(state, note)
        found.append([(one.kind, one.value) for one in state.happened])
    assert found == [[], [("checkpoint.durable", 4.0)], [("snapshot.published", None)], [("checkpoint.gone", 2.0)]]
    shown = {name: sense(state, f"job/{JOB}", f"job.{name}") for name in ("shared_step", "durable_step", "unfinished_steps", "drafts")}
    assert shown == {"shared_step": 4.0, "durable_step": 2.0, "unfinished_steps": 1.0, "drafts": 3.0}


@pytest.mark.parametrize("rack", ["rack-2x4", "vault-2x4"])
def test_where_they_are_no_files_or_nobody_has_looked_what_was_saved_is_durable(rack: str) -> None:
    state = start(load_rack(rack), 1)
    state = run(apply(run(state, 2.5), RequestCheckpoint(JOB)), 8.0)
    state = apply(apply(state, StopJob(JOB)), ResumeJob(JOB))
    assert state.step == 2
    assert state.takes_s == pytest.approx(3.0)
    assert ("job.drafts" in {sensor.quantity for sensor in sensors(state)}) is (rack == "vault-2x4")

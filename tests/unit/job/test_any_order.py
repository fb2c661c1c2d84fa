from __future__ import annotations

import contextlib

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import WireError
from supernoded.job.protocol import (
    Acted,
    Agreed,
    Beat,
    Bye,
    Durable,
    Order,
    Phase,
    Saved,
    SaveFailed,
    Saving,
)
from supernoded.job.reading import read_job, read_ranks
from supernoded.job.training import Kept
from supernoded.model import State
from supernoded.quantities import find_fault
from tests.unit.job.daemon import Side

WITHIN = 10.0, 20.0


STEPS = st.integers(-1, 4)
SAID = st.one_of(
    st.builds(Beat, step=STEPS),
    st.builds(Phase, name=st.sampled_from(["", "evaluation"]), expect_s=st.floats(0.0, 1e11)),
    st.builds(Agreed, request=st.sampled_from(["", "one", "two"]), step=STEPS, number=st.integers(0, 4)),
    st.builds(Saving, step=STEPS),
    st.builds(Saved, step=STEPS, size=st.just(1), seconds=st.floats(0.0, 1e6)),
    st.builds(SaveFailed, step=STEPS, why=st.just("full")),
    st.builds(Bye, step=STEPS),
    st.builds(Durable, step=STEPS, tier=st.just("durable"), where=st.just("/"), taken=st.floats(1.7e9, 1.9e9), seconds=st.floats(0.0, 1e6)),
    st.builds(Acted, order=st.sampled_from(["one", "other"])),
)
DEEDS = st.one_of(
    st.tuples(st.integers(0, 3), SAID),
    st.tuples(st.integers(0, 3), st.sampled_from(["hang up", "dial", "ask", "withdraw", "order", "wait"])),
)


@given(st.lists(DEEDS, max_size=60))
def test_whatever_is_said_in_whatever_order_the_readings_can_be_believed(deeds: list[tuple[int, object]]) -> None:
    side = Side()
    callers = [side.start_rank(0), side.start_rank(1), side.start_other("vault"), side.start_other("launcher")]
    for who, deed in deeds:
        if not isinstance(deed, str):
            callers[who].peer.data_received(msgspec.json.encode(deed) + b"\n")
            continue
        with contextlib.suppress(WireError):
            if deed == "hang up":
                callers[who].hang_up()
            elif deed == "dial":
                callers[who] = side.start_rank(who) if who < 2 else side.start_other("vault" if who == 2 else "launcher")
            elif deed == "ask":
                side.server.ask("train", f"r{who}", "stop" if who == 0 else "checkpoint", "sag", WITHIN)
            elif deed == "withdraw":
                side.server.withdraw("train", f"r{who}")
            elif deed == "order":
                side.server.order("train", Order(id="one", kind="abort"))
            else:
                side.clock._now += 4.0
                side.server.pass_time()
    job, now = side.server.find("train"), side.clock.now()
    readings = [*read_job(job, now, side.clock.wall(), 15.0), *read_ranks(job, now, 15.0)]
    assert [
        find_fault(reading) for reading in readings if reading.state is State.GOOD and reading.value is not None and find_fault(reading)
    ] == []
    assert msgspec.json.decode(msgspec.json.encode(job.kept), type=Kept) == job.kept
    for one in job.kept.requests:
        assert (one.step >= 0) == (one.stage in {"agreed", "saving", "saved", "durable"}) or one.stage in {"late", "failed"}

"""Whatever a scenario says: where nothing was tested nothing passes, and what was done is undone."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.chaos.execute import AS_WRITTEN, Variant
from supernoded.chaos.report import Ruling, Undo
from tests.unit.chaos.toy import Toy
from tests.unit.chaos.writing import play

SECONDS = st.integers(1, 40)
CONDITIONS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"told": "cooling.lost"},
        {"told": "*", "raised": False},
        {"happened": "pump.stopped"},
        {"happened": "job.*", "not": True},
        {"truth": "coolant.flow", "on": "cdu/0", "above": 60},
        {"truth": "air.temperature", "on": "n?", "below": 65, "match": "any"},
        {"truth": "cdu.status", "on": "cdu/0", "has": "OK", "for": "2s"},
        {"known": "cool"},
    ]
)
WINDOWS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"never": True}, {"always": True}, {"at_end": True}, {"count": {"max": 2}}, {"within": "9s"}, {"of": "pump.stop"}]
)
SHAPES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"shape": {"pulse": {"on": 3, "off": 2}}}, {"shape": {"ramp": {"parameter": "share", "from": 0.2, "to": 1, "steps": 4}}}]
)
STARTS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(lambda at: {"at": at}, SECONDS), st.builds(lambda cue, within: {"after": cue, "within": within}, CONDITIONS, SECONDS)
)


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    moves = [{"at": draw(SECONDS), **draw(SHAPES)}, *draw(st.lists(STARTS, max_size=2))]
    timeline = [
        {"fault": "pump.stop", "on": draw(st.sampled_from(["pumps", "cdu/0/pump0"])), "for": draw(SECONDS), **move} for move in moves
    ]
    expect = [
        {"name": f"e{n}", **condition, **draw(WINDOWS)} for n, condition in enumerate(draw(st.lists(CONDITIONS, min_size=1, max_size=4)))
    ]
    return {"timeline": timeline, "expect": expect, "lasts": draw(SECONDS)}


@given(scenarios())
@settings(max_examples=20)
def test_nothing_passes_without_physics_and_everything_is_undone(changes: dict[str, Any]) -> None:
    assert play(changes, Variant(physics=False)).verdict is Ruling.INCONCLUSIVE
    toy = Toy()
    report = play(changes, AS_WRITTEN, toy)
    injected = [fault for fault in report.faults if fault.inject is not None]
    assert report.undo is (Undo.VERIFIED if injected else Undo.NOTHING)
    assert toy.stages[0].faults == {}
    assert report == play(changes)
    for fault in report.faults:
        times = [at for at in (fault.inject, fault.manifest, fault.undo) if at is not None]
        assert times == sorted(times)

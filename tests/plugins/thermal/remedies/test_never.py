"""What no remedy ever orders, whatever is read and whatever comes of its steps."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.model import Result, Severity, Step
from supernoded.parts import Remedy
from supernoded_thermal.remedies import make_remedies
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, NAMES, Change, make_node
from tests.plugins.thermal.remedies.trouble import JOB, Trouble

KINDS = sorted(remedy.answers for remedy in make_remedies(ThermalSettings(), make_node()))
SUBJECTS = st.sampled_from([CDU, *NAMES, "n1/card0", "n2/fan3", "site", "cdu/9", "n9"])
MEMBERS = st.lists(st.sampled_from([CDU, *NAMES, "n1/card0"]), max_size=3, unique=True).map(tuple)
CELSIUS = st.one_of(st.none(), st.floats(-50, 200), st.sampled_from([55.0, 87.0, 96.0, 101.0]))
STATES = st.sampled_from([None, "running", "silent", "stopped", "saving", "absent"])
PROTECTIVE = {
    "coolant.flow",
    "coolant.close",
    "fan.full",
    "fan.auto",
    "power.cap",
    "power.off",
    "job.checkpoint",
    "job.withdraw",
    "job.stop",
    "notify",
}


@st.composite
def looks(draw: st.DrawFn) -> dict[tuple[str, str], Change]:
    found: dict[tuple[str, str], Change] = {(f"{name}/card{n}", "card.temperature"): draw(CELSIUS) for name in NAMES for n in (0, 1)}
    found[JOB, "job.state"] = draw(STATES)
    found[JOB, "job.request"] = draw(st.sampled_from([None, "asked", "agreed", "failed"]))
    found[CDU, "coolant.pressure_difference"] = draw(st.one_of(st.none(), st.floats(-100, 500)))
    found[CDU, "coolant.leak"] = draw(st.sampled_from([None, 0.0, 1.0]))
    return found


def concerns(subject: str, members: tuple[str, ...]) -> set[str]:
    subjects = members or (subject,)
    return set(NAMES) if CDU in subjects else {one.partition("/")[0] for one in subjects} & set(NAMES)


OWNERS = {f"pdu/{feed}1/outlet{number}": name for feed in "AB" for number, name in [*enumerate(NAMES, 1), (5, "n1")]}


def check(step: Step, ordered: list[Step], saveable: bool, nodes: set[str], kind: str) -> None:
    assert step.kind in PROTECTIVE
    assert step.reason
    if step.kind in {"power.off", "coolant.close", "power.cap", "fan.full"}:
        assert OWNERS.get(step.target, step.target) in nodes
    if step.kind == "power.off":
        assert kind in {"coolant.leak", "heat", "coolant.flow", "coolant.pump", "coolant.primary", "coolant.capacity"}
    if step.kind == "job.stop" and saveable:
        assert any(one.kind == "job.checkpoint" for one in ordered)
    if step.kind == "coolant.close":
        assert any(one.kind == "power.off" and one.details["node"] == step.target for one in ordered)
    if step.kind == "coolant.flow" and step.amount is not None:
        assert step.amount > 0.0


@settings(max_examples=120)
@given(st.data())
def test_nothing_that_safety_forbids(data: st.DataObject) -> None:
    kind, subject, members = data.draw(st.sampled_from(KINDS)), data.draw(SUBJECTS), data.draw(MEMBERS)
    trouble = Trouble(kind, subject, members=members, severity=data.draw(st.sampled_from(Severity)))
    nodes, ordered = concerns(subject, members), list[Step]()
    for _ in range(data.draw(st.integers(1, 12))):
        seen = data.draw(looks())
        trouble.see(seen)
        steps = trouble.ask()
        for step in steps:
            check(step, ordered, seen[JOB, "job.state"] in {"running", "saving"}, nodes, kind)
        ordered += steps
        for step in steps:
            result = data.draw(st.sampled_from([*Result, None]))
            if result is None:
                trouble.running.add(step.name)
            else:
                trouble.end([step], result)
        trouble.now += data.draw(st.sampled_from([0.0, 1.0, 6.0, 40.0]))
        trouble.raised = data.draw(st.sampled_from([True, True, True, False]))


def test_each_remedy_follows_the_protocol() -> None:
    remedies: list[Remedy] = list(make_remedies(ThermalSettings(), make_node()))
    assert all(getattr(remedy, "watches", {}) for remedy in remedies)

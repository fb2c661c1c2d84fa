"""The plugin as a whole: what it hands in, what it says of recordings, and that nothing breaks it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import supernoded_power
from supernoded.model import NODE, Level, Reading, State
from supernoded.quantities import VOCABULARY
from supernoded.testing import judge
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import POWER, START, Bench, find_rule, job, make_node, read, ups, view

SETTINGS = PowerSettings()
RULES = supernoded_power.supernoded_rules(SETTINGS, make_node(Path()))


def test_each_kind_has_its_rule_and_its_remedy() -> None:
    kinds = [rule.kind for rule in RULES]
    remedies = [remedy.answers for remedy in supernoded_power.supernoded_remedies(SETTINGS, make_node(Path()))]
    assert len(set(kinds)) == len(kinds) == 16
    assert sorted(kinds) == sorted(remedies)
    assert {rule.kind: rule.scope for rule in RULES} == {**dict.fromkeys(kinds, POWER), "psu.lost": NODE}
    others = supernoded_power.supernoded_rules(PowerSettings(site="hall2"), make_node(Path()))
    assert {rule.scope for rule in others} == {"power/hall2", NODE}


def test_all_that_is_watched_is_in_the_vocabulary() -> None:
    node = make_node(Path())
    parts = [
        *RULES,
        *supernoded_power.supernoded_loops(SETTINGS, node),
        *supernoded_power.supernoded_diagnoses(SETTINGS, node),
        *supernoded_power.supernoded_remedies(SETTINGS, node),
    ]
    watched = {quantity for part in parts for quantity in getattr(part, "watches", {})}
    assert len(watched) > 40
    assert watched <= set(VOCABULARY)


def test_what_people_work_on_is_theirs() -> None:
    readings = [*ups("A", "ol bypass"), *ups("B", "ol bypass")]
    verdicts = Bench(find_rule("power.no_ride_through", maintenance=("ups/A",))).tell(readings)
    assert {subject: verdict.level for subject, verdict in verdicts.items()} == {"ups/A": Level.UNSURE, "ups/B": Level.RAISED}


@pytest.mark.parametrize(
    ("readings", "name", "subject"),
    [
        ([*ups("A", "ob", 0.0), *ups("B", "ob", 0.0)], "mains lost on every feed", "feed/A"),
        ([*ups("A", "ob", 0.0), *ups("B", "ol")], "one feed lost", "feed/A"),
        ([*ups("A", "ol", pdu=0.0), *ups("B", "ol")], "views contradict each other", "ups/A"),
        ([*ups("A", None, None), *ups("B", "ol")], "nothing is heard of it", "ups/A"),
        ([*ups("A", "ol eco"), *ups("B", "ol")], "no ride-through", "ups/A"),
        ([*ups("A", "ol", load=120.0), *ups("B", "ol")], "overload", "ups/A"),
        ([*ups("A", "ol", battery_health=60.0), *ups("B", "ol")], "old battery", "ups/A"),
        ([*ups("A", "ol"), read("ups/A", "ups.test_result", "failed")], "bad battery", "ups/A"),
    ],
)
@pytest.mark.parametrize("asked", ["ups/A", "feed/A", "pdu/A1/outlet3", POWER])
def test_why(readings: list[Reading], name: str, subject: str, asked: str) -> None:
    (diagnosis,) = supernoded_power.supernoded_diagnoses(SETTINGS, make_node(Path()))
    causes = diagnosis.diagnose(view(diagnosis.watches, readings), asked)
    assert (causes[0].name, causes[0].subject) == (name, subject)
    assert causes[0].evidence
    assert causes[0].advice


def test_what_is_well_or_somebody_elses_has_no_cause() -> None:
    (diagnosis,) = supernoded_power.supernoded_diagnoses(SETTINGS, make_node(Path()))
    well = view(diagnosis.watches, [*ups("A", "ol"), *ups("B", "ob", 0.0)])
    assert not diagnosis.diagnose(well, "ups/A")
    assert not diagnosis.diagnose(well, "n0/card0")


QUANTITIES = sorted({quantity for rule in RULES for quantity in rule.watches})
SUBJECTS = ["ups/A", "ups/B", "pdu/A1", "pdu/A1/outlet1", "cdu/0", "job/train", "n0", "n0/card0", "n0/psu0", "n0/psu1"]
VALUES = st.one_of(
    st.none(),
    st.floats(allow_nan=True),
    st.text(max_size=5),
    st.frozensets(st.sampled_from(["ol", "ob", "cal", "", "OL", "x"])),
    st.sampled_from(["fired", "running", "on", "low", "lost"]),
)


@st.composite
def anything(draw: st.DrawFn) -> Reading:
    value = draw(VALUES)
    return Reading(
        subject=draw(st.sampled_from(SUBJECTS)),
        quantity=draw(st.sampled_from(QUANTITIES)),
        value=value,
        unit=draw(st.sampled_from(["V", "%", "1", "flags", "text", "s"])),
        at=START + draw(st.floats(0, 100)),
        state=State.UNKNOWN if value is None else State.GOOD,
        source=draw(st.sampled_from(["a", "b"])),
    )


@settings(max_examples=60)
@given(st.lists(anything(), max_size=30))
def test_no_reading_breaks_a_rule(readings: list[Reading]) -> None:
    for rule in RULES:
        watched = [one for one in readings if one.quantity in rule.watches]
        assert all(verdict.kind == rule.kind for verdict in judge(rule, watched))


def test_no_recorded_status_is_an_outage() -> None:
    """Every recorded UPS was on mains, or says nothing: none of them is an outage, a lost feed or a low reserve."""
    folder = os.environ.get("SUPERNODED_FIXTURES")
    if not folder:
        pytest.skip("SUPERNODED_FIXTURES does not name the folder of recordings by other people")
    files = sorted(Path(folder, "nut-ddl").glob("*.dev"))
    assert files
    for file in files:
        said = dict(
            line.split(":", 1) for line in file.read_text(errors="replace").splitlines() if ":" in line and not line.startswith("#")
        )
        status = said.get("ups.status", "").split("#")[0].strip()
        readings = [*ups("A", status.lower(), None), *ups("B", status.lower(), None), *job()]
        for kind in ("power.outage", "power.feed_lost", "power.reserve"):
            verdicts = Bench(find_rule(kind)).tell(readings)
            assert all(verdict.level is not Level.RAISED for verdict in verdicts.values()), (file.name, kind)

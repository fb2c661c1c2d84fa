"""What is wrong with a scenario is said before it runs: where, the value, the limit, what to do."""

from __future__ import annotations

from typing import Any

import pytest

from supernoded.chaos.reading import parse_scenario
from tests.unit.chaos.writing import BASE, problems, write

MOVE = {"at": 0, "fault": "pump.stop", "on": "cdu/0/pump0", "for": 5}
EXPECT = {"name": "x", "told": "cooling.lost", "on": "cdu/0"}


def move(**changes: Any) -> dict[str, Any]:
    """The timeline with one fault, changed."""
    return {"timeline": [{**MOVE, **{key.rstrip("_"): value for key, value in changes.items()}}], "expect": [EXPECT]}


def expect(**changes: Any) -> dict[str, Any]:
    """One expectation, changed; a None takes a key away."""
    table = {**EXPECT, **{key.rstrip("_"): value for key, value in changes.items()}}
    return {"expect": [{key: value for key, value in table.items() if value is not None}]}


def truth(**changes: Any) -> dict[str, Any]:
    """One expectation of the truth."""
    return expect(told=None, truth="coolant.flow", **changes)


def test_the_base_is_right() -> None:
    assert problems(BASE) == []


CASES: list[tuple[dict[str, Any], str]] = [
    # keys and types
    ({"expects": []}, "expects: [...]: no such key; did you mean expect?"),
    ({"kind": "Test"}, 'kind: "Test": must be one of Scenario'),
    ({"apiVersion": "v0"}, 'apiVersion: "v0": must be one of supernode.chaos/v1'),
    ({"metadata": {"name": "both-pumps", "why": "x"}}, "metadata.owner: is missing; add owner: a text"),
    ({"metadata": {"name": "Both Pumps", "why": "x", "owner": "y"}}, 'metadata.name: "Both Pumps": must be'),
    ({"metadata": {"name": "other", "why": "x", "owner": "y"}}, 'metadata.name: "other": is not the file\'s name, both-pumps'),
    ({"sample": 0}, "sample: 0: must be a number from 0.01 to 60 s"),
    ({"lasts": "soon"}, 'lasts: "soon": is no duration'),
    ({"expect": [], "steady_state": {}}, "nothing is expected"),
    ({"timeline": []}, "no fault and no length"),
    ({"drives": {"bench": {}}, "targets": {}} | move(), ""),
    # timeline
    (move(fault="pump.stopp"), 'timeline[0].fault: "pump.stopp": toy has no such fault; did you mean pump.stop?'),
    (move(fault="card.melted", on="n0/card0"), 'timeline[0].fault: "card.melted": cannot be made on toy'),
    (move(fault="pump.broken"), 'timeline[0].undo: "auto": pump.broken cannot be undone by lifting it; write undo: none'),
    (move(undo="none"), 'timeline[0].undo: "none": pump.stop is undone by lifting it; write undo: auto'),
    (move(with_={"shares": 1}), "timeline[0].with.shares: 1: no such key; did you mean share?"),
    (move(with_={"share": 3}), "timeline[0].with.share: 3: must be a number from 0 to 1"),
    (move(with_={"coast": "1h"}), "timeline[0].with.coast: 3600.0: must be a number from 0 to 10 s"),
    (move(with_={"coast": "5 parsec"}), 'timeline[0].with.coast: "5 parsec": is no duration'),
    (move(on="n0"), 'timeline[0].on: "n0": pump.stop befalls pump, and n0 is node'),
    (move(on="cdu/0/pump7"), 'timeline[0].on: "cdu/0/pump7": is no subject of toy and no target; did you mean cdu/0/pump'),
    (move(for_="1h"), 'timeline[0].for: "3600 s": is longer than limits.max_duration, 900 s'),
    (move(at=None), "starts either `at` a time or `after` something"),
    (move(within=5), "`after` and `within` go together"),
    (move(shape={"pulse": {"on": 1, "off": 1}, "ramp": {"parameter": "share", "from": 0, "to": 1}}), "cannot be a pulse and a ramp"),
    (
        move(shape={"ramp": {"parameter": "shar", "from": 0, "to": 1}}),
        'ramp.parameter: "shar": pump.stop has no such parameter; did you mean',
    ),
    (
        move(shape={"ramp": {"parameter": "share", "from": 0, "to": 2}}),
        "timeline[0].shape.ramp.to.share: 2.0: must be a number from 0 to 1",
    ),
    (move(shape="steep"), 'timeline[0].shape.name: "steep": must be one of step'),
    (move(at=None, after="pumps_runing", within=3), 'after.known: "pumps_runing": no condition has this name; did you mean pumps_running?'),
    # conditions
    (expect(happened="x"), "is one of told, happened, truth, known; given is told and happened"),
    (expect(told=None), "given is nothing"),
    (expect(above=3), "has one test for a `truth`, and none for anything else; given is above; leave out above"),
    (truth(), "has one test for a `truth`, and none for anything else; given is nothing; use one of above"),
    (truth(above=1, below=2), "given is above and below"),
    (truth(above="high"), 'expect[0].above: "high": must be a number'),
    (truth(between=[3, 1]), "expect[0].between: [...]: begins above its end"),
    (truth(between=[3]), "expect[0].between"),
    (truth(above=0, unit="m3/h"), 'expect[0].unit: "m3/h": coolant.flow is in L/min; write it in L/min'),
    (truth(above=0, on="n0"), 'expect[0].truth: "coolant.flow": n0 has no such quantity; quantities here: air.temperature'),
    (truth(equals="full"), "coolant.flow is a number in L/min; write a number"),
    (truth(has="OK"), "coolant.flow has no flags"),
    (expect(told=None, truth="pump.state", on="cdu/0/pump*", above=1), "pump.state is no number but text; use `equals` or `one_of`"),
    (expect(told=None, truth="pump.state", on="cdu/0/pump*", equals=1), "pump.state is a text; put the value in quotes"),
    (expect(told=None, truth="coolant.flo", above=1), "nothing in toy has this quantity; did you mean coolant.flow?"),
    (
        expect(told=None, happened="pump.stoped"),
        'expect[0].happened: "pump.stoped": nothing of this kind happens here; did you mean pump.stopped?',
    ),
    (expect(told=None, happened="pump.stopped", on="cdu/9"), "is no subject"),
    (expect(told=None, happened="pump.stopped", on="cdv/*"), "is no subject"),
    (
        expect(told=None, happened="pump.stopped", on="n0", never=True),
        'expect[0].on: "n0": pump.stopped cannot happen there; it befalls a pump',
    ),
    (expect(told=None, happened="pump.*", on="cdu/0/*"), ""),
    (expect(told="coolin.lost"), 'expect[0].told: "coolin.lost": no daemon tells of this kind; did you mean cooling.lost?'),
    (expect(on="pumpz"), 'expect[0].on: "pumpz": is no subject of toy and no target; did you mean pump?'),
    (expect(on="n0/nic/mlx5_0"), ""),
    (expect(on="pumps/fan*"), ""),
    (expect(told=None, known="cool", not_=True, on=None), "stands for 2 conditions"),
    # windows and names
    (expect(never=True, always=True), "is judged in one way; given is never and always"),
    (expect(of="pump.stop", after="x"), "begins at one moment"),
    (expect(after="x"), "waits for itself"),
    (expect(before="y"), 'expect[0].before: "y": no expectation has this name; name one of x'),
    (expect(never=True, before="x"), "only what happens has an order"),
    (expect(of="pump.start"), 'expect[0].of: "pump.start": no fault of the timeline has this name; did you mean pump.stop?'),
    (expect(count={"min": 3, "max": 1}), "expect[0].count.max: 1: is below min, 3"),
    ({"expect": [EXPECT, dict(EXPECT)]}, 'expect[1].name: "x": this name stands here twice'),
    ({"expect": [{**EXPECT, "after": "y"}, {**EXPECT, "name": "y", "after": "x"}]}, "waits for itself"),
    # site, targets, policies
    ({"topology": {"fixture": "toi"}}, 'topology.fixture: "toi": there is no such rack; did you mean toy?'),
    ({"targets": {"pumps": {"select": "pumpe"}}}, 'targets.pumps.select: "pumpe": toy has no such family; did you mean pump?'),
    ({"targets": {"pumps": {"select": "pump", "pick": 3}}}, "2 subjects of toy fit, 3 are wanted"),
    (
        {"targets": {"pumps": {"select": "card", "where": {"slott": 0}}}},
        "targets.pumps.where.slott: 0: none of these has such an attribute",
    ),
    ({"targets": {"pumps": {"select": "pump", "not": "pumpz"}}}, "no target has this name; did you mean pumps?"),
    ({"targets": {"pumps": {"select": "pump", "not": "b"}, "b": {"select": "pump", "not": "pumps"}}}, "exclude each other in a circle"),
    ({"targets": {"pumps": {}}}, "a target is either `subject` or `select`"),
    ({"targets": {"n0": "n1", "pumps": {"select": "pump"}}}, 'targets.n0: "n0": is the name of a subject or a family too'),
    (
        {"limits": {"keep": ["n_plus_1_pumps"]}},
        "n_plus_1_pumps, pumps of cdu/0: cdu/0/pump0, cdu/0/pump1 out at once, 0 left, at least 1 needed",
    ),
    ({"limits": {"keep": ["n_plus_2"]}}, 'limits.keep[0]: "n_plus_2": the rack has no such redundancy; did you mean'),
    ({"limits": {"exclude": ["cdu/0/*"]}}, "0 subjects of toy fit"),
    ({"stubs": ["do-nothin"]}, 'stubs[0]: "do-nothin": toy has no such policy; did you mean do-nothing?'),
    ({"remedy": {}}, "names no remedy"),
    ({"remedy": {"stand_in": "col"}}, 'remedy.stand_in: "col": toy has no such policy; did you mean cool?'),
    ({"remedy": {"plugins": ["fabrik"]}}, 'remedy.plugins[0]: "fabrik": no such plugin is installed; did you mean fabric?'),
    ({"remedy": {"plugins": ["fabric"], "settings": "a = ="}}, "remedy.settings: is not TOML"),
    ({"remedy": {"plugins": ["fabric"], "settings": {"a": None}}}, "remedy.settings: is not TOML"),
    (move(with_={"coast": "5s", "share": 0.5}), ""),
    (move(with_={"coast": "5s"}, shape={"ramp": {"parameter": "share", "from": 0, "to": 1}}), ""),
]


@pytest.mark.parametrize(("changes", "says"), CASES)
def test_each_flaw_is_named(changes: dict[str, Any], says: str) -> None:
    found = problems(write(changes))
    assert any(says in one for one in found) if says else found == [], found
    assert all(one.startswith("both-pumps.yaml") for one in found)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"max_nodes": 1}, "limits.max_nodes: 1: 2 nodes are hit: n0, n1; pick fewer"),
        ({"max_percent": 60}, "limits.max_percent: 60.0: 100 % of 2 nodes are hit; pick fewer"),
        ({"max_nodes": 2, "max_percent": 100}, ""),
    ],
)
def test_nodes_are_limited_by_number_and_share(limits: dict[str, Any], says: str) -> None:
    found = problems(write({**move(fault="card.warm", on="n?/card0"), "limits": limits}))
    assert any(says in one for one in found) if says else found == [], found


def test_problems_of_every_part_come_together() -> None:
    changes = {**move(fault="pump.stopp", on="cdu/0/pump7"), "stubs": ["x"], "expect": [{**EXPECT, "of": "y"}]}
    assert len(problems(write(changes))) == 4


def test_places_are_those_of_the_file() -> None:
    text = BASE.replace("share: 0.5", "share: 5")
    line = 1 + BASE[: BASE.index("with: {share")].count("\n")
    [found] = problems(text)
    place = f"both-pumps.yaml:{line}:12: timeline[0].with.share: 5"
    assert found == f"{place}: must be a number from 0 to 1; correct it, or leave it out for the default 1.0"


def test_a_flaw_in_the_grammar_comes_before_the_drive_is_asked() -> None:
    document, scenario = parse_scenario("f.yaml", BASE.replace("owner: tests", "owner: ''"))
    assert scenario is None
    assert "metadata.owner" in str(document.problems[0])

"""Heat is blamed first for what comes after it, and for nothing else."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

import supernoded_network
from supernoded.model import NODE, Cause, Reading
from supernoded.plugin import Node
from supernoded.topology import Topology
from supernoded_network.settings import NetworkSettings
from supernoded_thermal.node import make_diagnoses, make_loops, make_rules
from supernoded_thermal.node.blame import HeatDiagnosis
from supernoded_thermal.node.loop import FanLoop
from supernoded_thermal.node.settings import NodeSettings
from tests.plugins.thermal.node.room import read, see, series

CARDS = tuple(f"n0/card{slot}" for slot in range(4))
BLAME = HeatDiagnosis(NODE, {"n0": CARDS}, NodeSettings())


def explain(readings: list[Reading], subject: str = "n0", now: float = 120.0) -> list[Cause]:
    return list(BLAME.diagnose(see(readings, now, dict(BLAME.watches)), subject))


def card(*celsius: float, name: str = "n0/card3") -> list[Reading]:
    return series(name, "card.temperature", celsius, 10.0)


def time_outs(first: float) -> list[Reading]:
    return [read("n0", "comm.timeouts", float(at >= first) * 3.0, float(at)) for at in range(0, 121, 5)]


HOT = card(*[60.0] * 4, *[93.0] * 9)  # since 40 s


def test_time_outs_after_heat_are_its() -> None:
    (cause,) = explain([*HOT, *card(*[58.0] * 13, name="n0/card1"), *time_outs(60.0)])
    assert (cause.name, cause.subject, cause.weight) == ("a hot card", "n0/card3", 0.85)
    assert cause.evidence == (
        "n0/card3 was at 93 C, 85 C is the limit, first seen so 80 s ago",
        "communication began to time out 20 s after",
    )
    assert cause.advice.startswith("Cool n0/card3 first")
    assert "leave links, optics and buffers as they are" in cause.advice


def test_heat_is_named_before_the_buffer(supernoded_node: Node) -> None:
    (network,) = supernoded_network.supernoded_diagnoses(NetworkSettings(), supernoded_node)
    readings = [*HOT, *time_outs(60.0)]
    others = network.diagnose(see(readings, 120.0, dict(network.watches)), "n0")
    assert [cause.name for cause in others] == ["communication buffer too small"]
    assert explain(readings)[0].weight > others[0].weight


def test_a_card_that_says_so_is_surest() -> None:
    throttled = series("n0/card3", "card.throttled", [0.0] * 4 + [1.0] * 3 + [0.0] * 6, 10.0)
    (cause,) = explain([*HOT, *throttled, *time_outs(60.0)])
    assert cause.weight == 0.95
    assert "n0/card3 says that it slows itself down, and was at 93 C" in cause.evidence[0]


def test_heat_that_came_after_the_time_outs_is_not_their_cause() -> None:
    (cause,) = explain([*HOT, *time_outs(5.0)])
    assert cause.weight == 0.3
    assert cause.against == ("communication timed out 35 s before it was hot",)
    assert explain([*HOT, *time_outs(30.0)])[0].weight == 0.85  # cards are read every ten seconds or so


@pytest.mark.parametrize(
    ("subject", "is_explained"),
    [
        ("n0", True),
        ("n0/card3", True),
        ("n0/card3/port0", True),
        ("n0/card1/port0", False),
        ("n0/card1", False),
        ("job/train/rank7", True),
        ("job/train", True),
        ("ring/backplane-n0", True),
        ("n1", False),
        ("switch/s0", False),
        ("n0/card30/port0", False),
    ],
)
def test_what_heat_can_explain(subject: str, is_explained: bool) -> None:
    assert bool(explain([*HOT, *time_outs(60.0)], subject)) == is_explained


def test_a_mad_sensor_is_blamed_for_nothing() -> None:
    mad = card(*[60.0] * 4, *[150.0] * 9)
    assert len(explain([*mad, *time_outs(60.0)])) == 1
    medians = series("n0/card3", "card.temperature.median", [55.0] * 13, 10.0)
    assert explain([*mad, *medians, *time_outs(60.0)]) == []
    powers = [one for name in CARDS for one in series(name, "card.power", [550.0] * 13, 10.0)]
    assert explain([*mad, *powers, *time_outs(60.0)]) == []


def test_the_hottest_comes_first_and_cool_cards_not_at_all() -> None:
    also = series("n0/card1", "card.throttled", [1.0] * 13, 10.0)
    assert [cause.subject for cause in explain([*HOT, *also, *time_outs(60.0)])] == ["n0/card1", "n0/card3"]
    assert explain([*card(*[70.0] * 13), *time_outs(60.0)]) == []
    assert explain([]) == []


SITE = {
    "nodes": [{"name": "n0", "cards": 4, "loop": "cdu0"}, {"name": "n1", "cards": 4, "loop": "cdu0"}, {"name": "n2", "cards": 2}],
    "loops": [{"name": "cdu0"}, {"name": "spare"}],
    "rings": [{"name": "all", "level": "cluster", "order": ["n0", "n1"]}],
}


@pytest.mark.parametrize(
    ("name", "scopes", "air"), [("n0", {"cdu/0"}, ()), ("n2", {"cdu/0", NODE}, ("n2/card0", "n2/card1")), ("n9", {"cdu/0", NODE}, ())]
)
def test_what_a_node_hands_in(supernoded_node: Node, name: str, scopes: set[str], air: tuple[str, ...]) -> None:
    node = replace(supernoded_node, name=name, topology=msgspec.convert(SITE, Topology))
    rules = make_rules(NodeSettings(), node, {})
    assert {rule.scope for rule in rules if rule.kind == "heat"} == scopes
    assert {rule.kind for rule in rules if rule.scope == NODE} >= {"fan.failed", "air.hot", "fan.control", "card.throttled", "heat.uneven"}
    assert len({(rule.kind, rule.scope) for rule in rules}) == len(rules)
    assert [one.scope for one in make_diagnoses(NodeSettings(), node)] == [NODE, "ring/all"]
    assert make_loops(NodeSettings(), node) == ()
    (loop,) = make_loops(NodeSettings(fans="loop"), node)
    assert isinstance(loop, FanLoop)
    assert (loop.scope, loop.target, loop.period, loop._cards) == (NODE, f"{name}/fans", 2.0, air)

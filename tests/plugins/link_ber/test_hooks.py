"""What the plugin hands in: one rule and one remedy per kind, no kind without a remedy, and all of it in one life."""

from __future__ import annotations

from dataclasses import replace

import msgspec

import supernoded_link_ber
from supernoded.history import History
from supernoded.model import Incident, Reading, Severity, Step
from supernoded.plugin import Case, Node, Value, World
from supernoded.quantities import VOCABULARY
from supernoded.topology import Cable, Supernode, Topology
from supernoded_link_ber.settings import LinkBerSettings

PORT, PEER = "n0/card0/port0", "n0/card1/port1"
TOPOLOGY = Topology(nodes=(Supernode(name="n0", cards=2),), cables=(Cable(a=PORT, b=PEER),))
SETTINGS = LinkBerSettings()


def test_each_kind_has_one_rule_and_one_remedy(supernoded_node: Node) -> None:
    assert supernoded_link_ber.supernoded_settings() is LinkBerSettings
    rules = [rule.kind for rule in supernoded_link_ber.supernoded_rules(SETTINGS, supernoded_node)]
    remedies = [remedy.answers for remedy in supernoded_link_ber.supernoded_remedies(SETTINGS, supernoded_node)]
    assert len(set(rules)) == len(rules)
    assert sorted(remedies) == sorted(rules)
    assert [one.name for one in supernoded_link_ber.supernoded_diagnoses(SETTINGS, supernoded_node)] == ["link"]


def test_what_is_watched_is_in_the_vocabulary(supernoded_node: Node) -> None:
    parts = [*supernoded_link_ber.supernoded_rules(SETTINGS, supernoded_node)]
    watched = {quantity for part in parts for quantity in part.watches}
    watched |= {q for part in supernoded_link_ber.supernoded_diagnoses(SETTINGS, supernoded_node) for q in part.watches}
    assert {quantity for quantity in watched if not quantity.startswith("x.")} <= set(VOCABULARY)


def test_every_memory_outlives_a_restart(supernoded_node: Node) -> None:
    node = replace(supernoded_node, topology=TOPOLOGY)
    for rule in supernoded_link_ber.supernoded_rules(SETTINGS, node):
        history, memory = History(rule.watches), rule.start()
        for at in (1000.0, 1005.0):
            history.add([reading for quantity in rule.watches for reading in show(quantity, at)], 60.0)
            memory, verdicts = rule.judge(history.view(at, rule.watches), memory)
            assert all(verdict.kind == rule.kind and verdict.text for verdict in verdicts)
        if memory is not None:
            assert msgspec.json.decode(msgspec.json.encode(memory), type=type(memory)) == memory


def show(quantity: str, at: float) -> list[Reading]:
    """Something of a port and of two of its lanes."""
    unit = VOCABULARY[quantity].unit if quantity in VOCABULARY else "1"
    values: dict[str, Value] = {"text": "none", "flags": frozenset({"rx-los"})}
    value = values.get(unit, 1.0)
    places = ("n0", PORT, f"{PORT}/lane0", f"{PORT}/lane1")
    return [Reading(subject=place, quantity=quantity, value=value, unit=unit, at=at, source=s) for place in places for s in ("a", "b")]


def test_one_notice_says_what_to_touch_at_both_ends(supernoded_node: Node) -> None:
    remedies = {one.answers: one for one in supernoded_link_ber.supernoded_remedies(SETTINGS, supernoded_node)}
    incident = Incident(
        id="i1", kind="link.ber", subject=PORT, scope="node", opened=1.0, severity=Severity.WARNING, text=f"{PORT}: bad", members=()
    )
    step = remedies["link.ber"].next(Case(incident=incident), World(topology=TOPOLOGY), 2.0)
    assert isinstance(step, Step)
    assert step.reason == (
        f"{PORT}: bad; to do: Reseat the optic of {PORT} and of {PEER}, as 90 % of ring breaks are an optic not fully seated, "
        "then look for a fibre bent below 30 mm."
    )


def test_a_cable_names_both_of_its_ends(supernoded_node: Node) -> None:
    remedies = {one.answers: one for one in supernoded_link_ber.supernoded_remedies(SETTINGS, supernoded_node)}
    cable = f"cable/{PORT}--{PEER}"
    incident = Incident(
        id="i1", kind="link.down", subject=cable, scope="node", opened=1.0, severity=Severity.CRITICAL, text="two", members=(PORT, PEER)
    )
    step = remedies["link.down"].next(Case(incident=incident), World(topology=TOPOLOGY), 2.0)
    assert isinstance(step, Step)
    assert f"optic of {PORT} and of {PEER}," in step.reason

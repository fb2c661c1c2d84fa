"""The plugin as a whole: what it hands in fits together."""

from __future__ import annotations

import supernoded_thermal
from supernoded.model import NODE
from supernoded.quantities import VOCABULARY
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, make_node, make_site

SETTINGS = ThermalSettings()


def test_each_rule_has_its_remedy() -> None:
    node = make_node()
    rules = supernoded_thermal.supernoded_rules(SETTINGS, node)
    kinds = [rule.kind for rule in rules]
    assert len(set(kinds)) == len(kinds)
    assert sorted(kinds) == sorted(remedy.answers for remedy in supernoded_thermal.supernoded_remedies(SETTINGS, node))
    assert {rule.scope for rule in rules} == {CDU, NODE}


def test_two_loops_are_two_scopes() -> None:
    nodes = [{"name": "n0", "cards": 2, "loop": "cdu0"}, {"name": "n1", "cards": 2, "loop": "west"}]
    node = make_node(make_site(nodes=nodes, loops=[{"name": "cdu0"}, {"name": "west"}], pdus=[]))
    pairs = [(rule.scope, rule.kind) for rule in supernoded_thermal.supernoded_rules(SETTINGS, node)]
    assert len(set(pairs)) == len(pairs)
    assert {scope for scope, kind in pairs if kind == "coolant.band"} == {CDU, "cdu/west"}


def test_all_that_is_watched_is_in_the_vocabulary() -> None:
    node = make_node()
    parts = (
        *supernoded_thermal.supernoded_rules(SETTINGS, node),
        *supernoded_thermal.supernoded_loops(SETTINGS, node),
        *supernoded_thermal.supernoded_diagnoses(SETTINGS, node),
        *supernoded_thermal.supernoded_remedies(SETTINGS, node),
    )
    watched = {quantity for part in parts for quantity in getattr(part, "watches", {})}
    assert len(watched) > 40
    assert watched <= set(VOCABULARY)

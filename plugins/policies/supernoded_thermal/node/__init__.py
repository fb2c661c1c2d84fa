"""The heat of nodes: their fans, what air alone cools, their cards, and what heat explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from supernoded.plugin import NODE, Diagnosis, Loop, Node, Rule
from supernoded_thermal.node.air import AirRule
from supernoded_thermal.node.blame import HeatDiagnosis
from supernoded_thermal.node.fan_rules import ControlRule, FanRule
from supernoded_thermal.node.heat import Cause, Group, HeatRule
from supernoded_thermal.node.loop import FanLoop
from supernoded_thermal.node.settings import NodeSettings
from supernoded_thermal.node.throttled import ThrottleRule
from supernoded_thermal.node.uneven import UnevenRule

__all__ = ["NodeSettings", "make_diagnoses", "make_loops", "make_rules"]


def make_rules(settings: NodeSettings, node: Node, causes: Mapping[str, Cause]) -> Sequence[Rule[Any]]:
    """What is judged of this node, and of the nodes of each loop by whoever has its role; `causes` = of each loop's heat."""
    own = (
        FanRule(node.name, settings),
        AirRule(node.name, settings),
        ControlRule(node.name, settings),
        ThrottleRule(node.name, _list_cards(node), settings),
        UnevenRule(node.name, _list_cards(node), settings),
    )
    return (*own, *(HeatRule(group, settings, causes.get(group.thing)) for group in _list_groups(node)))


def make_loops(settings: NodeSettings, node: Node) -> Sequence[Loop[Any]]:
    """The fan loop, where the settings give it the fans."""
    cards = () if _find_loop(node) else _list_cards(node)
    return (FanLoop(node.name, cards, settings),) if settings.fans == "loop" else ()


def make_diagnoses(settings: NodeSettings, node: Node) -> Sequence[Diagnosis]:
    """Heat, where it comes before what it explains: in this node, and in each ring."""
    cards = {one.name: one.list_cards() for one in node.topology.nodes}
    own = HeatDiagnosis(NODE, {node.name: _list_cards(node)}, settings)
    rings = {ring.name: dict.fromkeys(member.partition("/")[0] for member in ring.order) for ring in node.topology.rings}
    return (own, *(HeatDiagnosis(f"ring/{ring}", {one: cards.get(one, ()) for one in nodes}, settings) for ring, nodes in rings.items()))


def _list_cards(node: Node) -> Sequence[str]:
    return next((one.list_cards() for one in node.topology.nodes if one.name == node.name), ())


def _find_loop(node: Node) -> str:
    """The loop that this node hangs in; empty when air alone cools it."""
    return next((one.loop for one in node.topology.nodes if one.name == node.name), "")


def _list_groups(node: Node) -> list[Group]:
    """The nodes of each loop, in the scope of its role; this node by itself when it hangs in none that is described."""
    supply, site = node.limits.coolant.supply_c, node.topology
    groups = [
        Group(loop.subject, loop.subject, {one.name: one.list_cards() for one in site.nodes if one.loop == loop.name}, supply)
        for loop in site.loops
    ]
    mine = Group(NODE, "", {node.name: _list_cards(node)}, supply)
    described = {name for group in groups for name in group.nodes}
    return [group for group in groups if group.nodes] + ([] if node.name in described else [mine])

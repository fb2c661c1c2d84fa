"""Cards. Begun: what their health codes mean, and which are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supernoded.plugin import Node, Remedy, Rule, hookimpl
from supernoded_isolation.codes import build_table
from supernoded_isolation.fault import FaultRule
from supernoded_isolation.lost import LostRule
from supernoded_isolation.remedies import TellRemedy
from supernoded_isolation.settings import IsolationSettings


@hookimpl
def supernoded_settings() -> type[IsolationSettings]:
    """`[plugins.isolation]`."""
    return IsolationSettings


@hookimpl
def supernoded_rules(settings: IsolationSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of a card. Raises PluginError for a table of codes that cannot be read."""
    table = build_table(settings.fault_codes, settings.chips)
    declared = next((one.list_cards() for one in node.topology.nodes if one.name == node.name), ())
    return (
        FaultRule(table, node.is_under_maintenance),
        LostRule(node.name, declared, table, settings, node.is_under_maintenance),
    )


@hookimpl
def supernoded_remedies(settings: IsolationSettings, node: Node) -> Sequence[Remedy]:
    """What people are told."""
    del settings, node
    return (TellRemedy("card.fault"), TellRemedy("card.lost"))

"""Coolant, fans, heat: what is held, judged and done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supernoded.plugin import Diagnosis, Loop, Node, Remedy, Rule, hookimpl
from supernoded_thermal import control, coolant, remedies
from supernoded_thermal import node as nodes
from supernoded_thermal.settings import ThermalSettings


@hookimpl
def supernoded_settings() -> type[ThermalSettings]:
    """`[plugins.thermal]`."""
    return ThermalSettings


@hookimpl
def supernoded_rules(settings: ThermalSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of coolant loops, and of the heat of nodes."""
    return (*coolant.make_rules(settings, node), *nodes.make_rules(settings.node, node, coolant.make_causes(settings, node)))


@hookimpl
def supernoded_loops(settings: ThermalSettings, node: Node) -> Sequence[Loop[Any]]:
    """What holds coolant and turns fans."""
    folder = Path(settings.commissioning) if settings.commissioning else None
    return (*control.make_loops(settings.control, node, folder), *nodes.make_loops(settings.node, node))


@hookimpl
def supernoded_diagnoses(settings: ThermalSettings, node: Node) -> Sequence[Diagnosis]:
    """What heat explains."""
    return nodes.make_diagnoses(settings.node, node)


@hookimpl
def supernoded_remedies(settings: ThermalSettings, node: Node) -> Sequence[Remedy]:
    """What is done about it."""
    return remedies.make_remedies(settings, node)

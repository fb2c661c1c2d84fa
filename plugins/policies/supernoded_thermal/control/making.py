"""The loops of a site's CDUs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supernoded.plugin import Loop, Node, PluginError
from supernoded_thermal.control.commissioning import read_commissioning
from supernoded_thermal.control.pump import PumpLoop
from supernoded_thermal.control.setpoint import SetpointLoop
from supernoded_thermal.control.settings import ControlSettings
from supernoded_thermal.control.valve import ValveLoop


def make_loops(settings: ControlSettings, node: Node, commissioning: Path | None = None) -> Sequence[Loop[Any]]:
    """Valve and pumps of those under `direct`, the setpoint of the others. `commissioning` is the folder of its files."""
    loops: list[Loop[Any]] = []
    for loop in node.topology.loops:
        nodes = [one for one in node.topology.nodes if one.loop == loop.name]
        cards = [card for one in nodes for card in one.list_cards()]
        rooms = (loop.subject, *(one.name for one in nodes))
        if loop.authority.value == "direct":
            file = None if commissioning is None else commissioning / f"{loop.name}.toml"
            loops.append(_make_valve(loop.subject, cards, rooms, settings, file))
            loops.append(PumpLoop(loop.subject, {one.name: one.cards for one in nodes}, settings))
        else:
            loops.append(SetpointLoop(loop.subject, rooms, settings))
    return loops


def _make_valve(cdu: str, cards: Sequence[str], rooms: Sequence[str], settings: ControlSettings, file: Path | None) -> ValveLoop:
    """With a record that cannot be used the valve is held by PI alone, which is told; rules and remedies do not depend on it."""
    try:
        return ValveLoop(cdu, cards, rooms, settings, None if file is None else read_commissioning(file))
    except PluginError as error:
        return ValveLoop(cdu, cards, rooms, settings, without=f"{file} cannot be used: {error}")

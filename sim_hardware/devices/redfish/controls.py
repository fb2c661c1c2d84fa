"""Control resources (Control of DSP0268): setpoints, and who sets them.

No standard or profile says which setpoints a CDU or a node offers; that it offers them as Controls at all is our choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from sim_hardware.devices.redfish.asking import refuse_others, take_number, take_word
from sim_hardware.devices.redfish.board import Board
from sim_hardware.devices.redfish.gauges import show_number, show_status, show_text
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body, Deed, link
from sim_hardware.plant.words import Order

_SHOWN = ("Name", "ControlType", "SetPointUnits", "AllowableMin", "AllowableMax", "RelatedItem", "Status")


@dataclass(frozen=True)
class Setpoint:
    """A number that can be set; `shown` is the quantity of the subject that says where it stands."""

    id: str
    kind: str  # ControlType
    units: str  # UCUM
    low: float
    high: float
    subject: str
    shown: str
    order: Callable[[float], Order]
    related: str = ""  # path of what it moves


@dataclass(frozen=True)
class Authority:
    """Who controls; `modes` are words of Redfish (`ControlMode`) for words of the plant."""

    id: str
    kind: str
    subject: str
    shown: str
    modes: Mapping[str, str]
    order: Callable[[str], Order]  # of a word of Redfish


Control = Setpoint | Authority


def fit_controls(board: Board, tree: Tree, owner: str, controls: tuple[Control, ...]) -> None:
    """Put the Controls of a piece of equipment into the tree."""
    path = f"{owner}/Controls"
    tree.collect(path, "Control", [control.id for control in controls])
    for control in controls:
        if isinstance(control, Setpoint):
            show, patch = partial(_show_setpoint, board, control), partial(_set_point, board, control)
        else:
            show, patch = partial(_show_authority, board, control), partial(_set_authority, board, control)
        tree.add(f"{path}/{control.id}", "Control.v1_5_2.Control", show, patch)


def _show_setpoint(board: Board, control: Setpoint) -> Body:
    value = board.read(control.subject, control.shown).value
    return {
        "ControlType": control.kind,
        "SetPoint": show_number(value),
        "SetPointUnits": control.units,
        "AllowableMin": control.low,
        "AllowableMax": control.high,
        "RelatedItem": [link(control.related)] if control.related else [],
        "Status": show_status(value),
    }


def _set_point(board: Board, control: Setpoint, body: Body) -> Deed:
    refuse_others(body, "SetPoint", shown=(*_SHOWN, "ControlMode"))
    order = control.order(take_number(body, "SetPoint", control.low, control.high))
    return lambda: board.order(order)


def _show_authority(board: Board, control: Authority) -> Body:
    word = show_text(board.read(control.subject, control.shown).value)
    modes = {meant: mode for mode, meant in control.modes.items()}
    return {
        "ControlType": control.kind,
        "ControlMode": modes.get(word or ""),
        "ControlMode@Redfish.AllowableValues": list(control.modes),
        "Status": show_status(0.0 if word in modes else None),
    }


def _set_authority(board: Board, control: Authority, body: Body) -> Deed:
    refuse_others(body, "ControlMode", shown=_SHOWN)
    order = control.order(take_word(body, "ControlMode", control.modes))
    return lambda: board.order(order)

"""Power and power limit of a card (EnvironmentMetrics of DSP0268, v1.3): the limit is an excerpt of a Control that can be written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sim_hardware.devices.redfish.asking import refuse_others, take_number, take_word
from sim_hardware.devices.redfish.board import Board, is_number
from sim_hardware.devices.redfish.gauges import show_number
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body, Deed, RefusalError
from sim_hardware.plant.cards.ordering import LEAST_CLOCK
from sim_hardware.plant.cards.orders import CapCard
from sim_hardware.plant.cards.outputs import CLOCK_POWER

LIMIT = "PowerLimitWatts"
KEPT, LIFTED = "Automatic", "Disabled"  # ControlMode
_MODES = (KEPT, LIFTED)
_SHOWN = ("PowerWatts", "AllowableMin", "AllowableMax", "Reading", "DataSourceUri")


def fit_caps(board: Board, tree: Tree, chassis: str, processors: Mapping[str, str]) -> None:
    """Put the metrics of each processor into the tree; `processors` are cards by the paths of their processors."""
    for number, (path, card) in enumerate(processors.items()):
        sensor = f"{chassis}/Sensors/Card{number}Power"
        show, patch = partial(_show, board, card, sensor), partial(_set, board, card)
        tree.add(f"{path}/EnvironmentMetrics", "EnvironmentMetrics.v1_3_2.EnvironmentMetrics", show, patch)


def find_bounds(board: Board) -> tuple[float, float]:
    """The least limit that a card's governor can hold, and the card's full power, W: those of the plant."""
    figures = board.panel.rack.sim.node
    idle, full = figures.card_idle_watts, max(figures.card_watts, figures.card_idle_watts + 1.0)
    return round(idle + (full - idle) * LEAST_CLOCK**CLOCK_POWER + 0.5), full


def _show(board: Board, card: str, sensor: str) -> Body:
    cap, (low, high) = board.read(card, "card.cap").value, find_bounds(board)
    kept = is_number(cap)
    return {
        "PowerWatts": {"DataSourceUri": sensor, "Reading": show_number(board.read(card, "card.power").value)},
        LIMIT: {
            "SetPoint": show_number(cap) if kept else high,
            "AllowableMin": low,
            "AllowableMax": high,
            "ControlMode": KEPT if kept else LIFTED,
        },
    }


def _set(board: Board, card: str, body: Body) -> Deed:
    refuse_others(body, LIMIT, shown=_SHOWN)
    limit = body.get(LIMIT)
    if not isinstance(limit, dict):
        raise RefusalError(400, "PropertyValueTypeError", f"{LIMIT} takes an object with SetPoint and ControlMode")
    refuse_others(limit, "SetPoint", "ControlMode", shown=_SHOWN)
    mode = take_word(limit, "ControlMode", _MODES) if "ControlMode" in limit else KEPT
    if mode == LIFTED:
        return partial(board.order, CapCard(card, None))
    return partial(board.order, CapCard(card, take_number(limit, "SetPoint", *find_bounds(board))))

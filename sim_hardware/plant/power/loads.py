"""Loads and the shelves of nodes: which have power, which run, and what each draws from its cords."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.flows import ShelfFlow
from sim_hardware.plant.power.spec import NodeSpec
from sim_hardware.plant.power.state import Draft


@dataclass
class Draws:
    """What hangs on the outlets, W, and where it goes."""

    outlets: list[float]
    delivered: float = 0.0
    lost: float = 0.0
    stored: float = 0.0
    shelves: list[ShelfFlow] = field(default_factory=list)

    def take(self, cords: list[int], watts: float) -> None:
        """Live cords share a load."""
        for outlet in cords:
            self.outlets[outlet] += watts / len(cords)


def settle_loads(draft: Draft) -> Draws:
    """Bring every load to what holds at this moment, and find what it draws."""
    powered = [pdu.fed for pdu in draft.pdus]
    hot = [closed and powered[row[0]] for closed, row in zip(draft.closed, draft.spec.outlets, strict=True)]
    draws = Draws([0.0] * len(hot))
    for load in draft.spec.others:
        _settle_other(draft, load, [outlet for outlet in draft.cords[load] if hot[outlet]], draws)
    for number, node in enumerate(draft.spec.nodes):
        _settle_node(draft, number, node, hot, draws)
    for until in draft.inrush.values():
        draft.wake(until)
    return draws


def _settle_other(draft: Draft, load: int, cords: list[int], draws: Draws) -> None:
    """A load without a shelf is lost when its own hold-up is over."""
    if cords:
        draft.lost_at.pop(load, None)
        if not draft.live[load]:
            _turn_on(draft, load)
        draws.delivered += draft.watts[load]
        draws.take(cords, draft.watts[load] + _find_inrush(draft, load, draws))
    elif draft.live[load]:
        lost_at = draft.lost_at.setdefault(load, draft.at + figures.HOLD_UP_S)
        if lost_at <= draft.at:
            del draft.lost_at[load]
            _turn_off(draft, load)
        draft.wake(lost_at)
    draft.fed[load] = bool(cords)


def _settle_node(draft: Draft, number: int, node: NodeSpec, hot: list[bool], draws: Draws) -> None:
    """The shelf gives DC until it is empty, and again when it is full."""
    load = node.load
    cords = [outlet for outlet in draft.cords[load] if hot[outlet]]
    if not cords and draft.live[load] and draft.shelves[number] <= 0.0:
        draft.live[load] = False
        draft.tell("node.power_lost", node.name, f"The shelf of {node.name} is empty.")
    elif cords and not draft.live[load] and draft.shelves[number] >= node.shelf_j:
        draft.live[load] = True
        draft.tell("node.power_back", node.name, f"The shelf of {node.name} is full again.")
    if cords and not draft.fed[load] and not draft.live[load]:
        draft.inrush[load] = draft.at + figures.INRUSH_S
    draft.fed[load] = bool(cords)
    taken = draft.watts[load] if draft.live[load] else 0.0
    taken += _settle_fans(draft, node, hot, draws)
    draws.delivered += taken
    _settle_shelf(draft, number, cords, taken, draws)


def _settle_fans(draft: Draft, node: NodeSpec, hot: list[bool], draws: Draws) -> float:
    """Fans run while an outlet of theirs is closed; what they draw from the shelf then."""
    fans = node.fans
    cords = [outlet for outlet in draft.cords[fans] if hot[outlet]]
    runs = bool(cords) or (draft.live[node.load] and _is_plugged(draft, fans))
    if runs and not draft.live[fans]:
        _turn_on(draft, fans)
    elif draft.live[fans] and not runs:
        _turn_off(draft, fans)
    draft.fed[fans] = bool(cords)
    if not runs:
        return 0.0
    if not cords:
        draft.inrush.pop(fans, None)  # the shelf limits its current
        return draft.watts[fans]
    draws.delivered += draft.watts[fans]
    draws.take(cords, draft.watts[fans] + _find_inrush(draft, fans, draws))
    return 0.0


def _is_plugged(draft: Draft, fans: int) -> bool:
    """Fans that have outlets need one that is closed."""
    cords = draft.cords[fans]
    return not cords or any(draft.closed[outlet] for outlet in cords)


def _settle_shelf(draft: Draft, number: int, cords: list[int], taken: float, draws: Draws) -> None:
    """Filled from live cords at a constant power; emptied by what is taken, when there are none."""
    node = draft.spec.nodes[number]
    held = draft.shelves[number]
    if cords:
        rate, mark = (node.shelf_j / figures.RECHARGE_S, node.shelf_j) if held < node.shelf_j else (0.0, held)
        draws.take(cords, taken + rate + _find_inrush(draft, node.load, draws))
    else:
        draft.inrush.pop(node.load, None)
        rate, mark = -taken, 0.0
    if rate:
        draws.shelves.append(ShelfFlow(number, rate, draft.at + (mark - held) / rate, mark))
        draws.stored += rate


def _find_inrush(draft: Draft, load: int, draws: Draws) -> float:
    """What a cold load draws beyond its own, W; it becomes heat."""
    until = draft.inrush.get(load, -math.inf)
    if until <= draft.at:
        draft.inrush.pop(load, None)
        return 0.0
    extra = (figures.INRUSH - 1.0) * draft.spec.rated[load]
    draws.lost += extra
    return extra


def _turn_on(draft: Draft, load: int) -> None:
    draft.live[load] = True
    draft.inrush[load] = draft.at + figures.INRUSH_S
    draft.tell("load.back", draft.spec.loads[load], f"{draft.spec.loads[load]} has power again.")


def _turn_off(draft: Draft, load: int) -> None:
    draft.live[load] = False
    draft.inrush.pop(load, None)
    draft.tell("load.lost", draft.spec.loads[load], f"{draft.spec.loads[load]} has no power.")

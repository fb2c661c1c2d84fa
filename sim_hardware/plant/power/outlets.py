"""Outlets: what opens and closes them, now and later."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec.structs import replace

from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.things import Timer

START = "start of the PDU"  # who closes outlets one by one when a PDU has power again


def open_outlets(draft: Draft, outlets: Iterable[int], who: str) -> tuple[int, ...]:
    """Open those that are closed; gives what it opened."""
    opened = tuple(outlet for outlet in outlets if draft.closed[outlet])
    for outlet in opened:
        draft.closed[outlet] = False
        draft.tell("outlet.opened", draft.spec.name_outlet(outlet), f"Opened by {who}; {_name_load(draft, outlet)} hangs on it.")
        draft.changed = True
    return opened


def close_outlets(draft: Draft, outlets: Iterable[int], who: str) -> None:
    """Close those that are open, but for what is locked out or off by the emergency button."""
    for outlet in outlets:
        if draft.closed[outlet] or outlet in draft.locked or draft.pdus[draft.spec.outlets[outlet][0]].emergency:
            continue
        draft.closed[outlet] = True
        draft.tell("outlet.closed", draft.spec.name_outlet(outlet), f"Closed by {who}; {_name_load(draft, outlet)} hangs on it.")
        draft.changed = True


def plan_outlet(draft: Draft, timer: Timer) -> None:
    """Open or close an outlet later. What was planned for it before is void."""
    draft.timers = (*(one for one in draft.timers if one.outlet != timer.outlet), timer)


def forget_timers(draft: Draft, pdu: int) -> tuple[int, ...]:
    """Drop a PDU's timers; gives the outlets that would have closed."""
    mine = [timer for timer in draft.timers if draft.spec.outlets[timer.outlet][0] == pdu]
    draft.timers = tuple(timer for timer in draft.timers if timer not in mine)
    return tuple(timer.outlet for timer in mine if timer.close)


def drop_from_shed(draft: Draft, outlet: int) -> None:
    """Somebody else has decided on this outlet: the shed no longer restores it."""
    index = draft.spec.outlets[outlet][0]
    pdu = draft.pdus[index]
    if outlet in pdu.shed:
        draft.pdus[index] = replace(pdu, shed=tuple(one for one in pdu.shed if one != outlet))


def _defer_to_shed(draft: Draft, outlet: int) -> bool:
    """An outlet that a starting PDU was still to close stays open while its group is shed, and comes back with the group."""
    index = draft.spec.outlets[outlet][0]
    pdu = draft.pdus[index]
    if math.isinf(pdu.restore_at) or outlet not in pdu.group:
        return False
    draft.pdus[index] = replace(pdu, shed=(*pdu.shed, outlet))
    return True


def run_timers(draft: Draft) -> None:
    """Carry out what is due."""
    due = [timer for timer in draft.timers if timer.at <= draft.at]
    if due:
        draft.timers = tuple(timer for timer in draft.timers if timer.at > draft.at)
    for timer in sorted(due, key=lambda timer: timer.at):
        if timer.who == START and _defer_to_shed(draft, timer.outlet):
            continue
        if timer.outlet not in draft.locked:
            drop_from_shed(draft, timer.outlet)
        if timer.close:
            close_outlets(draft, (timer.outlet,), timer.who)
        elif timer.outlet not in draft.locked:
            open_outlets(draft, (timer.outlet,), timer.who)
    for timer in draft.timers:
        draft.wake(timer.at)


def _name_load(draft: Draft, outlet: int) -> str:
    return draft.spec.loads[draft.spec.outlets[outlet][2]]

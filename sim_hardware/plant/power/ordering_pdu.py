"""Orders to PDUs, outlets and breakers."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.finding import check, find
from sim_hardware.plant.power.orders import (
    ArmShed,
    CycleOutlet,
    DisarmShed,
    FireShed,
    LockOutlet,
    PressEmergencyOff,
    ResetBreaker,
    SwitchOutlet,
    TripBreaker,
)
from sim_hardware.plant.power.outlets import drop_from_shed, forget_timers, open_outlets, plan_outlet
from sim_hardware.plant.power.pdus import trip
from sim_hardware.plant.power.shed import arm, disarm, trigger
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.things import Timer
from sim_hardware.plant.words import Order, OrderError

_LONGEST_S = 86400.0  # of any timer; ours


def order_pdu(draft: Draft, order: Order) -> bool:
    """Whether it was an order to one of these; then it is carried out. Raises OrderError."""
    match order:
        case SwitchOutlet():
            _switch(draft, order)
        case CycleOutlet():
            _cycle(draft, order)
        case LockOutlet():
            _lock(draft, order)
        case ArmShed():
            _arm(draft, order)
        case DisarmShed():
            disarm(draft, _find_pdu(draft, order.pdu), "disarmed")
        case FireShed():
            _fire(draft, order)
        case PressEmergencyOff():
            _press(draft, order)
        case TripBreaker():
            _trip(draft, order)
        case ResetBreaker():
            _reset(draft, order)
        case _:
            return False
    return True


def _find_pdu(draft: Draft, name: str) -> int:
    """A PDU that can hear an order."""
    index = find(draft.spec, "pdu", name)
    if not draft.pdus[index].on:
        raise OrderError(f"power: PDU {name} has no power; nothing can be ordered before it is back")
    return index


def _find_outlet(draft: Draft, name: str, number: int) -> int:
    """An outlet that is not locked out."""
    outlet = _name_outlet(draft, find(draft.spec, "pdu", name), number)
    _find_pdu(draft, name)
    if outlet in draft.locked:
        raise OrderError(f"power: outlet {number} of PDU {name} is locked out and stays as it is; take the lock away first")
    return outlet


def _name_outlet(draft: Draft, index: int, number: int) -> int:
    spec = draft.spec.pdus[index]
    if number not in spec.outlets:
        raise OrderError(
            f"power: PDU {spec.name} has no outlet {number}; it has {min(spec.outlets, default=0)} to {max(spec.outlets, default=0)}"
        )
    return spec.outlets[number]


def _refuse_emergency(draft: Draft, name: str) -> None:
    if draft.pdus[find(draft.spec, "pdu", name)].emergency:
        raise OrderError(f"power: the emergency button of PDU {name} is pressed; nothing closes until a person has pulled it out")


def _switch(draft: Draft, order: SwitchOutlet) -> None:
    outlet = _find_outlet(draft, order.pdu, order.outlet)
    delay = check(f"the delay of outlet {order.outlet} of PDU {order.pdu}", order.delay_s, 0.0, _LONGEST_S, "s")
    if order.on:
        _refuse_emergency(draft, order.pdu)
    plan_outlet(draft, Timer(draft.at + delay, outlet, close=order.on, who="order"))


def _cycle(draft: Draft, order: CycleOutlet) -> None:
    outlet = _find_outlet(draft, order.pdu, order.outlet)
    off_s = check(f"the time off of outlet {order.outlet} of PDU {order.pdu}", order.off_s, 0.0, _LONGEST_S, "s")
    _refuse_emergency(draft, order.pdu)
    drop_from_shed(draft, outlet)
    open_outlets(draft, (outlet,), "order")
    plan_outlet(draft, Timer(draft.at + off_s, outlet, close=True, who="order"))


def _lock(draft: Draft, order: LockOutlet) -> None:
    """By hand, so that it needs no power."""
    outlet = _name_outlet(draft, find(draft.spec, "pdu", order.pdu), order.outlet)
    draft.locked = draft.locked | {outlet} if order.locked else draft.locked - {outlet}


def _arm(draft: Draft, order: ArmShed) -> None:
    index = _find_pdu(draft, order.pdu)
    if not order.outlets:
        raise OrderError(f"power: PDU {order.pdu} is to be armed with no outlets; name at least one")
    group = tuple(dict.fromkeys(_name_outlet(draft, index, number) for number in order.outlets))
    restore_s = check(f"the restore timer of PDU {order.pdu}", order.restore_s, 0.001, _LONGEST_S, "s")
    lease_s = check(f"the lease of PDU {order.pdu}", order.lease_s, 0.001, _LONGEST_S, "s")
    arm(draft, index, group, restore_s, lease_s)


def _fire(draft: Draft, order: FireShed) -> None:
    index = _find_pdu(draft, order.pdu)
    if not draft.pdus[index].armed:
        raise OrderError(f"power: PDU {order.pdu} is not armed, so it opens nothing; arm it first")
    trigger(draft, index)


def _press(draft: Draft, order: PressEmergencyOff) -> None:
    """All outlets of the feed open, locked ones too; what was planned is void."""
    feed = find(draft.spec, "feed", order.feed)
    for index, spec in enumerate(draft.spec.pdus):
        if spec.feed != feed:
            continue
        draft.pdus[index] = replace(draft.pdus[index], emergency=order.pressed)
        if order.pressed:
            forget_timers(draft, index)
            draft.pdus[index] = replace(draft.pdus[index], shed=(), restart=())
            open_outlets(draft, spec.outlets.values(), "EPO")


def _trip(draft: Draft, order: TripBreaker) -> None:
    index = find(draft.spec, "breaker", order.breaker)
    if draft.pdus[index].closed:
        trip(draft, index, "by a fault")


def _reset(draft: Draft, order: ResetBreaker) -> None:
    index = find(draft.spec, "breaker", order.breaker)
    pdu = draft.pdus[index]
    if pdu.closed:
        return
    name = draft.spec.pdus[index].name
    draft.pdus[index] = replace(pdu, closed=True, short_at=math.inf)
    draft.tell("breaker.closed", f"breaker/{name}", f"The breaker of PDU {name} is closed by hand.")
    if pdu.heat > figures.BREAKER_HOT:
        trip(draft, index, "still hot")

"""Loops as rows, and a person's hand on one: laid on for a while, renewed, taken off."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from supernoded.errors import AdminError
from supernoded.house import House
from supernoded.messages import Handed, HandOrder, LoopRow
from supernoded.model import NODE, Mode
from supernoded.quantities import VOCABULARY
from supernoded.quantities.shape import Quantity
from supernoded.steering import Steering

MOST_NAMED = 8  # targets in a sentence
# What a person may ask for where the vocabulary is wider: it says what can be read, not what can be wanted. The setpoint's are those of
# `limits.coolant.supply_c`; how near the dew point one may go, and how slow a fan may turn, is kept by the loop itself.
NARROWER: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"coolant.setpoint": (5.0, 60.0), "coolant.pressure_difference": (0.0, 1000.0)}
)


def list_loops(steerings: Iterable[Steering], now: float) -> list[LoopRow]:
    """Every loop, and who turns its device."""
    return [_make_row(steering, now) for steering in steerings]


def _make_row(steering: Steering, now: float) -> LoopRow:
    last, hand = steering.last, steering.hand
    return LoopRow(
        name=steering.name,
        target=steering.target,
        quantity=steering.quantity,
        scope=steering.scope,
        policy=steering.policy,
        engaged=steering.engaged,
        idle_because="" if steering.engaged else steering.idle_because,
        value=None if last is None else last.value,
        unit="" if last is None else last.unit,
        put_age=None if steering.put_at is None else now - steering.put_at,
        note="" if last is None else last.note,
        by_hand=hand is not None,
        hand_value=None if hand is None else hand.value,
        hand_by="" if hand is None else hand.by,
        hand_reason="" if hand is None else hand.reason,
        hand_left=None if hand is None else hand.until - now,
        can_be_held=steering.can_be_held,
    )


def lay_hand(house: House, target: str, order: HandOrder, by: str) -> Handed:
    """Hold a device at a value, or let its unit hear nothing. Raises AdminError when it cannot be."""
    steering = _find_steering(house, target)
    check_value(steering.target, VOCABULARY.get(steering.quantity), order.value)
    if not steering.engaged and house.modes.of(steering.policy) is not Mode.ACT:
        mode = house.modes.of(steering.policy).value
        remedy = f"`supernodectl mode act --policy {steering.policy}` lets it act"
        raise AdminError(f"{target} is not steered: its policy {steering.policy} is in mode {mode}; {remedy}")
    before = steering.last
    for one in (steering, *(_list_others(house, steering) if order.value is None else ())):
        one.lay_hand(order.value, order.seconds, by, order.reason)
    held = "hears nothing" if order.value is None else f"is held at {order.value:g} {_unit(steering)}".rstrip()
    return Handed(
        now=house.clock.now(),
        target=target,
        loop=steering.name,
        unit=_unit(steering),
        before=None if before is None else before.value,
        value=order.value,
        until=house.clock.now() + order.seconds,
        text=f"{target} {held}{_say_before(steering)}; {_say_after(steering, order.value)}",
    )


def _say_before(steering: Steering) -> str:
    return "" if steering.last is None else f", it stood at {steering.last.value:g} {_unit(steering)}".rstrip()


def _say_after(steering: Steering, value: float | None) -> str:
    if value is None:
        return f"then its loop {steering.name} takes it anew, from where it stands by then"
    return f"then its loop {steering.name} goes on from there, without a bump"


def _unit(steering: Steering) -> str:
    quantity = VOCABULARY.get(steering.quantity)
    return "" if quantity is None else quantity.unit


def take_hand_off(house: House, target: str, by: str) -> Handed:
    """Give a device back to its loop; well too when nobody held it. Raises AdminError when there is no such device."""
    steering = _find_steering(house, target)
    hand = steering.hand
    silenced = [] if hand is None or hand.value is not None else _list_others(house, steering)
    for one in (steering, *silenced):
        one.take_hand_off(by)
    return Handed(
        now=house.clock.now(),
        target=target,
        loop=steering.name,
        unit=_unit(steering),
        before=None if hand is None else hand.value,
        text=f"{target}: {'nobody held it by hand' if hand is None else _say_after(steering, hand.value)}",
    )


def check_value(target: str, quantity: Quantity | None, value: float | None) -> None:
    """Raises AdminError when no person may ask for this value."""
    if quantity is None or value is None:
        return
    low, high = NARROWER.get(quantity.name, (quantity.low, quantity.high))
    if not low <= value <= high:  # so that NaN is none either
        raise AdminError(f"{target} cannot be held at {value:g} {quantity.unit}: {low:g} to {high:g} {quantity.unit} can be asked for")


def _list_others(house: House, steering: Steering) -> list[Steering]:
    """What else we say to the same unit: it must not hear that either."""
    if steering.scope == NODE:
        return []
    return [one for one in _list_steerings(house) if one.scope == steering.scope and one is not steering and one.engaged]


def _list_steerings(house: House) -> list[Steering]:
    return [steering for duty in house.duties for steering in duty.steerings]


def _find_steering(house: House, target: str) -> Steering:
    found = {steering.target: steering for steering in _list_steerings(house)}
    if target in found:
        return found[target]
    scope = next((loop.scope for loop in house.parts.loops if loop.target == target), None)
    if scope is not None and scope not in (NODE, *house.seats.held):
        holder = house.seats.roles.get(scope)
        where = f"node {holder} has, ask the daemon there" if holder else "nobody has, give it a node under [roles]"
        raise AdminError(f"{target} is not steered here: it belongs to the role {scope}, which {where}")
    if scope is not None:
        raise AdminError(f"{target} cannot be steered: no plugin hands in a handle for it; `supernodectl status` says why")
    raise AdminError(say_unknown(target, sorted(found)))


def say_unknown(target: str, known: list[str]) -> str:
    """That there is no such device, and which there are."""
    near = difflib.get_close_matches(target, known, n=1)
    there = f"did you mean {near[0]}?" if near else f"there are {', '.join(known[:MOST_NAMED]) or 'none'}"
    return f"no loop of this daemon turns {target!r}; {there}"

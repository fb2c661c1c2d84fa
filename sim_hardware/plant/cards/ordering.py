"""What can be done to cards and nodes, done."""

from __future__ import annotations

import math
from functools import singledispatch

import msgspec

from sim_hardware.plant.cards.changing import boot_node, change_card, change_node, set_card, settle, tell
from sim_hardware.plant.cards.orders import (
    BrakePower,
    CapCard,
    FallOff,
    HangCard,
    IsolateCard,
    LeakMemory,
    PowerNode,
    RaiseCode,
    ReplaceCard,
    ResetCard,
    SlowCard,
    StormEcc,
)
from sim_hardware.plant.cards.outputs import CLOCK_POWER
from sim_hardware.plant.cards.shape import MEMORY_CODE, RESET_S, Card, Node, State
from sim_hardware.plant.words import Order, OrderError

LEAST_CLOCK = 0.10  # share of full that a governor can hold, ours
MOST_SLOW = 99.0  # %


def apply(state: State, order: Order) -> State:
    """The state after an order, at the same time. Raises OrderError."""
    return settle(_apply(order, msgspec.structs.replace(state, happened=())))


@singledispatch
def _apply(order: Order, state: State) -> State:
    raise OrderError(f"{type(order).__name__} is no order for cards or nodes, of which there are {len(state.cards)} and {len(state.nodes)}")


def _find_card(state: State, subject: str) -> int:
    if subject not in state.site.cards:
        raise OrderError(f"{subject}: no such card; there are {len(state.site.cards)}, from {next(iter(state.site.cards), 'none')} on")
    return state.site.cards[subject]


def _require(value: float, low: float, high: float, what: str) -> None:
    if not low <= value <= high:
        raise OrderError(f"{what} is {value:g}, outside {low:g} to {high:g}")


@_apply.register
def _cap(order: CapCard, state: State) -> State:
    site = state.site
    least = site.idle_watts + (site.full_watts - site.idle_watts) * LEAST_CLOCK**CLOCK_POWER
    if order.watts is not None:
        _require(order.watts, least, site.full_watts, f"{order.card}: cap, W,")
    return change_card(state, _find_card(state, order.card), cap=order.watts)


@_apply.register
def _reset(order: ResetCard, state: State) -> State:
    number = _find_card(state, order.card)
    if not state.is_present(number):
        raise OrderError(f"{order.card} is not on its bus and cannot be reset; switch its node off and on, or wait for its reset to end")
    hung = state.cards[number].hung
    changes = {"hung": False, "full": False, "leaked": 0.0, "back_at": state.at + RESET_S}
    state = tell(change_card(state, number, **changes), "card.reset_begun", number, f"resets, for {RESET_S:g} s")
    return tell(state, "card.recovered", number, "was freed by a reset") if hung else state


@_apply.register
def _isolate(order: IsolateCard, state: State) -> State:
    number = _find_card(state, order.card)
    if state.cards[number].isolated == order.isolated:
        return state
    kind, text = ("isolated", "was taken out of service") if order.isolated else ("released", "was taken back into service")
    return tell(change_card(state, number, isolated=order.isolated), f"card.{kind}", number, text)


@_apply.register
def _replace(order: ReplaceCard, state: State) -> State:
    number = _find_card(state, order.card)
    old = state.cards[number]
    if not order.serial or order.serial in {card.serial for card in state.cards}:
        raise OrderError(f"{order.card}: serial {order.serial!r} is empty or already in a slot; give one that is in none")
    on = state.nodes[state.site.node_of[number]].power == "on"
    card = Card(serial=order.serial, isolated=old.isolated, back_at=state.at + RESET_S if on else math.inf)
    state = set_card(state, number, card)
    return tell(state, "card.replaced", number, f"was replaced, {old.serial} by {order.serial}")


@_apply.register
def _power(order: PowerNode, state: State) -> State:
    if order.node not in state.site.nodes:
        raise OrderError(f"{order.node}: no such node; there are {', '.join(list(state.site.nodes)[:4])} ...")
    number = state.site.nodes[order.node]
    node = state.nodes[number]
    state = msgspec.structs.replace(
        state, nodes=(*state.nodes[:number], msgspec.structs.replace(node, wanted=order.on), *state.nodes[number + 1 :])
    )
    if not order.on and node.power != "off":
        return change_node(state, number, Node(power="off", wanted=False, since=state.at))
    return boot_node(state, number) if order.on and node.power == "off" and state.inputs.available[number] else state


@_apply.register
def _storm(order: StormEcc, state: State) -> State:
    number = _find_card(state, order.card)
    _require(order.corrected_per_s, 0.0, 1e6, f"{order.card}: corrected errors a second")
    _require(order.uncorrectable, 0, 1_000_000, f"{order.card}: uncorrectable errors")
    before = state.cards[number].uncorrectable
    state = change_card(state, number, storm=order.corrected_per_s, uncorrectable=order.uncorrectable)
    if order.uncorrectable <= before:
        return state
    text = f"had {order.uncorrectable - before} uncorrectable memory errors (code {MEMORY_CODE})"
    return tell(state, "card.uncorrectable", number, text, float(order.uncorrectable))


@_apply.register
def _hang(order: HangCard, state: State) -> State:
    number = _find_card(state, order.card)
    if state.cards[number].hung == order.hung:
        return state
    kind, text = ("hung", "hangs: it answers nothing and computes nothing") if order.hung else ("recovered", "answers again")
    return tell(change_card(state, number, hung=order.hung), f"card.{kind}", number, text)


@_apply.register
def _fall(order: FallOff, state: State) -> State:
    number = _find_card(state, order.card)
    if state.cards[number].off == order.off:
        return state
    kind, text = ("fell_off", "fell off its bus") if order.off else ("recovered", "is on its bus again")
    return tell(change_card(state, number, off=order.off, back_at=math.inf), f"card.{kind}", number, text)


@_apply.register
def _slow(order: SlowCard, state: State) -> State:
    _require(order.percent, 0.0, MOST_SLOW, f"{order.card}: slower by, %,")
    return change_card(state, _find_card(state, order.card), slow=order.percent / 100.0)


@_apply.register
def _raise(order: RaiseCode, state: State) -> State:
    number = _find_card(state, order.card)
    codes = state.cards[number].codes
    return change_card(state, number, codes=codes | {order.code} if order.present else codes - {order.code})


@_apply.register
def _leak(order: LeakMemory, state: State) -> State:
    number = _find_card(state, order.card)
    _require(order.bytes_per_s, 0.0, 1e12, f"{order.card}: leak, B/s,")
    if order.bytes_per_s > 0.0:
        return change_card(state, number, leak=order.bytes_per_s)
    return change_card(state, number, leak=0.0, leaked=0.0, full=False)  # the process that leaked has ended


@_apply.register
def _brake(order: BrakePower, state: State) -> State:
    return change_card(state, _find_card(state, order.card), brake=order.on)

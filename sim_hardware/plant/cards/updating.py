"""Cards and nodes through time. Inputs hold from the state's time on: their edges are told at that time."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from sim_hardware.plant.cards.changing import boot_node, change_card, change_node, set_card, settle, tell
from sim_hardware.plant.cards.memory import advance_memory, settle_strays
from sim_hardware.plant.cards.shape import SHUT_CODE, Inputs, Node, State
from sim_hardware.plant.words import PlantError

TRIP_C = 110.0  # mean of a die at which its card shuts itself down: over the 105 C that damages it; ours


def update(state: State, time: float, inputs: Inputs) -> State:
    """The state at `time`. Raises PlantError when that is in the past."""
    if time < state.at:
        raise PlantError(f"cards: cannot go back from {state.at:g} s to {time:g} s")
    state = _adopt(msgspec.structs.replace(state, happened=()), inputs)
    while state.next_time < time:
        state = _step(state, state.next_time)
    return _step(state, time)


def _adopt(state: State, inputs: Inputs) -> State:
    """Take the inputs at the state's time. Where nothing is new, nothing is made anew: that is the common case and decides the speed."""
    old = state.inputs
    hot = max(inputs.temperature, default=0.0) >= TRIP_C and bool(list(_list_hot(state, inputs)))
    same = inputs.load == old.load and inputs.throttled == old.throttled and inputs.available == old.available
    if same and not hot:
        return state if inputs is old else msgspec.structs.replace(state, inputs=inputs)
    state = msgspec.structs.replace(state, inputs=inputs)
    if inputs.available != old.available:
        for number, available in enumerate(inputs.available):
            state = _follow_supply(state, number, available)
    if hot:
        state = _trip(state)
    return settle(state)


def _follow_supply(state: State, number: int, available: bool) -> State:
    node = state.nodes[number]
    if not available and node.power != "off":
        return change_node(state, number, Node(power="off", wanted=node.wanted, since=state.at))
    if available and node.power == "off" and node.wanted:
        return boot_node(state, number)
    return state


def _list_hot(state: State, inputs: Inputs) -> Iterator[int]:
    """Cards that are on and too hot for it."""
    for number, celsius in enumerate(inputs.temperature):
        if celsius >= TRIP_C and state.nodes[state.site.node_of[number]].power == "on" and not state.cards[number].shut:
            yield number


def _trip(state: State) -> State:
    for number in _list_hot(state, state.inputs):
        celsius = state.inputs.temperature[number]
        text = f"shuts itself down at {celsius:.1f} C (code {SHUT_CODE}), until its node is switched off"
        state = tell(change_card(state, number, shut=True, back_at=math.inf), "card.shut_down", number, text, celsius)
    return state


def _step(state: State, time: float) -> State:
    """To a time that is not after the next one."""
    for number in state.busy:
        if state.nodes[state.site.node_of[number]].power == "on":
            state = set_card(state, number, advance_memory(state, number, time))
    state = msgspec.structs.replace(settle_strays(state, time), at=time)
    return _ring(state) if time >= state.next_time else state


def _ring(state: State) -> State:
    """What is due at this very time."""
    for number in state.booting:
        node = state.nodes[number]
        if node.up_at <= state.at:
            state = change_node(state, number, Node(power="on", wanted=node.wanted, since=state.at))
    for number in state.busy:
        card = state.cards[number]
        if card.back_at <= state.at:
            state = tell(change_card(state, number, back_at=math.inf), "card.reset", number, "is back from its reset")
        elif card.leak > 0.0 and not card.full and state.is_out_of_memory(number):
            state = tell(change_card(state, number, full=True), "card.out_of_memory", number, "has no memory left; its process dies")
    return settle(state)

"""The small changes from which updates and orders are made."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import msgspec

from sim_hardware.plant.cards.memory import find_next
from sim_hardware.plant.cards.outputs import refresh
from sim_hardware.plant.cards.shape import BOOT_S, Card, Node, State
from sim_hardware.plant.words import Happening

Item = TypeVar("Item")


def settle(state: State) -> State:
    """The same state with its outputs and timers made anew, after something was done to a card or node."""
    busy = tuple(number for number, card in enumerate(state.cards) if card.busy)
    booting = tuple(number for number, node in enumerate(state.nodes) if node.power == "booting")
    state = refresh(msgspec.structs.replace(state, busy=busy, booting=booting))
    boots = [state.nodes[number].up_at for number in booting]
    return msgspec.structs.replace(state, next_time=min([math.inf, *boots, *(find_next(state, number) for number in busy)]))


def set_card(state: State, number: int, card: Card) -> State:
    """The state with this card."""
    return msgspec.structs.replace(state, cards=_put(state.cards, number, card))


def change_card(state: State, number: int, **fields: Any) -> State:
    """The state with these fields of a card."""
    return set_card(state, number, msgspec.structs.replace(state.cards[number], **fields))


def change_node(state: State, number: int, node: Node) -> State:
    """The state with this node, told. A node that goes off takes what its cards had in mind with it: they start well."""
    name = state.site.node_names[number]
    texts = {"off": "went off", "booting": f"boots, for {BOOT_S:g} s", "on": "is up"}
    state = msgspec.structs.replace(
        state,
        nodes=_put(state.nodes, number, node),
        happened=(*state.happened, Happening(state.at, f"node.{node.power}", name, f"{name} {texts[node.power]}.")),
    )
    if node.power != "off":
        return state
    for card in range(state.site.first[number], state.site.first[number + 1]):
        old = state.cards[card]
        if old.hung or old.off or old.shut or old.leaked or old.back_at < math.inf:
            state = change_card(state, card, hung=False, off=False, shut=False, full=False, leaked=0.0, back_at=math.inf)
        if old.hung or old.off or old.shut:
            state = tell(state, "card.recovered", card, "was cleared by its node's going off")
    return state


def boot_node(state: State, number: int) -> State:
    """A node with power begins to boot."""
    return change_node(state, number, Node(power="booting", since=state.at, up_at=state.at + BOOT_S))


def tell(state: State, kind: str, number: int, text: str, value: float | None = None) -> State:
    """The state with a happening of a card more; the card's subject is put before the text."""
    subject = state.site.card_names[number]
    return msgspec.structs.replace(state, happened=(*state.happened, Happening(state.at, kind, subject, f"{subject} {text}.", value)))


def _put(row: tuple[Item, ...], number: int, item: Item) -> tuple[Item, ...]:
    return (*row[:number], item, *row[number + 1 :])

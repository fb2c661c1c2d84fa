"""Orders carried out."""

from __future__ import annotations

from sim_hardware.plant.power.ordering_mains import order_mains
from sim_hardware.plant.power.ordering_pdu import order_pdu
from sim_hardware.plant.power.ordering_ups import order_ups
from sim_hardware.plant.power.state import State, close_draft, open_draft
from sim_hardware.plant.power.stepping import advance, settle
from sim_hardware.plant.words import Order, OrderError


def apply(state: State, order: Order) -> State:
    """The plant after the order, at the same moment. Raises OrderError."""
    draft = open_draft(state)
    advance(draft, draft.at)
    if not (order_pdu(draft, order) or order_ups(draft, order) or order_mains(draft, order)):
        raise OrderError(f"power: {type(order).__name__} is no order for the power plant; see sim_hardware.plant.power.orders")
    settle(draft)
    return close_draft(draft)

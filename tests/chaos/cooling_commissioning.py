"""What `supernodectl thermal commission` would have recorded of a rack's loop, had somebody stepped its valve: by its gauges alone."""

from __future__ import annotations

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import Inputs, State
from sim_hardware.plant.cooling.orders import Beat, SetControl, SetValve, SetWatchdog
from sim_hardware.plant.words import Order
from sim_hardware.rack import Rack

LOOP = "cdu/0"
SHARE = 0.7  # of full load, steady meanwhile
POSITIONS = (25.0, 35.0, 45.0, 55.0, 70.0, 85.0)  # %
SETTLE_S = 240.0
GAUGES = (
    ("valve", "coolant.valve"),
    ("supply", "coolant.supply_temperature"),
    ("return", "coolant.return_temperature"),
    ("primary", "coolant.primary_temperature"),
    ("flow", "coolant.flow"),
)


def commission(rack: Rack) -> str:
    """The record, as TOML."""
    return _record(cooling.start(rack, 1), rack.sim.node.card_watts)


def _record(state: State, watts: float) -> str:
    points = [f'cdu = "{LOOP}"']
    nodes, cards = len(state.site.nodes), sum(node.cards for node in state.site.nodes)
    inputs = Inputs((SHARE * watts,) * cards, (0.0,) * nodes)
    state = _tell(state, SetWatchdog(LOOP, 600.0), SetControl(LOOP, "direct"))
    for position in POSITIONS:
        state = _tell(state, SetValve(LOOP, position), Beat(LOOP))
        state = cooling.update(state, state.at + SETTLE_S, inputs)
        points += ["[[points]]", *(f"{name} = {cooling.sense(state, LOOP, quantity)}" for name, quantity in GAUGES)]
    return "\n".join(points) + "\n"


def _tell(state: State, *orders: Order) -> State:
    for order in orders:
        state = cooling.apply(state, order)
    return state

"""Small cooled sites for tests, and the way of time over them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import Inputs, State
from sim_hardware.plant.words import Happening, Order
from sim_hardware.rack import generate_rack
from sim_hardware.rack.shape import SimLoop

TICK = 0.5


def start_site(plant: str = "reference", nodes: int = 1, seed: int = 1) -> State:
    rack = generate_rack(nodes, 8)
    return cooling.start(replace(rack, sim=replace(rack.sim, loops={"cdu0": SimLoop(plant=plant)})), seed)


def load(state: State, share: float = 1.0, *dead: str) -> Inputs:
    """Every card at this share of 600 W."""
    return Inputs((600.0 * share,) * sum(node.cards for node in state.site.nodes), (600.0,) * len(state.nodes), frozenset(dead))


def run(state: State, until: float, inputs: Inputs, look: Callable[[State], None] = lambda _: None) -> tuple[State, list[Happening]]:
    """The state at `until`, and all that happened."""
    happened: list[Happening] = []
    while state.at < until:
        state = cooling.update(state, min(state.at + TICK, until, max(state.at, state.next_time)), inputs)
        happened += state.happened
        look(state)
    return state, happened


def give(state: State, *orders: Order) -> State:
    for order in orders:
        state = cooling.apply(state, order)
    return state


def read(state: State, subject: str, quantity: str) -> float:
    value = cooling.sense(state, subject, quantity)
    assert isinstance(value, float), f"{subject} {quantity} is {value!r}"
    return value


def list_kinds(happened: list[Happening], subject: str | None = None) -> list[str]:
    return [happening.kind for happening in happened if subject in {None, happening.subject}]

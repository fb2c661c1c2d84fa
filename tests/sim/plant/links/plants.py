"""What the tests of links share."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from sim_hardware.plant.links import Inputs, State, apply, sense, start, update
from sim_hardware.plant.words import Happening, Order
from sim_hardware.rack import generate_rack

FIRST, SECOND = "n0/card0/port0", "n0/card1/port1"
CABLE = f"cable/{FIRST}--{SECOND}"


def build(nodes: int = 1, cards: int = 8, seed: int = 1) -> State:
    return start(generate_rack(nodes, cards), seed)


def run(state: State, until: float, inputs: Inputs | None = None, step: float = 0.5) -> State:
    """As the world does: on a grid, and at what is due. Everything that happens is kept."""
    inputs = inputs or Inputs(traffic=(0.5,) * state.site.cards)
    happened = list(state.happened)
    while state.at < until:
        state = update(state, min(state.at + step, state.next_time, until), inputs)
        happened += state.happened
    return keep(state, tuple(happened))


def keep(state: State, happened: tuple[Happening, ...]) -> State:
    return replace(state, happened=happened)


def do(state: State, *orders: Order) -> State:
    happened = list(state.happened)
    for order in orders:
        state = apply(state, order)
        happened += state.happened
    return keep(state, tuple(happened))


def number(state: State, subject: str, quantity: str) -> float:
    value = sense(state, subject, quantity)
    assert isinstance(value, float)
    return value


def kinds(state: State) -> Sequence[str]:
    return [happening.kind for happening in state.happened]

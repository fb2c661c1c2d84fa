"""What an order means: whose it is, and whether its value is one that it can take."""

from __future__ import annotations

from msgspec.structs import replace

from sim_hardware.plant.cooling.cdu import Cdu
from sim_hardware.plant.cooling.site import LoopSite
from sim_hardware.plant.cooling.state import Node, State
from sim_hardware.plant.words import OrderError


def find_place(state: State, subject: str, kind: str) -> tuple[int, int]:
    """The places of a subject's owner and of itself. Raises OrderError when there is nothing of this kind."""
    found = state.site.places.get(subject)
    if found is None or found[0] != kind:
        some = next((name for name, place in state.site.places.items() if place[0] == kind), "none")
        raise OrderError(f"{subject}: no {kind} of this name is cooled here; the first is {some}")
    return found[1], found[2]


def find_loop(state: State, subject: str, kind: str) -> int:
    """The loop of a CDU, or of a node. Raises OrderError when the node has none."""
    place, _ = find_place(state, subject, kind)
    loop = place if kind == "cdu" else state.site.nodes[place].loop
    if loop < 0:
        raise OrderError(f"{subject} is cooled by air; give it a loop in the rack to let coolant run")
    return loop


def check_range(subject: str, name: str, value: float, low: float, high: float, unit: str) -> float:
    """The value. Raises OrderError when it is outside, or no number."""
    if not low <= value <= high:
        raise OrderError(f"{subject}: {name} {value:g} {unit}; give {low:g} to {high:g} {unit}")
    return value


def check_fan(state: State, node: str, fan: int) -> int:
    """The place of the fan's node. Raises OrderError when there is no such fan."""
    return find_place(state, f"{node}/fan{fan}", "fan")[0]


def check_pump(state: State, cdu: str, pump: int) -> int:
    """The place of the pump's CDU. Raises OrderError when there is no such pump."""
    return find_place(state, f"{cdu}/pump{pump}", "pump")[0]


def find_awake(state: State, subject: str) -> int:
    """The place of a CDU whose PLC can be told something. Raises OrderError when it has no power or still boots."""
    place = find_loop(state, subject, "cdu")
    cdu = state.cdus[place]
    if not cdu.live or state.at < cdu.controller.up_at:
        raise OrderError(f"{subject}: its PLC has no power or still boots; wait until it answers")
    return place


def put_cdu(state: State, place: int, cdu: Cdu) -> State:
    """The state with this CDU."""
    return replace(state, cdus=(*state.cdus[:place], cdu, *state.cdus[place + 1 :]))


def put_node(state: State, place: int, node: Node) -> State:
    """The state with this node."""
    return replace(state, nodes=(*state.nodes[:place], node, *state.nodes[place + 1 :]))


def measure_openness(state: State, loop: LoopSite) -> tuple[float, ...]:
    """By row, the share of all branches that is open."""
    return tuple(sum(state.site.nodes[place].share * state.nodes[place].branch.open for place in row) for row in loop.rows)


def find_closed(state: State, loop: LoopSite) -> frozenset[str]:
    """The nodes of a loop whose branch is closed."""
    return frozenset(state.site.nodes[place].name for row in loop.rows for place in row if state.nodes[place].branch.closed)

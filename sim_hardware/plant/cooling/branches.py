"""Branches that close or block, and leaks: what changes how the whole loop flows."""

from __future__ import annotations

from msgspec.structs import replace

from sim_hardware.plant.cooling.finding import find_closed, find_loop, find_place, measure_openness, put_cdu, put_node
from sim_hardware.plant.cooling.pumping import set_flow
from sim_hardware.plant.cooling.state import State
from sim_hardware.plant.cooling.telling import NO_FLOW, find_leaks, tell_leaks
from sim_hardware.plant.words import Happening


def change_branch(state: State, name: str, closed: bool | None = None, blocked: float | None = None) -> State:
    """The state with a node's branch closed or open, or blocked by this share."""
    place, _ = find_place(state, name, "node")
    number = find_loop(state, name, "node")
    node, before = state.nodes[place], state.nodes[place].branch
    branch = before
    if closed is not None:
        branch = replace(branch, closed=closed)
    if blocked is not None:
        branch = replace(branch, blocked=blocked)
    state = put_node(state, place, replace(node, branch=branch))
    loop = state.site.loops[number]
    cdu = set_flow(replace(state.cdus[number], openness=measure_openness(state, loop)), loop)
    state = tell_leak(put_cdu(state, number, cdu), number)
    if (branch.open < NO_FLOW) == (before.open < NO_FLOW):
        return state
    kind = "flow.lost" if branch.open < NO_FLOW else "flow.back"
    text = f"{name}: its branch is open to {branch.open:.0%}"
    return replace(state, happened=(*state.happened, Happening(state.at, kind, name, text, branch.open)))


def tell_leak(state: State, number: int) -> State:
    """The state after something changed about leaks or closed branches of a loop."""
    loop, cdu, told = state.site.loops[number], state.cdus[number], list[Happening]()
    leaks = find_leaks(cdu.faults, find_closed(state, loop))
    after = tell_leaks(cdu.told, leaks, loop.subject, state.at, told)
    return replace(put_cdu(state, number, replace(cdu, told=after)), happened=tuple(told))

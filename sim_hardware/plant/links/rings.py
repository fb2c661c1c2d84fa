"""What mode a ring runs in, by the graph of its links (R1 to R7, L11). Pure.

Every member's port 0 has to lead to port 1 of the next. When all links are up and make one closed cycle, but not this one, the
library takes the ring for a star (R7). When there is no closed cycle through all, it falls back to an all-reduce over the other
network (R6).

A ring of nodes that no cables of its own make runs over the switches (N1): it is closed while every node's NIC hangs on one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

SAR_RING, STAR, ALLREDUCE = "sar_ring", "star", "allreduce"

Across = Callable[[str], str]  # a port -> the port at the other end of a link that is up, or nothing


class RingState(msgspec.Struct, frozen=True):
    """A ring's mode; the port at which it is not as it should be; how many closed cycles there are."""

    mode: str = SAR_RING
    broken_at: str = ""
    cycles: int = 1


def trace_ring(order: Sequence[str], across: Across) -> RingState:
    """What the links make of the members of a ring."""
    wrong = [member for place, member in enumerate(order) if across(f"{member}/port0") != f"{order[(place + 1) % len(order)]}/port1"]
    if not wrong:
        return RingState()
    silent = [member for member in order if not across(f"{member}/port0")]
    cycles = _count_cycles(order, across)
    if silent or cycles != (1, len(order)):
        return RingState(ALLREDUCE, f"{(silent or wrong)[0]}/port0", cycles[0])
    return RingState(STAR, f"{wrong[0]}/port0", 1)


def trace_uplinks(order: Sequence[str], across: Across) -> RingState:
    """What the NICs' links make of a ring of nodes over switches."""
    silent = [port for member in order if not across(port := name_uplink(member)).startswith("switch/")]
    return RingState(ALLREDUCE, silent[0], 0) if silent else RingState()


def name_uplink(node: str) -> str:
    """The port with which a node hangs on the switches."""
    return f"{node}/nic/mlx5_0"


def _count_cycles(order: Sequence[str], across: Across) -> tuple[int, int]:
    """How many closed cycles there are, and the members in them. A member is left by the port at which it was not entered."""
    cycles, members, seen = 0, 0, set[str]()
    for start in order:
        path = [] if start in seen else _follow(start, frozenset(order), across)
        seen.update(path)
        if path and path[-1] == start:
            cycles, members = cycles + 1, members + len(path) - 1
    return cycles, members


def _follow(start: str, ring: frozenset[str], across: Across) -> list[str]:
    """The members from one on, until the link ends; it ends with the first again when it is closed."""
    path, port = [start], f"{start}/port0"
    while len(path) <= len(ring):
        entered = across(port)
        member, _, side = entered.rpartition("/")
        if entered == f"{start}/port1":
            return [*path, start]
        if member not in ring or member == start:
            break
        path.append(member)
        port = f"{member}/{'port0' if side == 'port1' else 'port1'}"
    return path

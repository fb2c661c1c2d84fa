"""`hccl_ring_check` and `hccl_ring_latency`: is the ring closed, and how long does a hop take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.arguments import UsageError, parse
from sim_hardware.devices.tools.gauges import read_number, read_text
from sim_hardware.devices.tools.words import Run, ToolState
from sim_hardware.rack.shape import Ring

CHECK_S, HOP_S = 0.8, 0.05  # ours


def hccl_ring_check(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """One line (R4, R5). `--ring NAME` asks for a ring by name; without it the widest one with this node. Codes: 0, 1 broken, 2 usage."""
    try:
        ring = _find_ring(parse(argv, frozenset({"--ring"}), frozenset()).get("--ring"), panel, node)
    except UsageError as error:
        return Run(2, err=f"hccl_ring_check: wrong argument: {error}\nusage: hccl_ring_check [--ring NAME]\n", seconds=0.01)
    subject = f"ring/{ring.name}"
    if read_number(panel, subject, "ring.closed") == 1.0 and read_text(panel, subject, "ring.mode") == "sar_ring":
        return Run(0, f"Ring status: OK, nodes: [{','.join(map(str, range(len(ring.order))))}]\n", seconds=CHECK_S)
    broken = read_text(panel, subject, "ring.broken_at", "")
    place = next((place for place, member in enumerate(ring.order) if broken == member or broken.startswith(f"{member}/")), None)
    if place is None:
        return Run(1, f"Ring status: UNKNOWN, mode: {read_text(panel, subject, 'ring.mode')}\n", seconds=CHECK_S)
    return Run(1, f"Ring broken at node {place}\n", seconds=CHECK_S)


def hccl_ring_latency(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """`--ring-size 8 --ring-order 0,1,...` (R8): each hop, and the worst of them. An order that is not the cabling's takes the long way."""
    try:
        options = parse(argv, frozenset({"--ring-size", "--ring-order", "--ring"}), frozenset())
        ring = _find_ring(options.get("--ring"), panel, node, widest=False)
        order = _read_order(options, len(ring.order))
    except UsageError as error:
        usage = "usage: hccl_ring_latency --ring-size N --ring-order 0,1,... [--ring NAME]"
        return Run(2, err=f"hccl_ring_latency: wrong argument: {error}\n{usage}\n", seconds=0.01)
    hops = [(one, other, _measure(panel, ring, one, other)) for one, other in pairwise([*order, order[0]])]
    lines = [f"Ring size: {len(order)}", f"Ring order: {','.join(map(str, order))}"]
    lines += [f"Hop {one}->{other}: {'timeout' if latency is None else f'{latency:.2f} us'}" for one, other, latency in hops]
    known = [latency for _, _, latency in hops if latency is not None]
    lines.append(f"Ring latency: {max(known):.2f} us" if len(known) == len(hops) else "Ring latency: timeout")
    return Run(0 if len(known) == len(hops) else 1, "\n".join(lines) + "\n", seconds=CHECK_S + HOP_S * len(hops))


def _find_ring(name: str | None, panel: Panel, node: str, widest: bool = True) -> Ring:
    """The ring by name, else the node's: between nodes (`widest`) or of its own cards. Raises UsageError."""
    mine = [ring for ring in panel.rack.rings if any(member.partition("/")[0] == node for member in ring.order)]
    mine.sort(key=lambda ring: (ring.level == "cluster") != widest)
    found = mine if name is None else [ring for ring in panel.rack.rings if ring.name == name]
    if not found:
        raise UsageError(f"no ring {name}" if name else f"no ring with {node}")
    return found[0]


def _read_order(options: dict[str, str], members: int) -> list[int]:
    """Raises UsageError when size and order disagree, or name members that are none."""
    words = options.get("--ring-order", ",".join(map(str, range(members)))).split(",")
    size = options.get("--ring-size", f"{len(words)}")
    if not all(word.isdecimal() and int(word) < members for word in words) or len(set(words)) < len(words):
        raise UsageError(f"--ring-order {','.join(words)}: members are 0 to {members - 1}, each once")
    if size != f"{len(words)}" or len(words) < 2:
        raise UsageError(f"--ring-size {size} with {len(words)} members in the order")
    return [int(word) for word in words]


def _measure(panel: Panel, ring: Ring, one: int, other: int) -> float | None:
    """From one member to another, us, the shorter way round; None when nothing comes back."""
    subject = f"ring/{ring.name}"
    if read_text(panel, subject, "ring.mode") != "sar_ring" or ring.level == "cluster":
        return read_number(panel, subject, "hop.latency")
    count = len(ring.order)
    step = 1 if (other - one) % count <= count // 2 else -1
    total, place = 0.0, one
    while place != other:
        following = (place + step) % count
        first, second = (place, following) if step == 1 else (following, place)
        ends = sorted((f"{ring.order[first]}/port0", f"{ring.order[second]}/port1"))
        latency = read_number(panel, f"cable/{'--'.join(ends)}", "hop.latency")
        latency = read_number(panel, subject, "hop.latency") if latency is None else latency
        if latency is None:
            return None
        total, place = total + latency, following
    return total

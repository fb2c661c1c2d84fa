"""How persistent memory wears: where writes go, and what happens past a block's budget.

Between two changes every block is written at a constant rate, so its wear is known by arithmetic and nothing is done until a change.
"""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.chance import draw_poisson, start_chance
from sim_hardware.plant.pool.shape import BUDGET_BYTES, WINDOW_S, WORN_ERRORS, Block, Node, State
from sim_hardware.plant.words import Happening

STEEP = 90.0  # how error rate rises with the share beyond the budget


def measure_written(node: Node, block: int, at: float) -> float:
    """Bytes written to a block until then."""
    one = node.blocks[block]
    return one.written + one.rate * (at - node.since)


def direct_writes(node: Node, up: bool) -> Node:
    """The node with its writes shared out: the skewed share to the hot block, the rest evenly.

    What a read-only block would have got goes to the least worn one, chosen when something changes and not in between.
    """
    open_blocks = [number for number, block in enumerate(node.blocks) if not block.read_only]
    rates = [0.0] * len(node.blocks)
    if open_blocks and node.mounted and up and node.writes:
        for number in open_blocks:
            rates[number] += node.writes * (1.0 - node.skew) / len(open_blocks)
        rates[_find_least_worn(node, open_blocks) if node.blocks[node.hot].read_only else node.hot] += node.writes * node.skew
    pairs = zip(node.blocks, rates, strict=True)
    blocks = [block if block.rate == rate else msgspec.structs.replace(block, rate=rate) for block, rate in pairs]
    return msgspec.structs.replace(node, blocks=tuple(blocks))


def _find_least_worn(node: Node, numbers: list[int]) -> int:
    """The first of those that are worn least, but for rounding: how time was cut must not decide."""
    least = min(node.blocks[number].written for number in numbers)
    return next(number for number in numbers if node.blocks[number].written <= least + 1e-9 * BUDGET_BYTES)


def find_next(state: State, number: int) -> float:
    """When the next block of a node is worn out, or its next read errors are drawn."""
    node, times = state.nodes[number], [math.inf]
    for block in node.blocks:
        if block.written >= BUDGET_BYTES:
            times.append((math.floor(state.at / WINDOW_S) + 1.0) * WINDOW_S)
        elif block.rate > 0.0:
            times.append(max(node.since + (BUDGET_BYTES - block.written) / block.rate, math.nextafter(state.at, math.inf)))
    return min(times)


def is_busy(node: Node) -> bool:
    """Whether its wear changes by itself."""
    return any(block.rate > 0.0 or block.written >= BUDGET_BYTES for block in node.blocks)


def settle_node(state: State, number: int) -> State:
    """A node's blocks brought to the state's time; what happened is told."""
    name, old = list(state.site.nodes)[number], state.nodes[number]
    blocks, news = list(old.blocks), list(state.happened)
    for place, before in enumerate(old.blocks):
        if before.rate == 0.0 and before.written < BUDGET_BYTES:
            continue
        block = blocks[place] = _wear(state, f"pool/{number}/{place}", before, old.since)
        subject = f"pool/{name}/pmem/block{place}"
        if before.written < BUDGET_BYTES <= block.written:
            news.append(Happening(state.at, "block.worn", subject, f"{subject} has used up its write budget.", 1.0))
        if block.errors and not before.errors:
            news.append(Happening(state.at, "block.read_error", subject, f"{subject} had its first read error.", float(block.errors)))
    node = msgspec.structs.replace(old, blocks=tuple(blocks), since=state.at)
    return msgspec.structs.replace(state, nodes=(*state.nodes[:number], node, *state.nodes[number + 1 :]), happened=tuple(news))


def _wear(state: State, name: str, block: Block, since: float) -> Block:
    """One block. No stretch goes past its budget; rounding must not keep it below."""
    seconds = state.at - since
    written = block.written + block.rate * seconds
    if block.written < BUDGET_BYTES:
        return msgspec.structs.replace(block, written=BUDGET_BYTES if written > BUDGET_BYTES * (1.0 - 1e-9) else written)
    mean_share = (block.written + written) / 2.0 / BUDGET_BYTES  # the error rate is linear in it, so that the mean is exact
    expected = block.expected + seconds * WORN_ERRORS * (1.0 + STEEP * (mean_share - 1.0))
    errors = block.errors
    if state.at % WINDOW_S == 0.0 and expected > 0.0:
        errors += draw_poisson(start_chance(state.site.seed, f"{name}/{state.at:.0f}"), expected)[1]
        expected = 0.0
    return msgspec.structs.replace(block, written=written, expected=expected, errors=errors)

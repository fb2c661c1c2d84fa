"""What can be measured of the pool: the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import msgspec

from sim_hardware.plant.chance import draw, start_chance
from sim_hardware.plant.pool.shape import BLOCKS, BUDGET_BYTES, DDR5_BYTES, DDR5_USED, HBM_BYTES, PMEM_BYTES, PMEM_USED, Snapshot, State
from sim_hardware.plant.pool.wear import measure_written
from sim_hardware.plant.words import Sensor, UnknownSensorError, Value

MOUNTED_GB_S, UNMOUNTED_GB_S = (1850.0, 2050.0), (1300.0, 1450.0)  # D4, D5
RATIOS = {"none": 1.0, "zstd": 1.42, "gzip": 1.38, "lz4": 1.19}  # of dense weights in bf16, ours (Q28)
TIERS = ("hbm", "ddr5", "pmem")


def sense(state: State, subject: str, quantity: str) -> Value:
    """The truth of one sensor. Raises UnknownSensorError."""
    if subject == "pool" and quantity in _POOL:
        return _POOL[quantity][1](state)
    root, _, rest = subject.partition("/")
    name, _, part = rest.partition("/")
    number = state.site.nodes.get(name)
    if root == "pool" and number is not None:
        tier, _, block = part.partition("/block")
        if not part and quantity in _NODE:
            return _NODE[quantity][1](state, number)
        if part in TIERS and quantity in _TIER:
            return _TIER[quantity][1](state, number, part)
        if tier == "pmem" and block.isdecimal() and int(block) < BLOCKS and quantity in _BLOCK:
            return _BLOCK[quantity][1](state, number, int(block))
    raise UnknownSensorError(f"{subject} has no sensor of {quantity} in the memory pool")


def sensors(state: State) -> Iterator[Sensor]:
    """Every one."""
    yield from (Sensor("pool", quantity, unit) for quantity, (unit, _) in _POOL.items())
    for name in state.site.nodes:
        yield from (Sensor(f"pool/{name}", quantity, unit) for quantity, (unit, _) in _NODE.items())
        for tier in TIERS:
            yield from (Sensor(f"pool/{name}/{tier}", quantity, unit) for quantity, (unit, _) in _TIER.items())
        for block in range(BLOCKS):
            yield from (Sensor(f"pool/{name}/pmem/block{block}", quantity, unit) for quantity, (unit, _) in _BLOCK.items())


def _measure_bandwidth(state: State, number: int) -> Value:
    """Read bandwidth of a node's pool, GB/s; another run finds another figure in its range. None while the node is not up."""
    if not state.inputs.up[number]:
        return None
    low, high = MOUNTED_GB_S if state.nodes[number].mounted else UNMOUNTED_GB_S
    return low + (high - low) * draw(start_chance(state.site.seed, f"pool/{number}/bandwidth/{state.at:.0f}"))[1]


def _measure_capacity(state: State, number: int, tier: str) -> float:
    cards = state.site.first[number + 1] - state.site.first[number]
    return {"hbm": HBM_BYTES * cards, "ddr5": DDR5_BYTES, "pmem": PMEM_BYTES}[tier]


def _measure_mounted(state: State, number: int, tier: str) -> float:
    return float(state.inputs.up[number] and (tier != "pmem" or state.nodes[number].mounted))


def _measure_used(state: State, number: int, tier: str) -> float:
    if not _measure_mounted(state, number, tier):
        return 0.0
    return state.sum_hbm(number) if tier == "hbm" else DDR5_USED * DDR5_BYTES if tier == "ddr5" else PMEM_USED * PMEM_BYTES


def _list_snapshots(state: State) -> str:
    return msgspec.json.encode([_describe(snapshot) for snapshot in state.snapshots]).decode()


def _describe(snapshot: Snapshot) -> dict[str, object]:
    size = snapshot.source / RATIOS[snapshot.compress]
    return {
        "name": snapshot.name,
        "at": snapshot.ended_at,
        "atomic": snapshot.atomic,
        "whole": snapshot.whole,
        "compress": snapshot.compress,
        "source_bytes": round(snapshot.source),
        "bytes": round(size),
    }


_POOL: dict[str, tuple[str, Callable[[State], Value]]] = {
    "pool.synced_at": ("s", lambda state: state.synced_at),
    "pool.snapshots": ("text", _list_snapshots),
    "pool.doing": ("text", lambda state: state.doing),
    "pool.until": ("s", lambda state: state.until if state.until < math.inf else None),
}
_NODE: dict[str, tuple[str, Callable[[State, int], Value]]] = {
    "pool.read_bandwidth": ("GB/s", _measure_bandwidth),
    "pool.atomic": ("1", lambda state, number: float(state.nodes[number].atomic)),
    "pool.writes": ("GB/s", lambda state, number: state.nodes[number].writes / 1e9),
}
_TIER: dict[str, tuple[str, Callable[[State, int, str], Value]]] = {
    "pool.capacity": ("B", _measure_capacity),
    "pool.used": ("B", _measure_used),
    "pool.mounted": ("1", _measure_mounted),
}
_BLOCK: dict[str, tuple[str, Callable[[State, int, int], Value]]] = {
    "block.written": ("B", lambda state, number, block: measure_written(state.nodes[number], block, state.at)),
    "block.wear": ("1", lambda state, number, block: measure_written(state.nodes[number], block, state.at) / BUDGET_BYTES),
    "block.read_only": ("1", lambda state, number, block: float(state.nodes[number].blocks[block].read_only)),
    "block.read_errors": ("1", lambda state, number, block: float(state.nodes[number].blocks[block].errors)),
}

"""What can be done to the pool, done."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import msgspec

from sim_hardware.plant.pool.orders import AllowAtomic, DropSnapshot, MountPmem, SetReadOnly, SkewWrites, SyncPool, WearBlock
from sim_hardware.plant.pool.orders import Snapshot as TakeSnapshot
from sim_hardware.plant.pool.shape import BLOCKS, BUDGET_BYTES, GIGA, Snapshot, State
from sim_hardware.plant.pool.updating import redirect, schedule
from sim_hardware.plant.pool.wear import settle_node
from sim_hardware.plant.words import Happening, Order, OrderError

SYNC_S = 2.0  # and what the bytes take, ours
SYNC_RATE = 1.9e12  # B/s of a node, between the pool's limits (D4)
PACKING = {
    "none": 4.25e9,
    "zstd": 10.5e9,
    "gzip": 2.1e9,
    "lz4": 11.0e9,
}  # B/s of the whole pool; 12 TB in 47 and 19 min (C12), gzip a fifth
MOST_WRITES = 2100.0  # GB/s (D4)


def apply(state: State, order: Order) -> State:
    """The state after an order, at the same time. Raises OrderError."""
    return schedule(_apply(order, msgspec.structs.replace(state, happened=())))


@singledispatch
def _apply(order: Order, state: State) -> State:
    raise OrderError(f"{type(order).__name__} is no order for the pool of {len(state.nodes)} nodes")


def _change(state: State, name: str, block: int | None = None, **fields: Any) -> State:
    """The state with these fields of a node, or of one of its blocks, and its writes shared out anew."""
    number = state.site.nodes.get(name)
    if number is None:
        raise OrderError(f"pool/{name}: no such node; there are {', '.join(list(state.site.nodes)[:4])} ...")
    state = settle_node(state, number)
    if block is not None:
        blocks = state.nodes[number].blocks
        fields = {"blocks": (*blocks[:block], msgspec.structs.replace(blocks[block], **fields), *blocks[block + 1 :])}
    node = msgspec.structs.replace(state.nodes[number], **fields)
    return redirect(msgspec.structs.replace(state, nodes=(*state.nodes[:number], node, *state.nodes[number + 1 :])), number)


def _change_block(state: State, name: str, block: int, **fields: Any) -> State:
    if not 0 <= block < BLOCKS:
        raise OrderError(f"pool/{name}/pmem/block{block}: no such block; there are 0 to {BLOCKS - 1}")
    return _change(state, name, block, **fields)


def _require(value: float, low: float, high: float, what: str) -> None:
    if not low <= value <= high:
        raise OrderError(f"{what} is {value:g}, outside {low:g} to {high:g}")


@_apply.register
def _mount(order: MountPmem, state: State) -> State:
    return _change(state, order.node, mounted=order.mounted)


@_apply.register
def _skew(order: SkewWrites, state: State) -> State:
    _require(order.gigabytes_per_s, 0.0, MOST_WRITES, f"pool/{order.node}: writes, GB/s,")
    _require(order.share, 0.0, 1.0, f"pool/{order.node}: share to one block")
    _require(order.block, 0, BLOCKS - 1, f"pool/{order.node}: block")
    return _change(state, order.node, writes=order.gigabytes_per_s * GIGA, skew=order.share, hot=order.block)


@_apply.register
def _set_read_only(order: SetReadOnly, state: State) -> State:
    return _change_block(state, order.node, order.block, read_only=order.read_only)


@_apply.register
def _wear(order: WearBlock, state: State) -> State:
    _require(order.share, 0.0, 10.0, f"pool/{order.node}/pmem/block{order.block}: wear, share of its budget,")
    state = _change_block(state, order.node, order.block, written=order.share * BUDGET_BYTES)
    if order.share < 1.0:
        return state
    subject = f"pool/{order.node}/pmem/block{order.block}"
    worn = Happening(state.at, "block.worn", subject, f"{subject} has used up its write budget.", order.share)
    return msgspec.structs.replace(state, happened=(worn,))


@_apply.register
def _allow(order: AllowAtomic, state: State) -> State:
    return _change(state, order.node, atomic=order.on)


def _require_idle(state: State, order: Order) -> None:
    if state.doing != "none":
        raise OrderError(f"pool: {type(order).__name__} while a {state.doing} runs until {state.until:.1f} s; wait for its end")
    down = [name for name, number in state.site.nodes.items() if not state.inputs.up[number]]
    if down:
        raise OrderError(f"pool: {type(order).__name__} needs all nodes up; {', '.join(down[:4])} of {len(state.nodes)} are not")


@_apply.register
def _sync(order: SyncPool, state: State) -> State:
    _require_idle(state, order)
    most = max((state.sum_hbm(number) for number in range(len(state.nodes))), default=0.0)
    return msgspec.structs.replace(state, doing="sync", until=state.at + SYNC_S + most / SYNC_RATE)


@_apply.register
def _snapshot(order: TakeSnapshot, state: State) -> State:
    """Without a sync before it there is nothing whole to take. An atomic one is that only where every node's kernel allows it."""
    _require_idle(state, order)
    if not order.name or order.name in {snapshot.name for snapshot in state.snapshots}:
        raise OrderError(f"pool: snapshot {order.name!r} has no name or is there already; give it another")
    if order.compress not in PACKING:
        raise OrderError(f"pool: snapshot {order.name}: no compression {order.compress!r}; there are {', '.join(PACKING)}")
    source = sum(state.inputs.memory)
    taking = Snapshot(
        name=order.name,
        began_at=state.at,
        atomic=order.atomic and all(node.atomic for node in state.nodes),
        compress=order.compress,
        source=source,
        whole=state.synced_at is not None,
    )
    return msgspec.structs.replace(state, doing="snapshot", taking=taking, until=state.at + 1.0 + source / PACKING[order.compress])


@_apply.register
def _drop(order: DropSnapshot, state: State) -> State:
    if order.name not in {snapshot.name for snapshot in state.snapshots}:
        raise OrderError(f"pool: there is no snapshot {order.name!r} to remove")
    left = tuple(snapshot for snapshot in state.snapshots if snapshot.name != order.name)
    return msgspec.structs.replace(state, snapshots=left)

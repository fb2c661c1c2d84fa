"""Faults of the memory pool. They show in the tree of its driver, and in how fast it reads."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import COUNTED_S
from sim_hardware.faults.reading import GarbledError, ReadingError, RefusedError, read_tree, run_tool
from sim_hardware.plant.pool import orders
from sim_hardware.plant.pool.shape import BLOCKS

_MOUNTED_TB_S = 1.6  # between what a pool reads with persistent memory (D4) and without (D5)


class HotBlock(Parameters, frozen=True):
    """Of writes."""

    gigabytes_per_s: Annotated[float, about("writes to persistent memory", "GB/s", 0.01, 2000.0)] = 20.0
    share: Annotated[float, about("share of them that goes to one block", "1", 0.0, 1.0)] = 0.9
    block: Annotated[int, about("which block", "1", 0, BLOCKS - 1)] = 0


class WornBlock(Parameters, frozen=True):
    """Of a block."""

    block: Annotated[int, about("which block", "1", 0, BLOCKS - 1)] = 0
    share: Annotated[float, about("share of its write budget that it has used", "1", 0.0, 1.2)] = 1.02


async def _see_unmounted(place: Place, _: Nothing) -> bool:
    """The pool reads slower."""
    run = await run_tool(place.rig, place.short, "dsmbandwidth", "-t", "read", "-s", "1GB")
    if run.rc:
        raise RefusedError(f"{place.target}: dsmbandwidth: {run.err}")
    words = run.out.partition("Bandwidth: ")[2].split()
    if len(words) != 2:
        raise GarbledError(f"{place.target}: dsmbandwidth prints {run.out!r}")
    return float(words[0]) < _MOUNTED_TB_S


async def _read(place: Place, path: str) -> int:
    """A number in the tree of the pool's driver."""
    text = await read_tree(place.rig, place.short, f"dsm/dsm0/{path}")
    if not text.isdecimal():
        raise ReadingError(f"{place.target}: {path} is {text!r}, no number")
    return int(text)


async def _see_hot(place: Place, it: HotBlock) -> bool:
    """The block takes at least half of what is due to it of the writes of a second."""
    paths = [f"block{block}/written_bytes" for block in range(BLOCKS)]
    first = [await _read(place, path) for path in paths]
    await asyncio.sleep(COUNTED_S)
    written = [await _read(place, path) - before for path, before in zip(paths, first, strict=True)]
    due = it.share + (1.0 - it.share) / BLOCKS
    return sum(written) > 0 and written[it.block] >= due / 2.0 * sum(written)


async def _see_worn(place: Place, it: WornBlock) -> bool:
    """Whole percents, rounded down."""
    percent = await _read(place, f"block{it.block}/wear_percent")
    return percent > 0 and percent + 1 >= 100.0 * it.share


async def _see_not_atomic(place: Place, _: Nothing) -> bool:
    """As a kernel comes, it allows none."""
    return await _read(place, "snapshot_atomic") == 0


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="pool.hot_block",
        text="Writes go to persistent memory, most of them to one block.",
        parameters=HotBlock,
        targets=("pool",),
        inject=give(lambda place, it: orders.SkewWrites(place.short, it.gigabytes_per_s, it.share, it.block)),
        lift=lift(lambda place: orders.SkewWrites(place.short, 0.0)),
        probe=_see_hot,
        takes_out=False,
    ),
    Kind(
        kind="pool.worn_block",
        text="A block has used a share of its write budget; what is worn stays so.",
        parameters=WornBlock,
        targets=("pool",),
        inject=give(lambda place, parameters: orders.WearBlock(place.short, parameters.block, parameters.share)),
        lift=lambda _, __: None,
        probe=_see_worn,
        undoable=False,
        danger="physical",
    ),
    Kind(
        kind="pool.unmounted",
        text="The persistent memory of a node is not mounted.",
        parameters=Nothing,
        targets=("pool",),
        inject=give(lambda place, _: orders.MountPmem(place.short, mounted=False)),
        lift=lift(lambda place: orders.MountPmem(place.short, mounted=True)),
        probe=_see_unmounted,
        danger="os",
    ),
    Kind(
        kind="pool.not_atomic",
        text="The kernel of a node does not allow atomic snapshots, so that one is torn without an error.",
        parameters=Nothing,
        targets=("pool",),
        inject=give(lambda place, _: orders.AllowAtomic(place.short, on=False)),
        lift=lift(lambda place: orders.AllowAtomic(place.short, on=True)),
        probe=_see_not_atomic,
        takes_out=False,
        danger="os",
    ),
)

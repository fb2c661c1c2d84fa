"""What is known of the pool: by node, by block of persistent memory, and what it is doing."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from sim_hardware.plant.words import Happening

GIGA = 1e9
HBM_BYTES = 96.0 * 2**30  # of one card (D1)
DDR5_BYTES = 2.0**40  # of a node (D1)
PMEM_BYTES = 2.0 * 2**40  # of a node (D1)
DDR5_USED, PMEM_USED = 0.35, 0.20  # shares, ours

BLOCKS = 64  # of a node's persistent memory, ours
WRITES_A_DAY, WARRANTY_DAYS = 60.0, 1825.0  # D8; five years, ours (Q11)
BUDGET_BYTES = PMEM_BYTES / BLOCKS * WRITES_A_DAY * WARRANTY_DAYS  # of one block
WORN_ERRORS = 0.02  # read errors of a block at the end of its budget, 1/s; ten times that one tenth later, ours
WINDOW_S = 60.0  # after which they are drawn

Doing = Literal["none", "sync", "snapshot"]


class Inputs(msgspec.Struct, frozen=True):
    """What holds from the state's time until the time of the update."""

    up: tuple[bool, ...]  # by node: it is on
    memory: tuple[float, ...]  # by card in rack order: used HBM, B
    writing: bool = True  # the job steps, and so changes what a snapshot reads


class Block(msgspec.Struct, frozen=True):
    """One block of persistent memory."""

    written: float = 0.0  # B, as at its node's `since`
    rate: float = 0.0  # B/s
    read_only: bool = False
    errors: int = 0  # in reading
    expected: float = 0.0  # errors since the last window


class Node(msgspec.Struct, frozen=True):
    """The part of the pool in one node."""

    blocks: tuple[Block, ...] = (Block(),) * BLOCKS
    mounted: bool = True  # its persistent memory, with DAX
    atomic: bool = False  # its kernel parameter; off as it comes (C9)
    writes: float = 0.0  # B/s
    skew: float = 0.0  # share of them that goes to one block
    hot: int = 0  # that block
    since: float = 0.0  # as of when its blocks are told


class Snapshot(msgspec.Struct, frozen=True):
    """One snapshot, taken or under way."""

    name: str
    began_at: float
    atomic: bool  # in effect: asked for, and allowed on all nodes
    compress: str
    source: float  # B
    whole: bool = True  # not torn
    ended_at: float | None = None


class Site(msgspec.Struct, frozen=True):
    """What never changes."""

    seed: int
    nodes: dict[str, int]
    first: tuple[int, ...]  # by node: its first card; one more at the end


class State(msgspec.Struct, frozen=True):
    """The pool at `at` seconds."""

    site: Site
    at: float
    next_time: float
    happened: tuple[Happening, ...]
    inputs: Inputs
    nodes: tuple[Node, ...]
    busy: tuple[int, ...] = ()  # nodes to whose persistent memory something is written, or with blocks that are worn out
    doing: Doing = "none"
    until: float = math.inf  # end of what it does
    synced_at: float | None = None
    snapshots: tuple[Snapshot, ...] = ()  # the newest last; that under way is `taking`
    taking: Snapshot | None = None

    def sum_hbm(self, number: int) -> float:
        """Used HBM of a node, B."""
        return sum(self.inputs.memory[self.site.first[number] : self.site.first[number + 1]])

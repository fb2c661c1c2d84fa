"""What can be done to the memory pool. Subjects: `pool/n0/hbm`, `pool/n0/ddr5`, `pool/n0/pmem`, and blocks `pool/n0/pmem/block12`."""

from __future__ import annotations

from sim_hardware.plant.words import Order


class MountPmem(Order, frozen=True):
    """Mount a node's persistent memory with DAX, or unmount it."""

    node: str
    mounted: bool


class SkewWrites(Order, frozen=True):
    """Writes go to the pool's persistent memory at so many GB/s, this share of them to one block; 0 is none."""

    node: str
    gigabytes_per_s: float
    share: float = 0.0
    block: int = 0


class SetReadOnly(Order, frozen=True):
    """Make a block read-only, so that its writes go elsewhere."""

    node: str
    block: int
    read_only: bool


class WearBlock(Order, frozen=True):
    """A block has used this share of its write budget."""

    node: str
    block: int
    share: float


class SyncPool(Order, frozen=True):
    """Bring the HBM of all cards into the pool (dsm_sync_all)."""


class Snapshot(Order, frozen=True):
    """Take a snapshot of the pool under a name; without `atomic` it may be torn."""

    name: str
    atomic: bool
    compress: str = "zstd"


class DropSnapshot(Order, frozen=True):
    """Remove a snapshot that was taken."""

    name: str


class AllowAtomic(Order, frozen=True):
    """The kernel parameter dsm_snapshot_atomic of a node."""

    node: str
    on: bool

"""`/sys/class/dsm` of a node: `dsm0` is its part of the memory pool, with its tiers and the blocks of its persistent memory.

No public driver shows a pool, so the layout is ours. It shows what must be watched of one: whether snapshots are atomic (C9), how much
of its write budget a block has used (D8, Q11), and which blocks are read-only (D9). One value a file, and numbers as the kernel's own
drivers write them; `wear_percent` ends at 255 as Percentage Used of a drive does (NVM Express 2.0, SMART log). What is no number
cannot be read: EIO.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Callable, Iterator

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.sysfs.attributes import Attribute, Store, clip, fail, give_order, parse_number, sense
from sim_hardware.plant.links.widths import WIDE
from sim_hardware.plant.pool.orders import AllowAtomic, SetReadOnly
from sim_hardware.plant.pool.shape import BLOCKS
from sim_hardware.plant.words import Order

TIERS = ("hbm", "ddr5", "pmem")
MOST_WORN = 255  # %


def list_dsm(node: str) -> Iterator[tuple[str, Attribute]]:
    """Every attribute below `/sys/class/dsm`."""
    pool = f"pool/{node}"
    yield "dsm0/snapshot_atomic", _show(pool, "pool.atomic", 1, store=_take_flag(lambda on: AllowAtomic(node, on)))
    yield "dsm0/pmem_mounted", _show(f"{pool}/pmem", "pool.mounted", 1)
    for tier in TIERS:
        yield f"dsm0/{tier}/capacity_bytes", _show(f"{pool}/{tier}", "pool.capacity")
        yield f"dsm0/{tier}/used_bytes", _show(f"{pool}/{tier}", "pool.used")
    for block in range(BLOCKS):
        for name, attribute in _list_block(node, block):
            yield f"dsm0/block{block}/{name}", attribute


def _list_block(node: str, block: int) -> Iterator[tuple[str, Attribute]]:
    subject = f"pool/{node}/pmem/block{block}"
    yield "wear_percent", _show(subject, "block.wear", MOST_WORN, 100.0)
    yield "written_bytes", _show(subject, "block.written")
    yield "read_only", _show(subject, "block.read_only", 1, store=_take_flag(lambda on: SetReadOnly(node, block, on)))
    yield "read_errors", _show(subject, "block.read_errors")


def _show(subject: str, quantity: str, most: int = (1 << WIDE) - 1, times: float = 1.0, store: Store | None = None) -> Attribute:
    """A whole number from 0 to `most`."""

    def show(panel: Panel) -> str:
        value = sense(panel, subject, quantity)
        if not isinstance(value, int | float) or math.isnan(value):
            fail(errno.EIO)
        return str(most if value * times >= most else int(clip(value * times, 0.0, most)))

    return Attribute(show, store)


def _take_flag(make: Callable[[bool], Order]) -> Store:
    def store(panel: Panel, text: str) -> None:
        number = parse_number(text)
        if number > 1:
            fail(errno.EINVAL)
        give_order(panel, make(number == 1))

    return store

"""How wide the registers are in which a port counts.

An HCA has two sets (InfiniBand Architecture 1.4, 16.1.3.5 PortCounters and 16.1.4.11 PortCountersExtended): the narrow ones stay
at their ceiling for ever. The registers of an Ethernet interface, and whatever is not named here, have 64 bits (IEEE 802.3, 30.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WIDE = 64
PMA_BITS: Mapping[str, int] = MappingProxyType(
    {
        "link.symbol_errors": 16,
        "link.receive_errors": 16,
        "link.discards": 16,
        "link.recoveries": 8,
        "link.downed": 8,
        "link.waits": 32,
        "x.local_link_integrity_errors": 4,
        "x.excessive_buffer_overrun_errors": 4,
    }
)


def saturate(count: float, bits: int = WIDE) -> int:
    """What a register of so many bits shows for a total."""
    return min(int(count), (1 << bits) - 1)


def saturate_pma(quantity: str, count: float) -> int:
    """What the HCA's register of this quantity shows for a total."""
    return saturate(count, PMA_BITS.get(quantity, WIDE))

"""The table `[plugins.fabric]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec


class FabricSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the trees are, what is left out, and what a driver's names mean here."""

    infiniband: str = "/sys/class/infiniband"  # the folder that holds the HCAs
    ethernet: str = "/sys/class/net"
    period_s: Annotated[float, msgspec.Meta(ge=0.1, le=3600)] | None = None  # seconds; None = limits.link.poll_s (L1)
    subjects: Mapping[str, str] = {}  # "mlx5_0/1" or "eth0" -> subject; what is not named here is `<node>/nic/<device>`
    interfaces: tuple[str, ...] = ()  # shell patterns; empty = those with a device behind them
    exclude: tuple[str, ...] = ()  # shell patterns of HCAs and interfaces that are not read

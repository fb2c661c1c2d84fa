"""The table `[plugins.fabric]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from supernoded_fabric.switch import SwitchSettings

Period = Annotated[float, msgspec.Meta(ge=0.1, le=3600)]  # seconds


class FabricSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the trees are, which tools are asked how often, what is left out, and what a driver's names mean here; numbers are ours."""

    infiniband: str = "/sys/class/infiniband"  # the folder that holds the HCAs
    ethernet: str = "/sys/class/net"
    period_s: Period | None = None  # of both trees and `ethtool -S`; None = limits.link.poll_s (L1)
    own_s: Period = 60.0  # counters of InfiniBand drivers that have no name in the vocabulary
    subjects: Mapping[str, str] = {}  # "mlx5_0/1" or "eth0" -> subject; what is not named here is `<node>/nic/<device>`
    interfaces: tuple[str, ...] = ()  # shell patterns; empty = those with a device behind them
    exclude: tuple[str, ...] = ()  # shell patterns of HCAs and interfaces that are not read
    ethtool: tuple[str, ...] = ("ethtool",)  # program and leading arguments; empty = it is never run. So with those below
    module_s: Period = 60.0  # `ethtool -m` and `--show-fec`; a module's page comes over a slow bus
    mlxlink: tuple[str, ...] = ("mlxlink",)
    mlxlink_s: Period = 30.0
    lldp: tuple[str, ...] = ("lldpcli",)
    lldp_s: Period = 15.0  # a neighbour tells of itself every 30 s (IEEE 802.1AB, msgTxInterval); twice as often is seen soon
    neighbours: Mapping[str, str] = {}  # "leaf1/Ethernet12", or a port's name alone -> subject, such as "switch/s1/port12"
    within_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 8.0  # seconds for one run of a tool
    kernel_log: bool = True  # needs CAP_SYSLOG where the kernel restricts its log
    kernel_s: Period = 5.0
    switches: Mapping[str, SwitchSettings] = {}  # by name, as the topology names them

"""The table `[plugins.snmp]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

Seconds = Annotated[float, msgspec.Meta(ge=0.5, le=3600)]


class DeviceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[plugins.snmp.devices."ups/A"]`: a second view of a device that the topology reaches in another way."""

    url: str  # snmp://host:161?version=2c&profile=apc-rpdu2&place=1&community_file=/path&write_community_file=/path&serial=...
    orders: bool = False  # orders to this device go this way too


class SnmpSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How agents are asked, how often, and which beside those of the topology."""

    ups_period_s: Seconds = 2.0
    pdu_period_s: Seconds = 5.0
    within_s: Annotated[float, msgspec.Meta(ge=0.05, le=5)] = 1.0  # that one answer may take
    community_file: str = ""  # of devices whose URL names none; empty = `public`
    write_community_file: str = ""  # the same for orders; empty = none can be given
    profiles: tuple[str, ...] = ()  # paths of profiles of your own
    devices: Mapping[str, DeviceSettings] = {}

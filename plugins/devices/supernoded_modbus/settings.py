"""The table `[plugins.modbus]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta


class ViewSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[plugins.modbus.views.<name>]`: a second view of a device that the topology reaches by another wire."""

    subject: str  # ups/A, pdu/A1, cdu/0
    wire: str
    orders: bool = False  # orders to the PDU or CDU go here


class ModbusSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Register maps, serial numbers, and devices beside those of the topology."""

    maps_folder: str = ""  # folder of a site's own maps; one of the same name wins over ours
    serials: Mapping[str, str] = {}  # subject -> serial number; wins over `serial=` in its wire
    views: Mapping[str, ViewSettings] = {}
    fastest_s: Annotated[float, Meta(ge=0.1, le=3600.0)] = 1.0  # seconds; nothing is polled oftener
    line_s: Annotated[float, Meta(ge=1.0, le=3600.0)] = 5.0  # seconds between two looks at the counts of lines
    broadcast: bool = True  # a shed is fired for all PDUs of a line at once, where every armed group is as it should be

"""The table `[plugins.redfish]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec


class BmcSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[plugins.redfish.bmcs.<name>]`: one BMC, and how one is let in."""

    url: str  # https://host or https://host:port
    user: str = ""
    password_file: str = ""  # file with the password and nothing else
    ca_file: str = ""  # who signs its certificate; empty = those the machine trusts
    insecure: bool = False  # any certificate will do, and the password may go over http
    node: str = ""  # whose BMC it is; empty = this node's
    link_monitor: str = ""  # path of the monitor below /redfish/v1; empty = as the Manager's Oem part links to it
    ports: Mapping[str, str] = {}  # "Card0/1" (adapter/port) -> subject; what is not named here is `<node>/nic/<adapter>/port<port>`


class RedfishSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which BMCs are asked, and how often."""

    period_s: Annotated[float, msgspec.Meta(ge=1, le=3600)] | None = None  # seconds; None = limits.link.poll_s (L1)
    bmcs: Mapping[str, BmcSettings] = {}

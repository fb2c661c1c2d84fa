"""The table `[plugins.redfish]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

Seconds = Annotated[float, msgspec.Meta(ge=1, le=3600)]


class BmcSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[plugins.redfish.bmcs.<name>]`: one BMC, and how one is let in."""

    url: str  # https://host or https://host:port
    user: str = ""
    password_file: str = ""  # file with the password and nothing else
    ca_file: str = ""  # who signs its certificate; empty = those the machine trusts
    insecure: bool = False  # any certificate will do, and the password may go over http
    node: str = ""  # whose BMC it is; empty = this node's
    monitor: bool = True  # read its link monitor
    caps: bool = False  # read and cap the power of the node's cards through it
    heat: bool = False  # read its temperatures, fans, air, coolant and leak detectors
    fans: bool = False  # order its fans to full speed, and back
    link_monitor: str = ""  # path of the monitor below /redfish/v1; empty = as the Manager's Oem part links to it
    ports: Mapping[str, str] = {}  # "Card0/1" (adapter/port) -> subject; what is not named here is `<node>/nic/<adapter>/port<port>`
    cards: Mapping[str, str] = {}  # "Card0" (a processor's Id) -> subject; none = accelerators in the order of their numbers


class PduSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[plugins.redfish.pdus.<name>]`: how one is let in to a PDU of the topology, and where it is if the topology says another way."""

    url: str = ""  # https://host[:port][/path of the PDU]; empty = as the topology's wire has it, redfish+https://...
    user: str = ""
    password_file: str = ""
    ca_file: str = ""
    insecure: bool = False
    orders: bool = False  # orders go this way although the topology's wire is another
    outlets: Mapping[str, int] = {}  # an outlet's Id -> its number; what is not named here has the number that its Id ends in


class CduSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[plugins.redfish.cdus.<name>]`: how one is let in to a loop's cooling unit, and where it is if the topology says another way."""

    url: str = ""  # https://host[:port][/path of the unit]; empty = as the loop's wire has it, redfish+https://...
    user: str = ""
    password_file: str = ""
    ca_file: str = ""
    insecure: bool = False
    orders: bool = False  # it is steered this way although the topology's wire is another
    serial: str = ""  # serial number that it must have before anything is written; empty = any
    setpoint_control: str = ""  # path of the Control of its supply temperature; empty = as it is found
    mode_control: str = ""  # path of the Control that says who controls it; empty = as it is found


class RedfishSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which BMCs, PDUs and cooling units are asked, and how often."""

    period_s: Seconds | None = None  # seconds; None = limits.link.poll_s (L1)
    cap_period_s: Seconds = 30.0
    pdu_period_s: Seconds = 10.0
    heat_period_s: Seconds = 5.0
    cdu_period_s: Seconds = 2.0
    bmcs: Mapping[str, BmcSettings] = {}
    pdus: Mapping[str, PduSettings] = {}
    cdus: Mapping[str, CduSettings] = {}

"""Which PDUs this plugin serves: those of the topology whose wire is `redfish+https`, and second views of the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from supernoded.plugin import Node, PluginError
from supernoded_redfish.rack_pdu import RackPdu
from supernoded_redfish.settings import PduSettings, RedfishSettings

SCHEMES = {"redfish+https": "https", "redfish+http": "http"}


@dataclass(frozen=True)
class Served:
    """One PDU, and what the topology says of it."""

    pdu: RackPdu
    feed: str
    outlets: tuple[int, ...]
    orders: bool


def open_pdus(settings: RedfishSettings, node: Node) -> Iterator[Served]:
    """Each of them. Raises PluginError for a PDU that nobody knows, WireError for a URL that is none."""
    unknown = sorted(settings.pdus.keys() - {pdu.name for pdu in node.topology.pdus})
    if unknown:
        raise PluginError(f"[plugins.redfish.pdus] {', '.join(unknown)}: the topology has no such PDU")
    for pdu in node.topology.pdus:
        wired = pdu.wire.split(":", 1)[0] in SCHEMES
        door = settings.pdus.get(pdu.name, PduSettings())
        if wired or door.url:
            numbers = tuple(outlet.number for outlet in pdu.outlets)
            yield Served(_open(f"pdu/{pdu.name}", door.url or pdu.wire, door, node), pdu.feed, numbers, wired or door.orders)


def _open(subject: str, url: str, door: PduSettings, node: Node) -> RackPdu:
    """The path behind the host is that of the PDU in its service."""
    parts = urlsplit(url)
    if parts.query or "@" in parts.netloc:
        raise PluginError(
            f"{subject}: write redfish+https://host[:port][/path]; user and password_file stand in [plugins.redfish.pdus.NAME]"
        )
    base = f"{SCHEMES.get(parts.scheme, parts.scheme)}://{parts.netloc}"
    http = node.wires.http(base, user=door.user, password_file=door.password_file, ca_file=door.ca_file, insecure=door.insecure)
    return RackPdu(subject, http, parts.path, door.outlets)

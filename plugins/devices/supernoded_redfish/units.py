"""Which cooling units this plugin serves: those of the topology whose wire is `redfish+https`, and second views of the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from supernoded.plugin import ClosedHandle, Handle, Node, PluginError
from supernoded_redfish.pdus import SCHEMES
from supernoded_redfish.setpoint import SetpointHandle
from supernoded_redfish.settings import CduSettings, RedfishSettings
from supernoded_redfish.unit import CoolingUnit

DIRECT = "direct"  # authority over a loop
NO_DIRECT = (
    "there is no watchdog in Redfish, so direct authority is refused (safety rule 15); "
    "set authority = setpoint, or reach the unit another way"
)


@dataclass(frozen=True)
class ServedUnit:
    """One unit, how one is let in, and whether it is to be steered this way."""

    unit: CoolingUnit
    door: CduSettings
    direct: bool
    orders: bool

    def make_handles(self, node: Node) -> Iterator[Handle]:
        """What loops may turn; what `direct` wants is refused by the handle itself, so that it is told why."""
        if not self.orders:
            return
        handle_unit = CoolingUnit(self.unit.cdu, self.unit.http, node.clock, self.unit.given)  # a reader of its own: rounds are not shared
        yield SetpointHandle(handle_unit, self.door, node.wires.tree(str(node.state.absolute())))
        if self.direct:
            yield ClosedHandle(f"{self.unit.cdu}/valve", "coolant.valve", NO_DIRECT)
            yield ClosedHandle(f"{self.unit.cdu}/pump", "coolant.pump_speed", NO_DIRECT)


def open_units(settings: RedfishSettings, node: Node) -> Iterator[ServedUnit]:
    """Each of them. Raises PluginError for a loop that nobody knows, WireError for a URL that is none."""
    unknown = sorted(settings.cdus.keys() - {loop.name for loop in node.topology.loops})
    if unknown:
        raise PluginError(f"[plugins.redfish.cdus] {', '.join(unknown)}: the topology has no such loop")
    for loop in node.topology.loops:
        wired = loop.wire.split(":", 1)[0] in SCHEMES
        door = settings.cdus.get(loop.name, CduSettings())
        if wired or door.url:
            unit = _open(loop.subject, door.url or loop.wire, door, node)
            yield ServedUnit(unit, door, loop.authority.value == DIRECT, wired or door.orders)


def _open(cdu: str, url: str, door: CduSettings, node: Node) -> CoolingUnit:
    """The path behind the host is that of the unit in its service."""
    parts = urlsplit(url)
    if parts.query or "@" in parts.netloc:
        raise PluginError(f"{cdu}: write redfish+https://host[:port][/path]; user and password_file stand in [plugins.redfish.cdus.NAME]")
    base = f"{SCHEMES.get(parts.scheme, parts.scheme)}://{parts.netloc}"
    http = node.wires.http(base, user=door.user, password_file=door.password_file, ca_file=door.ca_file, insecure=door.insecure)
    return CoolingUnit(cdu, http, node.clock, parts.path)

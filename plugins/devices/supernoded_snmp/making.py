"""The parts: what is made of the topology's devices and of those that the settings name beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from supernoded.plugin import Actuator, Node, OutletSwitch, PluginError, Sensor
from supernoded_snmp.address import SCHEME, parse_address
from supernoded_snmp.device import Device
from supernoded_snmp.outlets import SnmpOutlets
from supernoded_snmp.profile import load_profiles
from supernoded_snmp.sensor import SnmpSensor
from supernoded_snmp.settings import SnmpSettings


@dataclass(frozen=True)
class Served:
    """A device that this plugin serves."""

    subject: str
    url: str
    feed: str
    orders: bool = True

    @property
    def takes_orders(self) -> bool:
        """Whether it is a PDU that takes orders this way."""
        return self.orders and self.subject.startswith("pdu/")


def list_served(settings: SnmpSettings, node: Node) -> Iterator[Served]:
    """Those of the topology whose wire is SNMP, then the second views. Raises PluginError for a device that nobody knows."""
    site = node.topology
    devices = {f"ups/{ups.name}": Served(f"ups/{ups.name}", ups.wire, ups.name) for ups in site.ups}
    for pdu in site.pdus:
        devices[f"pdu/{pdu.name}"] = Served(f"pdu/{pdu.name}", pdu.wire, pdu.feed)
    wired = {subject for subject, one in devices.items() if one.url.startswith(f"{SCHEME}:")}
    yield from (devices[subject] for subject in sorted(wired))
    for subject, view in settings.devices.items():
        known = devices.get(subject)
        if known is None or subject in wired:
            why = "the topology reaches it over SNMP already" if known else f"the topology has {', '.join(devices) or 'no UPS and no PDU'}"
            raise PluginError(f"[plugins.snmp.devices] {subject!r}: {why}")
        yield Served(subject, view.url, known.feed, view.orders)


def make_sensors(settings: SnmpSettings, node: Node) -> Iterator[Sensor]:
    """One for each device, in the scope of its feed."""
    for served in list_served(settings, node):
        period = settings.ups_period_s if served.subject.startswith("ups/") else settings.pdu_period_s
        yield SnmpSensor(_open(served, settings, node, "sensor"), node.clock, f"feed/{served.feed}", period, settings.within_s)


def make_actuators(settings: SnmpSettings, node: Node) -> Iterator[Actuator]:
    """One for each PDU that takes orders this way. None sheds: no group here closes again by itself (safety rule 7)."""
    for served in list_served(settings, node):
        if served.takes_orders:
            yield OutletSwitch(SnmpOutlets(_open(served, settings, node, "orders"), node.clock))


def _open(served: Served, settings: SnmpSettings, node: Node, use: str) -> Device:
    address = parse_address(served.subject, served.url, settings)
    return Device(served.subject, address, node, load_profiles(settings.profiles), settings.within_s, use)

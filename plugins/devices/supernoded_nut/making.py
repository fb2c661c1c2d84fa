"""The parts: what is made of the topology's devices and of those that the settings name beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from supernoded.plugin import Actuator, Node, OutletSwitch, PluginError, Sensor
from supernoded_nut.outlets import NutOutlets
from supernoded_nut.place import is_nut, parse_place
from supernoded_nut.sensor import DeviceSensor, Key
from supernoded_nut.server import open_server
from supernoded_nut.settings import NutSettings


class Served(NamedTuple):
    """A device that this plugin serves. `known` is what is told of it even before it was ever read."""

    name: str
    wire: str
    feed: str
    known: tuple[Key, ...]
    orders: bool = False

    @property
    def subject(self) -> str:
        """`ups/A`, `pdu/A1`."""
        return self.known[0].subject


def list_served(settings: NutSettings, node: Node) -> Iterator[Served]:
    """Those of the topology whose wire is NUT, then the second views. Raises PluginError for a device that nobody knows."""
    devices = {served.subject: served for served in _list_described(node)}
    yield from (served for served in devices.values() if is_nut(served.wire))
    for subject, wire in settings.views.items():
        if subject not in devices:
            raise PluginError(f"[plugins.nut.views] {subject!r}: the topology has {', '.join(devices) or 'no UPS and no PDU'}")
        yield devices[subject]._replace(name=f"nut.view.{subject}", wire=wire, orders=False)


def _list_described(node: Node) -> Iterator[Served]:
    for ups in node.topology.ups:
        subject = f"ups/{ups.name}"
        yield Served(f"nut.{subject}", ups.wire, ups.name, (Key(subject, "ups.status", "flags"),))
    for pdu in node.topology.pdus:
        subject = f"pdu/{pdu.name}"
        outlets = (Key(f"{subject}/outlet{outlet.number}", "outlet.state", "text") for outlet in pdu.outlets)
        yield Served(f"nut.{subject}", pdu.wire, pdu.feed, (Key(subject, "pdu.power", "W"), *outlets), orders=True)


def make_sensors(settings: NutSettings, node: Node) -> Iterator[Sensor]:
    """One for each device, in the scope of its feed. Raises WireError, PluginError."""
    for served in list_served(settings, node):
        place = parse_place(served.wire)
        server = open_server(place, settings, node)
        yield DeviceSensor(served.name, f"feed/{served.feed}", settings.poll_s, node.clock, server, place.name, served.known)


def make_actuators(settings: NutSettings, node: Node) -> Iterator[Actuator]:
    """One for each PDU of the topology. Raises WireError, PluginError."""
    for served in list_served(settings, node):
        if served.orders:
            place = parse_place(served.wire)
            yield OutletSwitch(NutOutlets(served.subject, open_server(place, settings, node), place.name))

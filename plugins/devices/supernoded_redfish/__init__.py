"""Devices that speak Redfish: the BMCs of nodes (link monitor, power of cards, heat, fans), rack PDUs (outlets) and cooling units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from supernoded.plugin import Actuator, Check, Handle, Node, OutletSwitch, Sensor, hookimpl
from supernoded_redfish.bmc import Bmc, open_bmcs
from supernoded_redfish.cap_sensor import CapSensor
from supernoded_redfish.capping import PowerCap
from supernoded_redfish.cards import Cards
from supernoded_redfish.chassis import Heat
from supernoded_redfish.check import LinkMonitorCheck
from supernoded_redfish.fan_order import FanOrder
from supernoded_redfish.fans import Fans
from supernoded_redfish.heat_sensor import HeatSensor
from supernoded_redfish.pdu_sensor import PduSensor
from supernoded_redfish.pdus import open_pdus
from supernoded_redfish.sensor import LinkMonitorSensor
from supernoded_redfish.settings import RedfishSettings
from supernoded_redfish.unit_sensor import UnitSensor
from supernoded_redfish.units import open_units


@hookimpl
def supernoded_settings() -> type[RedfishSettings]:
    """`[plugins.redfish]`."""
    return RedfishSettings


@hookimpl
def supernoded_sensors(settings: RedfishSettings, node: Node) -> Sequence[Sensor]:
    """Of each BMC one for each thing that is asked of it, one per PDU, one per cooling unit."""
    units = [UnitSensor(one.unit, settings.cdu_period_s) for one in open_units(settings, node)]
    return [*_make_bmc_sensors(settings, node), *_make_pdu_sensors(settings, node), *units]


@hookimpl
def supernoded_handles(settings: RedfishSettings, node: Node) -> Sequence[Handle]:
    """The setpoints of cooling units."""
    return [handle for one in open_units(settings, node) for handle in one.make_handles(node)]


@hookimpl
def supernoded_actuators(settings: RedfishSettings, node: Node) -> Sequence[Actuator]:
    """Caps and fans of nodes, and outlets one by one; nothing sheds this way (safety rule 7)."""
    state = node.wires.tree(str(node.state.absolute()))
    bmcs = list(open_bmcs(settings, node))
    caps = [PowerCap(_open_cards(bmc), state) for bmc in bmcs if bmc.settings.caps]
    fans = [FanOrder(Fans(bmc.http, node.clock, bmc.node), state) for bmc in bmcs if bmc.settings.fans]
    return [*caps, *fans, *(OutletSwitch(one.pdu) for one in open_pdus(settings, node) if one.orders)]


@hookimpl
def supernoded_checks(settings: RedfishSettings, node: Node) -> Sequence[Check]:
    """Whether the link monitor is on (L4)."""
    return [LinkMonitorCheck(tuple(bmc for bmc in open_bmcs(settings, node) if bmc.settings.monitor))]


def _make_bmc_sensors(settings: RedfishSettings, node: Node) -> Iterator[Sensor]:
    for bmc in open_bmcs(settings, node):
        if bmc.settings.monitor:
            yield LinkMonitorSensor(bmc, node.clock, settings.period_s or node.limits.link.poll_s)
        if bmc.settings.caps:
            yield CapSensor(bmc.name, _open_cards(bmc), node.clock, settings.cap_period_s)
        if bmc.settings.heat:
            slots = sum(one.cards for one in node.topology.nodes if one.name == bmc.node)
            yield HeatSensor(bmc.name, Heat(bmc.http, node.clock, bmc.node, bmc.settings.cards, slots), node.clock, settings.heat_period_s)


def _make_pdu_sensors(settings: RedfishSettings, node: Node) -> Iterator[Sensor]:
    for one in open_pdus(settings, node):
        yield PduSensor(one.pdu, one.outlets, node.clock, f"feed/{one.feed}", settings.pdu_period_s)


def _open_cards(bmc: Bmc) -> Cards:
    return Cards(bmc.http, bmc.node, bmc.settings.cards)

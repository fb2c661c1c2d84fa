"""Devices that speak Redfish: the BMCs of nodes (link monitor, power of cards) and rack PDUs (outlets)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from supernoded.plugin import Actuator, Check, Node, OutletSwitch, Sensor, ShedRecord, ShedSensor, StagedShed, hookimpl
from supernoded_redfish.bmc import Bmc, open_bmcs
from supernoded_redfish.cap_sensor import CapSensor
from supernoded_redfish.capping import PowerCap
from supernoded_redfish.cards import Cards
from supernoded_redfish.check import LinkMonitorCheck
from supernoded_redfish.pdu_sensor import PduSensor
from supernoded_redfish.pdus import open_pdus
from supernoded_redfish.sensor import LinkMonitorSensor
from supernoded_redfish.settings import RedfishSettings


@hookimpl
def supernoded_settings() -> type[RedfishSettings]:
    """`[plugins.redfish]`."""
    return RedfishSettings


@hookimpl
def supernoded_sensors(settings: RedfishSettings, node: Node) -> Sequence[Sensor]:
    """One sensor per link monitor, one per node whose cards are capped, two per PDU."""
    return [*_make_bmc_sensors(settings, node), *_make_pdu_sensors(settings, node)]


@hookimpl
def supernoded_actuators(settings: RedfishSettings, node: Node) -> Sequence[Actuator]:
    """Caps of nodes, outlets one by one, and sheds that go outlet by outlet."""
    state = node.wires.tree(str(node.state.absolute()))
    caps = [PowerCap(_open_cards(bmc), state) for bmc in open_bmcs(settings, node) if bmc.settings.caps]
    served = [one for one in open_pdus(settings, node) if one.orders]
    sheds = [StagedShed(one.pdu, one.sheddable, ShedRecord(one.pdu.pdu, state)) for one in served]
    return [*caps, *(OutletSwitch(one.pdu) for one in served), *sheds]


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


def _make_pdu_sensors(settings: RedfishSettings, node: Node) -> Iterator[Sensor]:
    for one in open_pdus(settings, node):
        yield PduSensor(one.pdu, one.outlets, node.clock, f"feed/{one.feed}", settings.pdu_period_s)
        if one.orders:
            record = ShedRecord(one.pdu.pdu, node.wires.tree(str(node.state.absolute())))
            yield ShedSensor(record, node.clock, f"feed/{one.feed}")


def _open_cards(bmc: Bmc) -> Cards:
    return Cards(bmc.http, bmc.node, bmc.settings.cards)

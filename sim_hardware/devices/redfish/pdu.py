"""A rack PDU: outlets that can be switched, and what it measures (PowerDistribution, Outlet and Circuit of DSP0268)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.redfish.board import Board, is_number
from sim_hardware.devices.redfish.gauges import CURRENT, ENERGY, POWER, VOLTAGE, Gauge, Gauges, show_health, show_text
from sim_hardware.devices.redfish.outlets import STYLES, OutletControl
from sim_hardware.devices.redfish.server import RedfishDevice
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import ROOT, Body, link
from sim_hardware.plant.words import PlantError
from sim_hardware.rack.shape import Outlet, Pdu

Style = Literal["dmtf", "cray"]

_PHASES = ("L1", "L2", "L3")
_EQUIPMENT = f"{ROOT}/PowerEquipment"
_PDU = f"{_EQUIPMENT}/RackPDUs/1"
_MAINS = f"{_PDU}/Mains/AC1"


def make_pdu(panel: Panel, pdu: str, style: Style = "dmtf") -> RedfishDevice:
    """The Redfish side of a PDU, such as `A1`. `style` decides the ids of its outlets, the target of their action and what it takes.

    Raises PlantError when the rack has no such PDU.
    """
    for known in panel.rack.pdus:
        if known.name == pdu:
            device = RedfishDevice(f"pdu/{pdu}/redfish", panel, partial(_fit, known, style))
            device.board.supply = f"pdu/{pdu}"
            return device
    raise PlantError(f"there is no PDU {pdu}; there are {', '.join(known.name for known in panel.rack.pdus) or 'none'}")


def _fit(pdu: Pdu, style: Style, board: Board, tree: Tree) -> Body:
    ids = {outlet.number: STYLES[style].name(outlet.number) for outlet in pdu.outlets}
    gauges = Gauges(board, _PDU, _list_gauges(pdu, ids))
    gauges.add_to(tree)
    tree.add(_EQUIPMENT, "PowerEquipment.v1_2_2.PowerEquipment", lambda: {"RackPDUs": link(f"{_EQUIPMENT}/RackPDUs")})
    tree.collect(f"{_EQUIPMENT}/RackPDUs", "PowerDistribution", ["1"])
    tree.add(_PDU, "PowerDistribution.v1_4_0.PowerDistribution", partial(_show_pdu, board, pdu), name=f"PDU {pdu.name}")
    tree.add(f"{_PDU}/Metrics", "PowerDistributionMetrics.v1_3_2.PowerDistributionMetrics", partial(_show_metrics, gauges))
    tree.collect(f"{_PDU}/Mains", "Circuit", ["AC1"])
    tree.add(_MAINS, "Circuit.v1_8_1.Circuit", partial(_show_mains, board, pdu, gauges))
    tree.collect(f"{_PDU}/Outlets", "Outlet", ids.values())
    for outlet in pdu.outlets:
        _fit_outlet(OutletControl(board, pdu, outlet.number, STYLES[style]), outlet, gauges, tree)
    return {"PowerEquipment": link(_EQUIPMENT)}


def _list_gauges(pdu: Pdu, ids: dict[int, str]) -> Iterator[Gauge]:
    whole = f"pdu/{pdu.name}"
    yield Gauge("Voltage", VOLTAGE, whole, "pdu.voltage")
    yield Gauge("Current", CURRENT, whole, "pdu.current")
    yield Gauge("Power", POWER, whole, "pdu.power")
    yield Gauge("Energy", ENERGY, whole, "pdu.power", meter=True)
    for phase in _PHASES:
        yield Gauge(f"Current{phase}", CURRENT, whole, f"pdu.current.{phase}")
    for number, identity in ids.items():
        outlet = f"{whole}/outlet{number}"
        yield Gauge(f"Current{identity}", CURRENT, outlet, "outlet.current")
        yield Gauge(f"Power{identity}", POWER, outlet, "outlet.power")
        yield Gauge(f"Energy{identity}", ENERGY, outlet, "outlet.power", meter=True)


def _show_pdu(board: Board, pdu: Pdu) -> Body:
    def text(quantity: str) -> str | None:
        return show_text(board.read(f"pdu/{pdu.name}", quantity).value)

    return {
        "EquipmentType": "RackPDU",
        "UserLabel": pdu.name,
        "Model": text("pdu.model"),
        "SerialNumber": text("pdu.serial"),
        "Status": {"State": "Enabled", "Health": "OK"},
        "Metrics": link(f"{_PDU}/Metrics"),
        "Mains": link(f"{_PDU}/Mains"),
        "Outlets": link(f"{_PDU}/Outlets"),
        "Sensors": link(f"{_PDU}/Sensors"),
    }


def _show_metrics(gauges: Gauges) -> Body:
    return {"PowerWatts": gauges.quote("Power"), "EnergykWh": gauges.quote("Energy")}


def _show_mains(board: Board, pdu: Pdu, gauges: Gauges) -> Body:
    """Three phases in a star. One voltage is measured: that of the first phase."""
    closed = board.read(f"breaker/{pdu.name}", "breaker.closed").value
    return {
        "CircuitType": "Mains",
        "PhaseWiringType": "ThreePhase5Wire",
        "BreakerState": ("Normal" if closed else "Tripped") if is_number(closed) else None,
        "Status": show_health(closed, bad=closed == 0),
        "Voltage": gauges.quote("Voltage"),
        "CurrentAmps": gauges.quote("Current"),
        "PowerWatts": gauges.quote("Power"),
        "EnergykWh": gauges.quote("Energy"),
        "PolyPhaseVoltage": {"Line1ToNeutral": gauges.quote("Voltage")},
        "PolyPhaseCurrentAmps": {f"Line{phase[1]}": gauges.quote(f"Current{phase}") for phase in _PHASES},
    }


def _fit_outlet(control: OutletControl, outlet: Outlet, gauges: Gauges, tree: Tree) -> None:
    path = f"{_PDU}/Outlets/{control.id}"
    target = f"{path}/{control.style.target}"

    def show() -> Body:
        return {
            "OutletType": "IEC_60320_C19",
            "PhaseWiringType": "OnePhase3Wire",
            "UserLabel": outlet.load,
            **control.show(),
            "Voltage": gauges.quote("Voltage"),
            "CurrentAmps": gauges.quote(f"Current{control.id}"),
            "PowerWatts": gauges.quote(f"Power{control.id}"),
            "EnergykWh": gauges.quote(f"Energy{control.id}"),
            "Actions": {"#Outlet.PowerControl": {"target": target, "PowerState@Redfish.AllowableValues": list(control.style.states)}},
        }

    tree.add(path, "Outlet.v1_4_3.Outlet", show, control.set_delays, name=f"Outlet {outlet.number}")
    tree.act(target, control.switch)

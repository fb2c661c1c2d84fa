"""A coolant distribution unit (CoolingUnit, CoolantConnector, Pump, Reservoir and LeakDetector of DSP0268)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.redfish.asking import refuse_others, take_word
from sim_hardware.devices.redfish.board import Board
from sim_hardware.devices.redfish.cdu_parts import CDU, fit_connectors, fit_detectors, fit_pumps, fit_reservoir
from sim_hardware.devices.redfish.cdu_setting import list_controls, make_mode_orders
from sim_hardware.devices.redfish.controls import fit_controls
from sim_hardware.devices.redfish.gauges import (
    FLOW,
    HEAT,
    PERCENT,
    PRESSURE,
    ROTATION,
    TEMPERATURE,
    Gauge,
    Gauges,
    show_text,
)
from sim_hardware.devices.redfish.server import RedfishDevice
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import ROOT, Body, Deed, link
from sim_hardware.plant.words import PlantError, UnknownSensorError

_EQUIPMENT = f"{ROOT}/ThermalEquipment"
_MODES = ("Enabled", "Disabled")
_MOST_PUMPS = 16


def make_cdu(panel: Panel, cdu: str) -> RedfishDevice:
    """The Redfish side of a CDU, such as `cdu/0`. Raises PlantError when the rack has no such CDU."""
    known = [loop.subject for loop in panel.rack.loops]
    if cdu not in known:
        raise PlantError(f"there is no CDU {cdu}; there are {', '.join(known) or 'none'}")
    device = RedfishDevice(f"{cdu}/redfish", panel, partial(_fit, cdu))
    device.board.supply = cdu
    return device


def _count_pumps(board: Board, cdu: str) -> int:
    """The rack does not say how many there are; the plant does."""
    for pump in range(_MOST_PUMPS):
        try:
            board.panel.sense(f"{cdu}/pump{pump}", "pump.state")
        except UnknownSensorError:
            return pump
    return _MOST_PUMPS


def _fit(cdu: str, board: Board, tree: Tree) -> Body:
    pumps = _count_pumps(board, cdu)
    gauges = Gauges(board, CDU, _list_gauges(cdu, pumps))
    gauges.add_to(tree)
    tree.add(_EQUIPMENT, "ThermalEquipment.v1_1_2.ThermalEquipment", lambda: {"CDUs": link(f"{_EQUIPMENT}/CDUs")})
    tree.collect(f"{_EQUIPMENT}/CDUs", "CoolingUnit", ["1"])
    tree.add(CDU, "CoolingUnit.v1_2_0.CoolingUnit", partial(_show_unit, board, cdu), name=f"CDU {cdu}")
    tree.act(f"{CDU}/Actions/CoolingUnit.SetMode", partial(_set_mode, board, cdu, pumps))
    fit_connectors(gauges, tree)
    fit_pumps(board, cdu, pumps, gauges, tree)
    fit_reservoir(board, cdu, gauges, tree)
    fit_detectors(board, cdu, tree)
    fit_controls(board, tree, CDU, list_controls(cdu, pumps))
    return {"ThermalEquipment": link(_EQUIPMENT)}


def _list_gauges(cdu: str, pumps: int) -> Iterator[Gauge]:
    yield Gauge("SupplyTemperature", TEMPERATURE, cdu, "coolant.supply_temperature")
    yield Gauge("SupplyTemperature2", TEMPERATURE, cdu, "coolant.supply_temperature.2")
    yield Gauge("ReturnTemperature", TEMPERATURE, cdu, "coolant.return_temperature")
    yield Gauge("PrimaryTemperature", TEMPERATURE, cdu, "coolant.primary_temperature")
    yield Gauge("DewPoint", TEMPERATURE, cdu, "air.dew_point")
    yield Gauge("EffectiveSetpoint", TEMPERATURE, cdu, "coolant.setpoint")
    yield Gauge("Flow", FLOW, cdu, "coolant.flow")
    yield Gauge("DeltaPressure", PRESSURE, cdu, "coolant.pressure_difference")
    yield Gauge("PrimaryPressure", PRESSURE, cdu, "coolant.primary_pressure")
    yield Gauge("Heat", HEAT, cdu, "coolant.heat", 1e-3)
    yield Gauge("Valve", PERCENT, cdu, "coolant.valve")
    yield Gauge("Level", PERCENT, cdu, "coolant.level")
    for pump in range(pumps):
        yield Gauge(f"Pump{pump}Speed", PERCENT, f"{cdu}/pump{pump}", "pump.speed")
        yield Gauge(f"Pump{pump}Rotation", ROTATION, f"{cdu}/pump{pump}", "pump.rpm")


def _show_unit(board: Board, cdu: str) -> Body:
    return {
        "EquipmentType": "CDU",
        "Model": show_text(board.read(cdu, "coolant.model").value),
        "SerialNumber": show_text(board.read(cdu, "coolant.serial").value),
        "Status": {"State": "Enabled", "Health": "OK"},
        "Coolant": {"CoolantType": "Water", "DensityKgPerCubicMeter": 997.0, "SpecificHeatkJoulesPerKgK": 4.18},
        **{part: link(f"{CDU}/{part}") for part in ("PrimaryCoolantConnectors", "SecondaryCoolantConnectors", "Pumps", "Reservoirs")},
        **{part: link(f"{CDU}/{part}") for part in ("LeakDetection", "Sensors", "Controls")},
        "Actions": {"#CoolingUnit.SetMode": {"target": f"{CDU}/Actions/CoolingUnit.SetMode", "Mode@Redfish.AllowableValues": list(_MODES)}},
    }


def _set_mode(board: Board, cdu: str, pumps: int, body: Body) -> Deed:
    refuse_others(body, "Mode")
    orders = make_mode_orders(cdu, pumps, enabled=take_word(body, "Mode", _MODES) == "Enabled")

    def deed() -> None:
        for order in orders:
            board.order(order)

    return deed

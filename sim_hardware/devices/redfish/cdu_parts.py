"""The parts of a CDU: connectors, pumps, reservoir, leak detectors."""

from __future__ import annotations

from functools import partial

from sim_hardware.devices.redfish.asking import refuse_others
from sim_hardware.devices.redfish.board import Board, is_number
from sim_hardware.devices.redfish.gauges import Gauges, show_leak, show_number, show_status, show_text
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import ROOT, Body, Deed, link
from sim_hardware.plant.cooling.orders import ClearLeak

CDU = f"{ROOT}/ThermalEquipment/CDUs/1"
_DETECTORS = {"Live": "coolant.leak", "Latched": "coolant.leak_sticky"}  # the latched one stays until it is cleared
_LOW_LEVEL = 20.0  # %: below it the pumps draw air
_PUMP_STATES = {
    "off": "StandbyOffline",
    "starting": "Starting",
    "running": "Enabled",
    "tripped": "UnavailableOffline",
    "resetting": "Starting",
}


def fit_connectors(gauges: Gauges, tree: Tree) -> None:
    """One connector a side, as the OCP profile asks; pressures are measured only as what the plant has."""
    kind = "CoolantConnector.v1_1_0.CoolantConnector"
    for side in ("Primary", "Secondary"):
        tree.collect(f"{CDU}/{side}CoolantConnectors", "CoolantConnector", ["1"])
    tree.add(f"{CDU}/PrimaryCoolantConnectors/1", kind, partial(_show_primary, gauges))
    tree.add(f"{CDU}/SecondaryCoolantConnectors/1", kind, partial(_show_secondary, gauges))


def _show_primary(gauges: Gauges) -> Body:
    return {
        "CoolantConnectorType": "Pair",
        "SupplyTemperatureCelsius": gauges.quote("PrimaryTemperature"),
        "SupplyPressurekPa": gauges.quote("PrimaryPressure"),
        "Status": {"State": "Enabled", "Health": "OK"},
    }


def _show_secondary(gauges: Gauges) -> Body:
    supply, back = gauges.quote("SupplyTemperature"), gauges.quote("ReturnTemperature")
    known = supply["Reading"] is not None and back["Reading"] is not None
    return {
        "CoolantConnectorType": "Pair",
        "SupplyTemperatureCelsius": supply,
        "ReturnTemperatureCelsius": back,
        "DeltaTemperatureCelsius": {"Reading": round(back["Reading"] - supply["Reading"], 3) if known else None},
        "DeltaPressurekPa": gauges.quote("DeltaPressure"),
        "FlowLitersPerMinute": gauges.quote("Flow"),
        "HeatRemovedkW": gauges.quote("Heat"),
        "Status": {"State": "Enabled", "Health": "OK"},
    }


def fit_pumps(board: Board, cdu: str, pumps: int, gauges: Gauges, tree: Tree) -> None:
    """Put so many pumps into the tree."""
    tree.collect(f"{CDU}/Pumps", "Pump", map(str, range(pumps)))
    for pump in range(pumps):
        tree.add(f"{CDU}/Pumps/{pump}", "Pump.v1_2_0.Pump", partial(_show_pump, board, f"{cdu}/pump{pump}", pump, gauges))


def _show_pump(board: Board, subject: str, pump: int, gauges: Gauges) -> Body:
    value = board.read(subject, "pump.state").value
    state = _PUMP_STATES.get(show_text(value) or "", "Absent" if value is None else "UnavailableOffline")
    rotation = gauges.quote(f"Pump{pump}Rotation")["Reading"]
    health = {"Absent": None, "UnavailableOffline": "Critical"}.get(state, "OK")
    return {
        "PumpType": "Liquid",
        "PumpSpeedPercent": {**gauges.quote(f"Pump{pump}Speed"), "SpeedRPM": rotation},
        "SpeedControlPercent": {
            "DataSourceUri": f"{CDU}/Controls/Pump{pump}",
            "SetPoint": show_number(board.read(subject, "pump.command").value),
        },
        "Status": {"State": state, "Health": health},
    }


def fit_reservoir(board: Board, cdu: str, gauges: Gauges, tree: Tree) -> None:
    """Put the reservoir into the tree."""

    def show() -> Body:
        level = board.read(cdu, "coolant.level").value
        told = ("Low" if level < _LOW_LEVEL else "OK") if is_number(level) else None
        return {
            "ReservoirType": "Reserve",
            "FluidLevelStatus": told,
            "FluidLevelPercent": gauges.quote("Level"),
            "Status": show_status(level),
        }

    tree.collect(f"{CDU}/Reservoirs", "Reservoir", ["1"])
    tree.add(f"{CDU}/Reservoirs/1", "Reservoir.v1_0_1.Reservoir", show)


def fit_detectors(board: Board, cdu: str, tree: Tree) -> None:
    """Put both leak detectors into the tree: what is wet now, and what was and stays so until it is cleared."""
    path = f"{CDU}/LeakDetection"
    detectors, clear = f"{path}/LeakDetectors", f"{path}/LeakDetectors/Latched/Actions/Oem/SimLeakDetector.Clear"
    tree.add(path, "LeakDetection.v1_1_0.LeakDetection", lambda: {"LeakDetectors": link(detectors)})
    tree.collect(detectors, "LeakDetector", _DETECTORS)
    for name, quantity in _DETECTORS.items():
        actions = {"Actions": {"Oem": {"#SimLeakDetector.Clear": {"target": clear}}}} if name == "Latched" else {}
        tree.add(f"{detectors}/{name}", "LeakDetector.v1_3_0.LeakDetector", partial(_show_detector, board, cdu, quantity, actions))
    tree.act(clear, partial(_clear, board, cdu))


def _show_detector(board: Board, cdu: str, quantity: str, actions: Body) -> Body:
    return {**show_leak(board.read(cdu, quantity).value), **actions}


def _clear(board: Board, cdu: str, body: Body) -> Deed:
    refuse_others(body)
    return lambda: board.order(ClearLeak(cdu))

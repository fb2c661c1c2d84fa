"""The chassis of a node: sensors, fans, and its leak detector (Chassis, ThermalSubsystem, Fan and EnvironmentMetrics of DSP0268)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sim_hardware.devices.redfish.board import Board, is_number
from sim_hardware.devices.redfish.controls import Authority, Control, Setpoint, fit_controls
from sim_hardware.devices.redfish.gauges import AIRFLOW, FLOW, PERCENT, POWER, ROTATION, TEMPERATURE, Gauge, Gauges, show_leak, show_status
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body, link
from sim_hardware.plant.cooling import orders

FANS = 8  # of a node, each with an airflow sensor
_MODES: Mapping[str, orders.FanControl] = {"Automatic": "auto", "Manual": "manual", "Override": "full"}
_AIR = {"Inlet": "air.temperature", **{place: f"air.temperature.{place.lower()}" for place in ("Optics", "NIC", "VRM", "DIMM")}}


def fit_chassis(board: Board, tree: Tree, chassis: str, node: str, cards: Sequence[str]) -> None:
    """Put the chassis into the tree, without its network adapters."""
    gauges = Gauges(board, chassis, _list_gauges(node, cards))
    gauges.add_to(tree)
    tree.collect(chassis.rsplit("/", 1)[0], "Chassis", ["1"])
    tree.add(chassis, "Chassis.v1_25_0.Chassis", partial(_show_chassis, chassis), name=f"Chassis {node}")
    tree.add(f"{chassis}/EnvironmentMetrics", "EnvironmentMetrics.v1_3_2.EnvironmentMetrics", partial(_show_environment, gauges))
    tree.add(f"{chassis}/Thermal", "Thermal.v1_7_3.Thermal", partial(_show_thermal, board, chassis, node))
    fit_controls(board, tree, chassis, _list_controls(chassis, node))
    _fit_fans(board, tree, chassis, node, gauges)
    _fit_detector(board, tree, chassis, node)


def _list_gauges(node: str, cards: Sequence[str]) -> Iterator[Gauge]:
    yield Gauge("Power", POWER, node, "node.watts")
    for place, quantity in _AIR.items():
        yield Gauge(place, TEMPERATURE, node, quantity)
    yield Gauge("CoolantSupply", TEMPERATURE, node, "coolant.supply_temperature")
    yield Gauge("CoolantReturn", TEMPERATURE, node, "coolant.return_temperature")
    yield Gauge("CoolantFlow", FLOW, node, "coolant.flow")
    for fan in range(FANS):
        yield Gauge(f"Fan{fan}Speed", ROTATION, f"{node}/fan{fan}", "fan.speed")
        yield Gauge(f"Fan{fan}Duty", PERCENT, f"{node}/fan{fan}", "fan.duty")
        yield Gauge(f"Airflow{fan}", AIRFLOW, f"{node}/air{fan}", "air.flow", 1 / 60)
    for number, card in enumerate(cards):
        yield Gauge(f"Card{number}Temperature", TEMPERATURE, card, "card.temperature")
        yield Gauge(f"Card{number}TemperatureMean", TEMPERATURE, card, "card.temperature.mean")
        yield Gauge(f"Card{number}TemperatureMedian", TEMPERATURE, card, "card.temperature.median")
        yield Gauge(f"Card{number}Power", POWER, card, "card.power")


def _show_chassis(chassis: str) -> Body:
    parts = ("Sensors", "Controls", "EnvironmentMetrics", "Thermal", "ThermalSubsystem", "NetworkAdapters")
    system = {"ComputerSystems": [link(chassis.replace("/Chassis/", "/Systems/"))]}
    return {
        "ChassisType": "RackMount",
        **{part: link(f"{chassis}/{part}") for part in parts},
        "Links": system,
        "Status": {"State": "Enabled", "Health": "OK"},
    }


def _show_environment(gauges: Gauges) -> Body:
    speeds = [gauges.quote(f"Fan{fan}Duty") for fan in range(FANS)]
    return {"TemperatureCelsius": gauges.quote("Inlet"), "PowerWatts": gauges.quote("Power"), "FanSpeedsPercent": speeds}


def _show_thermal(board: Board, chassis: str, node: str) -> Body:
    """The older form of the same, which many clients still read."""
    place = f"{chassis}/Thermal#"

    def temperature(index: int, name: str, quantity: str) -> Body:
        value = board.read(node, quantity).value
        shown = round(value, 1) if is_number(value) else None
        return {"@odata.id": f"{place}/Temperatures/{index}", "Name": name, "ReadingCelsius": shown, "Status": show_status(value)}

    def fan(index: int) -> Body:
        value = board.read(f"{node}/fan{index}", "fan.speed").value
        told = {"Reading": round(value) if is_number(value) else None, "ReadingUnits": "RPM", "Status": show_status(value)}
        return {"@odata.id": f"{place}/Fans/{index}", "Name": f"Fan {index}", **told}

    temperatures = [temperature(index, name, quantity) for index, (name, quantity) in enumerate(_AIR.items())]
    return {"Temperatures": temperatures, "Fans": [fan(index) for index in range(FANS)]}


def _list_controls(chassis: str, node: str) -> tuple[Control, ...]:
    return (
        Authority("Fans", "DutyCycle", node, "fan.control", _MODES, lambda mode: orders.SetFanControl(node, _MODES[mode])),
        *(_set_fan(chassis, node, fan) for fan in range(FANS)),
    )


def _set_fan(chassis: str, node: str, fan: int) -> Setpoint:
    moved = f"{chassis}/ThermalSubsystem/Fans/{fan}"
    return Setpoint(f"Fan{fan}", "DutyCycle", "%", 0.0, 100.0, f"{node}/fan{fan}", "fan.duty", partial(orders.SetFan, node, fan), moved)


def _fit_fans(board: Board, tree: Tree, chassis: str, node: str, gauges: Gauges) -> None:
    path = f"{chassis}/ThermalSubsystem"
    parts = {"Fans": link(f"{path}/Fans"), "LeakDetection": link(f"{path}/LeakDetection")}
    tree.add(path, "ThermalSubsystem.v1_3_2.ThermalSubsystem", lambda: {**parts, "Status": {"State": "Enabled", "Health": "OK"}})
    tree.collect(f"{path}/Fans", "Fan", map(str, range(FANS)))
    for fan in range(FANS):
        tree.add(f"{path}/Fans/{fan}", "Fan.v1_5_1.Fan", partial(_show_fan, board, f"{node}/fan{fan}", fan, gauges))


def _show_fan(board: Board, subject: str, fan: int, gauges: Gauges) -> Body:
    speed = board.read(subject, "fan.speed").value
    reading = {**gauges.quote(f"Fan{fan}Duty"), "SpeedRPM": gauges.quote(f"Fan{fan}Speed")["Reading"]}
    health = {"Health": "Critical"} if speed == 0 else {}
    return {"SpeedPercent": reading, "Status": {**show_status(speed), **health}}


def _fit_detector(board: Board, tree: Tree, chassis: str, node: str) -> None:
    path = f"{chassis}/ThermalSubsystem/LeakDetection"
    detectors = f"{path}/LeakDetectors"
    tree.add(path, "LeakDetection.v1_1_0.LeakDetection", lambda: {"LeakDetectors": link(detectors)})
    tree.collect(detectors, "LeakDetector", ["Tray"])
    tree.add(f"{detectors}/Tray", "LeakDetector.v1_3_0.LeakDetector", lambda: show_leak(board.read(node, "coolant.leak").value))

"""The CDU: its parts, its setpoints, and readings that are none."""

from __future__ import annotations

import math

import pytest

from sim_hardware.devices.redfish import RedfishDevice, make_cdu
from sim_hardware.plant.cooling import orders
from sim_hardware.plant.words import Order, Value
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.redfish.clients import ask, explain, get

CDU = "/redfish/v1/ThermalEquipment/CDUs/1"
CONTROLS = f"{CDU}/Controls"
SET_MODE = f"{CDU}/Actions/CoolingUnit.SetMode"


@pytest.fixture
def panel() -> FakePanel:
    values: dict[tuple[str, str], Value] = {
        ("cdu/0", "coolant.supply_temperature"): 22.0,
        ("cdu/0", "coolant.return_temperature"): 30.5,
        ("cdu/0", "coolant.heat"): 85_250.0,
        ("cdu/0", "coolant.flow"): 140.0,
        ("cdu/0", "coolant.level"): 81.0,
        ("cdu/0", "coolant.control"): "setpoint",
        ("cdu/0", "coolant.setpoint_asked"): 21.5,
        ("cdu/0", "coolant.leak"): 0.0,
        ("cdu/0", "coolant.leak_sticky"): 1.0,
        ("cdu/0/pump0", "pump.state"): "running",
        ("cdu/0/pump0", "pump.speed"): 63.0,
        ("cdu/0/pump0", "pump.rpm"): 2200.0,
        ("cdu/0/pump1", "pump.state"): "tripped",
    }
    return FakePanel(values=values)


@pytest.fixture
def cdu(panel: FakePanel) -> RedfishDevice:
    return make_cdu(panel, "cdu/0")


def test_the_connector_has_what_the_profile_asks(cdu: RedfishDevice) -> None:
    connector = get(cdu, f"{CDU}/SecondaryCoolantConnectors/1")
    assert connector["SupplyTemperatureCelsius"]["Reading"] == 22.0
    assert connector["DeltaTemperatureCelsius"]["Reading"] == 8.5
    assert connector["HeatRemovedkW"]["Reading"] == 85.25
    assert connector["FlowLitersPerMinute"]["Reading"] == 140.0


def test_pumps_are_those_of_the_plant(cdu: RedfishDevice) -> None:
    assert get(cdu, f"{CDU}/Pumps")["Members@odata.count"] == 2
    running, tripped = get(cdu, f"{CDU}/Pumps/0"), get(cdu, f"{CDU}/Pumps/1")
    assert running["PumpSpeedPercent"] == {"Reading": 63.0, "SpeedRPM": 2200.0, "DataSourceUri": f"{CDU}/Sensors/Pump0Speed"}
    assert running["Status"] == {"State": "Enabled", "Health": "OK"}
    assert tripped["Status"] == {"State": "UnavailableOffline", "Health": "Critical"}


@pytest.mark.parametrize(
    ("value", "reading", "state"),
    [
        (None, None, "Absent"),
        (math.nan, None, "UnavailableOffline"),
        (math.inf, None, "UnavailableOffline"),
        (-1e300, None, "UnavailableOffline"),
        ("22.0", None, "UnavailableOffline"),
        (-40.0, -40.0, "Enabled"),
    ],
)
def test_a_reading_that_is_none(cdu: RedfishDevice, panel: FakePanel, value: Value, reading: float | None, state: str) -> None:
    panel.values["cdu/0", "coolant.supply_temperature"] = value
    sensor = get(cdu, f"{CDU}/Sensors/SupplyTemperature")
    assert (sensor["Reading"], sensor["Status"]["State"]) == (reading, state)
    connector = get(cdu, f"{CDU}/SecondaryCoolantConnectors/1")
    assert (connector["DeltaTemperatureCelsius"]["Reading"] is None) == (reading is None)


@pytest.mark.parametrize(("level", "told"), [(81.0, "OK"), (19.9, "Low"), (None, None)])
def test_the_reservoir(cdu: RedfishDevice, panel: FakePanel, level: Value, told: str | None) -> None:
    panel.values["cdu/0", "coolant.level"] = level
    assert get(cdu, f"{CDU}/Reservoirs/1")["FluidLevelStatus"] == told


@pytest.mark.parametrize(
    ("place", "body", "order"),
    [
        ("SupplyTemperature", {"SetPoint": 24}, orders.SetTemperature("cdu/0", 24.0)),
        ("PressureDifference", {"SetPoint": 120.5}, orders.SetPressure("cdu/0", 120.5)),
        ("Valve", {"SetPoint": 40}, orders.SetValve("cdu/0", 40.0)),
        ("Pump1", {"SetPoint": 55}, orders.SetPump("cdu/0", 1, 55.0)),
        ("Authority", {"ControlMode": "Automatic"}, orders.SetControl("cdu/0", "auto")),
        ("Authority", {"ControlMode": "Override"}, orders.SetControl("cdu/0", "setpoint")),
        ("Authority", {"ControlMode": "Manual"}, orders.SetControl("cdu/0", "direct")),
    ],
)
def test_what_can_be_set(cdu: RedfishDevice, panel: FakePanel, place: str, body: dict[str, object], order: Order) -> None:
    assert ask(cdu, "PATCH", f"{CONTROLS}/{place}", body).status == 204
    assert panel.orders == [order]


def test_setpoints_show_what_the_plant_says(cdu: RedfishDevice) -> None:
    assert get(cdu, f"{CONTROLS}/SupplyTemperature")["SetPoint"] == 21.5
    assert get(cdu, f"{CONTROLS}/Authority")["ControlMode"] == "Override"
    absent = get(cdu, f"{CONTROLS}/PressureDifference")
    assert (absent["SetPoint"], absent["Status"]["State"]) == (None, "Absent")


@pytest.mark.parametrize(
    ("place", "body", "key"),
    [
        ("SupplyTemperature", {"SetPoint": 99}, "PropertyValueOutOfRange"),
        ("SupplyTemperature", {"ControlMode": "Manual"}, "PropertyNotWritable"),
        ("SupplyTemperature", {}, "PropertyMissing"),
        ("Authority", {"ControlMode": "auto"}, "PropertyValueNotInList"),
    ],
)
def test_what_cannot_be_set(cdu: RedfishDevice, panel: FakePanel, place: str, body: dict[str, object], key: str) -> None:
    assert explain(ask(cdu, "PATCH", f"{CONTROLS}/{place}", body))[:2] == (400, key)
    assert panel.orders == []


def test_modes(cdu: RedfishDevice, panel: FakePanel) -> None:
    action = get(cdu, CDU)["Actions"]["#CoolingUnit.SetMode"]
    assert action == {"target": SET_MODE, "Mode@Redfish.AllowableValues": ["Enabled", "Disabled"]}
    assert ask(cdu, "POST", SET_MODE, {"Mode": "Disabled"}).status == 204
    assert panel.orders == [orders.SetControl("cdu/0", "direct"), orders.SetPump("cdu/0", 0, 0.0), orders.SetPump("cdu/0", 1, 0.0)]
    panel.orders.clear()
    assert ask(cdu, "POST", SET_MODE, {"Mode": "Enabled"}).status == 204
    assert panel.orders == [orders.SetControl("cdu/0", "auto")]


def test_leaks(cdu: RedfishDevice, panel: FakePanel) -> None:
    detectors = f"{CDU}/LeakDetection/LeakDetectors"
    assert get(cdu, f"{detectors}/Live")["DetectorState"] == "OK"
    latched = get(cdu, f"{detectors}/Latched")
    assert (latched["DetectorState"], latched["Status"]["Health"]) == ("Critical", "Critical")
    panel.values["cdu/0", "coolant.leak"] = math.nan
    assert get(cdu, f"{detectors}/Live")["DetectorState"] == "Unavailable"
    assert ask(cdu, "POST", latched["Actions"]["Oem"]["#SimLeakDetector.Clear"]["target"]).status == 204
    assert panel.orders == [orders.ClearLeak("cdu/0")]

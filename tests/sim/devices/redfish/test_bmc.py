"""The BMC: cards, fans, ports, the link-health monitor, and power that is not what it says."""

from __future__ import annotations

import math

import pytest

from sim_hardware.devices.redfish import RedfishDevice, make_bmc
from sim_hardware.devices.redfish.bmc_power import CYCLE_S, FORCE_S, GRACE_S, RESTART_S, STOCKTAKING_S
from sim_hardware.plant.cards.orders import PowerNode
from sim_hardware.plant.cooling.orders import SetFan, SetFanControl
from sim_hardware.plant.words import Value
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.redfish.clients import Timers, ask, explain, get

SYSTEM, CHASSIS, MANAGER = "/redfish/v1/Systems/1", "/redfish/v1/Chassis/1", "/redfish/v1/Managers/1"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
MONITOR = f"{MANAGER}/Oem/Sim/LinkHealthMonitor"
ON, OFF = PowerNode("n0", on=True), PowerNode("n0", on=False)


@pytest.fixture
def panel() -> FakePanel:
    return FakePanel(values={("n0", "node.power"): "on"})


@pytest.fixture
def timers() -> Timers:
    return Timers()


@pytest.fixture
def bmc(panel: FakePanel, timers: Timers) -> RedfishDevice:
    device = make_bmc(panel, "n0")
    device.board.later = timers
    return device


def reset(device: RedfishDevice, kind: str) -> int:
    return ask(device, "POST", RESET, {"ResetType": kind}).status


@pytest.mark.parametrize(
    ("value", "state", "progress"),
    [
        ("on", "On", "OSRunning"),
        ("booting", "On", "PrimaryProcessorInitializationStarted"),
        ("off", "Off", "None"),
        (None, None, None),
        (1.0, None, None),
    ],
)
def test_the_power_state(bmc: RedfishDevice, panel: FakePanel, value: Value, state: str | None, progress: str | None) -> None:
    panel.values["n0", "node.power"] = value
    shown = get(bmc, SYSTEM)
    assert (shown["PowerState"], shown["BootProgress"]["LastState"]) == (state, progress)


@pytest.mark.parametrize(("kind", "seconds"), [("ForceOff", FORCE_S), ("GracefulShutdown", GRACE_S)])
def test_it_says_off_at_once_and_drops_what_comes_before_it_is(
    bmc: RedfishDevice, panel: FakePanel, timers: Timers, kind: str, seconds: float
) -> None:
    assert reset(bmc, kind) == 204
    assert get(bmc, SYSTEM)["PowerState"] == "Off"
    assert panel.orders == []
    assert reset(bmc, "On") == 204
    assert [wait for wait, _ in timers.calls] == [seconds]
    panel.time = seconds
    timers.run()
    assert panel.orders == [OFF]
    assert reset(bmc, "On") == 204
    assert panel.orders == [OFF, ON]


@pytest.mark.parametrize(("kind", "seconds"), [("ForceRestart", RESTART_S), ("PowerCycle", CYCLE_S)])
def test_a_restart_is_off_and_on(bmc: RedfishDevice, panel: FakePanel, timers: Timers, kind: str, seconds: float) -> None:
    assert reset(bmc, kind) == 204
    assert (panel.orders, [wait for wait, _ in timers.calls]) == ([OFF], [seconds])
    panel.time = seconds
    timers.run()
    assert panel.orders == [OFF, ON]


def test_a_later_reset_takes_the_place_of_an_earlier_one(bmc: RedfishDevice, panel: FakePanel, timers: Timers) -> None:
    assert reset(bmc, "GracefulShutdown") == reset(bmc, "ForceOff") == 204
    timers.run()
    assert panel.orders == [OFF]


def test_it_is_busy_after_switching_on(bmc: RedfishDevice, panel: FakePanel) -> None:
    panel.values["n0", "node.power"] = "off"
    assert reset(bmc, "On") == 204
    panel.time = 0.5
    for path in (SYSTEM, f"{SYSTEM}/Processors/Card0"):
        refused = ask(bmc, "GET", path)
        assert explain(refused)[:2] == (503, "ServiceTemporarilyUnavailable")
        assert refused.headers["Retry-After"] == "5"
    assert reset(bmc, "ForceOff") == 503
    assert ask(bmc, "GET", CHASSIS).status == 200
    panel.time = STOCKTAKING_S
    assert ask(bmc, "GET", SYSTEM).status == 200
    assert panel.orders == [ON]


def test_an_unknown_reset_says_what_there_is(bmc: RedfishDevice, panel: FakePanel) -> None:
    status, key, text = explain(ask(bmc, "POST", RESET, {"ResetType": "Nmi"}))
    assert (status, key) == (400, "ActionParameterValueNotInList")
    assert "GracefulShutdown" in text
    assert panel.orders == []


@pytest.mark.parametrize(
    ("codes", "present", "state", "health"),
    [
        (frozenset(), 1.0, "Enabled", "OK"),
        (frozenset({"80E01801"}), 1.0, "Enabled", "Critical"),
        (frozenset(), 0.0, "Absent", None),
        (None, 1.0, "Absent", None),
        (math.nan, 1.0, "UnavailableOffline", "Warning"),
    ],
)
def test_cards(bmc: RedfishDevice, panel: FakePanel, codes: Value, present: float, state: str, health: str | None) -> None:
    card = "n0/card3"
    panel.values.update({(card, "card.health"): codes, (card, "card.present"): present, (card, "card.serial"): "SN00003"})
    shown = get(bmc, f"{SYSTEM}/Processors/Card3")
    assert shown["SerialNumber"] == "SN00003"
    assert (shown["Status"]["State"], shown["Status"]["Health"]) == (state, health)
    named = [condition["MessageArgs"] for condition in shown["Status"].get("Conditions", [])]
    assert named == ([["80E01801"]] if codes else []) or health != "Critical"


def test_fans(bmc: RedfishDevice, panel: FakePanel) -> None:
    panel.values.update({("n0/fan2", "fan.speed"): 0.0, ("n0/fan2", "fan.duty"): 30.0, ("n0/air2", "air.flow"): 120.0})
    fan = get(bmc, f"{CHASSIS}/ThermalSubsystem/Fans/2")
    assert (fan["SpeedPercent"]["Reading"], fan["SpeedPercent"]["SpeedRPM"], fan["Status"]["Health"]) == (30.0, 0.0, "Critical")
    assert get(bmc, f"{CHASSIS}/Thermal")["Fans"][2]["Reading"] == 0
    airflow = get(bmc, f"{CHASSIS}/Sensors/Airflow2")
    assert (airflow["Reading"], airflow["ReadingUnits"]) == (2.0, "m3/min")
    control = get(bmc, f"{CHASSIS}/Controls/Fan2")
    assert (control["SetPoint"], control["RelatedItem"]) == (30.0, [{"@odata.id": fan["@odata.id"]}])
    assert ask(bmc, "PATCH", f"{CHASSIS}/Controls/Fan2", {"SetPoint": 80}).status == 204
    assert ask(bmc, "PATCH", f"{CHASSIS}/Controls/Fans", {"ControlMode": "Override"}).status == 204
    assert panel.orders == [SetFan("n0", 2, 80.0), SetFanControl("n0", "full")]


def test_a_leak_in_the_tray(bmc: RedfishDevice, panel: FakePanel) -> None:
    tray = f"{CHASSIS}/ThermalSubsystem/LeakDetection/LeakDetectors/Tray"
    assert get(bmc, tray)["Status"]["State"] == "Absent"
    panel.values["n0", "coolant.leak"] = 1.0
    assert get(bmc, tray)["DetectorState"] == "Critical"


def test_ports(bmc: RedfishDevice, panel: FakePanel) -> None:
    port = "n0/card1/port0"
    panel.values.update({(port, "link.state"): 1.0, (port, "link.speed"): 200.0, (port, "link.present"): 1.0, (port, "link.rx_power"): 0.7})
    shown = get(bmc, f"{CHASSIS}/NetworkAdapters/Card1/Ports/0")
    assert (shown["LinkStatus"], shown["CurrentSpeedGbps"], shown["SFP"]["Status"]["State"]) == ("LinkUp", 200.0, "Enabled")
    assert get(bmc, shown["Metrics"]["@odata.id"])["Transceivers"][0]["RXInputPowerMilliWatts"] == 0.7
    panel.values[port, "link.receive_errors"] = 12.0
    counters = get(bmc, shown["Metrics"]["@odata.id"])
    assert isinstance(counters["RXErrors"], int)
    assert counters["RXErrors"] == 12
    panel.values.update({(port, "link.state"): 0.0, (port, "link.present"): 0.0})
    shown = get(bmc, f"{CHASSIS}/NetworkAdapters/Card1/Ports/0")
    assert (shown["LinkStatus"], shown["SFP"]["Status"]["State"]) == ("LinkDown", "Absent")


def test_the_link_monitor_is_off_until_it_is_switched_on(bmc: RedfishDevice) -> None:
    assert get(bmc, MANAGER)["Oem"]["Sim"]["LinkHealthMonitor"] == {"@odata.id": MONITOR}
    assert get(bmc, MONITOR)["Enabled"] is False
    assert get(bmc, f"{MONITOR}/Readings")["Ports"] == []
    tag = ask(bmc, "GET", MONITOR).headers["ETag"]
    headers = {"If-Match": tag, "X-Auth-Token": ""}
    assert ask(bmc, "PATCH", MONITOR, {"Enabled": True}, headers).status == 401
    assert explain(ask(bmc, "PATCH", MONITOR, {"Enabled": "yes"}))[1] == "PropertyValueTypeError"
    assert explain(ask(bmc, "PATCH", MONITOR, {"IntervalSeconds": 1}))[1] == "PropertyNotWritable"
    assert ask(bmc, "PATCH", MONITOR, {"Enabled": True}).status == 204
    assert get(bmc, MONITOR)["Status"]["State"] == "Enabled"
    assert len(get(bmc, f"{MONITOR}/Readings")["Ports"]) == 17


def test_bit_error_rates_are_renewed_every_five_seconds(bmc: RedfishDevice, panel: FakePanel) -> None:
    rates = {0.0: 1e-15, 4.9: 2e-12, 5.0: 3.14159e-12, 9.0: 1.0, 10.0: 1e-13, 15.0: math.nan}
    assert ask(bmc, "PATCH", MONITOR, {"Enabled": True}).status == 204
    told = []
    for time, rate in rates.items():
        panel.time, panel.values["n0/card0/port1", "link.ber.post_fec"] = time, rate
        port = get(bmc, f"{MONITOR}/Readings")["Ports"][1]
        assert port["Port"] == {"@odata.id": f"{CHASSIS}/NetworkAdapters/Card0/Ports/1"}
        told.append((port["BitErrorRate"], port["Alarm"], port["ReadingTime"][-3:-1]))
    first, second = (1e-15, False, "00"), (3.142e-12, True, "05")
    assert told == [first, first, second, second, (1e-13, False, "10"), (None, False, "15")]

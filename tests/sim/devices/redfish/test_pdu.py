"""The PDU: both styles of its outlets' action, what it shows, and when."""

from __future__ import annotations

import pytest

from sim_hardware.devices.redfish import RedfishDevice, make_pdu
from sim_hardware.devices.redfish.outlets import SHOWS_AFTER_S
from sim_hardware.plant.power.orders import CycleOutlet, SwitchOutlet
from sim_hardware.plant.words import Value
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.redfish.clients import FollowingPanel, FuzzPanel, ask, explain, get

PDU = "/redfish/v1/PowerEquipment/RackPDUs/1"
OUTLET = f"{PDU}/Outlets/A2"
SUBJECT = "pdu/A1/outlet2"


@pytest.fixture
def panel() -> FakePanel:
    values: dict[tuple[str, str], Value] = {
        (SUBJECT, "outlet.state"): "on",
        (SUBJECT, "outlet.locked"): 0.0,
        (SUBJECT, "outlet.power"): 1200.0,
        ("pdu/A1", "pdu.voltage"): 231.06789,
        ("pdu/A1", "pdu.current.L2"): 4.5,
    }
    return FakePanel(values=values)


@pytest.fixture
def pdu(panel: FakePanel) -> RedfishDevice:
    return make_pdu(panel, "A1")


def find_action(device: RedfishDevice, outlet: str) -> tuple[str, list[str]]:
    action = get(device, outlet)["Actions"]["#Outlet.PowerControl"]
    return action["target"], action["PowerState@Redfish.AllowableValues"]


def test_each_style_has_its_target_and_its_values(pdu: RedfishDevice, panel: FakePanel) -> None:
    assert find_action(pdu, OUTLET) == (f"{OUTLET}/Outlet.PowerControl", ["On", "Off", "PowerCycle"])
    cray = make_pdu(panel, "A1", "cray")
    target, allowed = find_action(cray, f"{PDU}/Outlets/AA2")
    assert (target, allowed) == (f"{PDU}/Outlets/AA2/Actions/Outlet.PowerControl", ["On", "Off"])
    assert explain(ask(cray, "POST", target, {"PowerState": "PowerCycle"}))[:2] == (400, "ActionParameterValueNotInList")
    assert ask(cray, "POST", f"{PDU}/Outlets/AA2/Outlet.PowerControl", {"PowerState": "Off"}).status == 404
    assert ask(cray, "POST", target, {"PowerState": "Off"}).status == 204
    assert panel.orders == [SwitchOutlet("A1", 2, on=False)]


def test_orders_have_the_delays_of_the_outlet(pdu: RedfishDevice, panel: FakePanel) -> None:
    delays = {"PowerOnDelaySeconds": 2, "PowerOffDelaySeconds": 3, "PowerCycleDelaySeconds": 7}
    assert ask(pdu, "PATCH", OUTLET, delays).status == 204
    assert get(pdu, OUTLET)["PowerCycleDelaySeconds"] == 7
    for state in ("On", "Off", "PowerCycle"):
        assert ask(pdu, "POST", find_action(pdu, OUTLET)[0], {"PowerState": state}).status == 204
    assert panel.orders == [
        SwitchOutlet("A1", 2, on=True, delay_s=2),
        SwitchOutlet("A1", 2, on=False, delay_s=3),
        CycleOutlet("A1", 2, off_s=7),
    ]


def test_the_state_follows_an_order_after_a_while(pdu: RedfishDevice, panel: FakePanel) -> None:
    assert ask(pdu, "POST", find_action(pdu, OUTLET)[0], {"PowerState": "Off"}).status == 204
    panel.values[SUBJECT, "outlet.state"] = "off"
    panel.time = SHOWS_AFTER_S - 0.01
    assert get(pdu, OUTLET)["PowerState"] == "On"
    panel.time = SHOWS_AFTER_S
    assert get(pdu, OUTLET)["PowerState"] == "Off"


def test_it_follows_late_also_when_nobody_had_looked_before() -> None:
    panel = FollowingPanel(values={(SUBJECT, "outlet.state"): "on"})
    device = make_pdu(panel, "A1")
    assert ask(device, "POST", f"{OUTLET}/Outlet.PowerControl", {"PowerState": "Off"}).status == 204
    assert panel.values[SUBJECT, "outlet.state"] == "off"
    assert get(device, OUTLET)["PowerState"] == "On"


def test_a_locked_outlet_stays_as_it_is(pdu: RedfishDevice, panel: FakePanel) -> None:
    panel.values[SUBJECT, "outlet.locked"] = 1.0
    assert get(pdu, OUTLET)["PowerControlLocked"] is True
    reply = ask(pdu, "POST", find_action(pdu, OUTLET)[0], {"PowerState": "On"})
    assert explain(reply) == (409, "ResourceInUse", "outlet A2 is locked out; take the lock away at the PDU first")
    assert panel.orders == []


def test_a_refused_order_holds_nothing() -> None:
    panel = FuzzPanel(shown=("on",), failing=True)
    device = make_pdu(panel, "A1")
    assert ask(device, "POST", f"{OUTLET}/Outlet.PowerControl", {"PowerState": "Off"}).status == 409
    panel.shown = ("off",)
    assert get(device, OUTLET)["PowerState"] == "Off"


def test_what_it_measures(pdu: RedfishDevice, panel: FakePanel) -> None:
    mains = get(pdu, f"{PDU}/Mains/AC1")
    assert mains["PolyPhaseVoltage"]["Line1ToNeutral"]["Reading"] == 231.068
    assert mains["PolyPhaseCurrentAmps"]["Line2"] == {"Reading": 4.5, "DataSourceUri": f"{PDU}/Sensors/CurrentL2"}
    assert mains["BreakerState"] is None
    panel.values["breaker/A1", "breaker.closed"] = 0.0
    mains = get(pdu, f"{PDU}/Mains/AC1")
    assert (mains["BreakerState"], mains["Status"]["Health"]) == ("Tripped", "Critical")
    assert get(pdu, OUTLET)["PowerWatts"]["Reading"] == 1200.0
    assert get(pdu, OUTLET)["UserLabel"] == "n0/fan*"


def test_energy_is_counted_between_requests(pdu: RedfishDevice, panel: FakePanel) -> None:
    def count() -> float:
        return float(get(pdu, OUTLET)["EnergykWh"]["Reading"])

    assert count() == 0.0
    panel.time, panel.values[SUBJECT, "outlet.power"] = 3600.0, 800.0
    assert count() == pytest.approx(1.0)
    panel.time, panel.values[SUBJECT, "outlet.power"] = 5400.0, float("nan")
    assert count() == pytest.approx(1.0)
    panel.time, panel.values[SUBJECT, "outlet.power"] = 7200.0, 800.0
    assert count() == pytest.approx(1.8)


def test_a_device_with_idle_orders_acknowledges_and_does_nothing(pdu: RedfishDevice, panel: FakePanel) -> None:
    pdu.impairment.idle_orders = True
    target = find_action(pdu, OUTLET)[0]
    assert ask(pdu, "POST", target, {"PowerState": "Off"}).status == 204
    assert ask(pdu, "PATCH", OUTLET, {"PowerOnDelaySeconds": 9}).status == 204
    assert ask(pdu, "POST", target, {"PowerState": "Sideways"}).status == 400
    assert panel.orders == []
    assert get(pdu, OUTLET)["PowerOnDelaySeconds"] == 0.0


def test_a_stale_one_shows_old_values_with_old_times(pdu: RedfishDevice, panel: FakePanel) -> None:
    sensor = f"{PDU}/Sensors/Voltage"
    before = get(pdu, sensor)
    pdu.impairment.stale = True
    panel.time, panel.values["pdu/A1", "pdu.voltage"] = 60.0, 180.0
    assert get(pdu, sensor) == before
    pdu.impairment.stale = False
    after = get(pdu, sensor)
    assert (before["ReadingTime"], after["ReadingTime"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:01:00Z")
    assert after["Reading"] == 180.0

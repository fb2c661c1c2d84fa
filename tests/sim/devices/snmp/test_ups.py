"""RFC 1628 over a panel."""

import math
from typing import Any

import pytest
from pysnmp.proto.rfc1902 import ObjectIdentifier  # type: ignore[import-untyped]  # the library has no types

from sim_hardware.devices.snmp import SnmpServer, Unknown, make_ups_agent
from sim_hardware.devices.snmp.mib import Status
from sim_hardware.plant.power.orders import SetUpsMode, StartTest, StopTest
from sim_hardware.plant.words import Value
from tests.sim.devices.nut.values import panel
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.snmp.requests import UPS, ask, read, write


def ups(unknown: Unknown = "minus-one", **changed: Value) -> tuple[SnmpServer, FakePanel]:
    plant = panel(on_battery_s=0.0, **changed)
    return make_ups_agent(plant, "A", unknown=unknown), plant


def show(server: SnmpServer, oid: str) -> Any:
    return read(server.agent, f"{UPS}.{oid}")


@pytest.mark.parametrize(
    ("oid", "value"),
    [
        ("1.2.0", b'Model "X" \\ 3'),
        ("2.1.0", 2),
        ("2.2.0", 0),
        ("2.3.0", 21),
        ("2.4.0", 100),
        ("2.5.0", 2736),
        ("2.7.0", 24),
        ("3.2.0", 3),
        ("3.3.1.2.1", 500),
        ("3.3.1.3.2", 231),
        ("3.3.1.4.1", -1),
        ("4.1.0", 3),
        ("4.2.0", 500),
        ("4.4.1.2.3", 230),
        ("4.4.1.3.1", 126),
        ("4.4.1.4.1", 2602),
        ("4.4.1.5.1", 40),
        ("5.3.1.2.1", 230),
        ("6.1.0", 0),
        ("7.3.0", 6),
        ("8.2.0", -1),
        ("8.5.0", 1),
        ("9.1.0", 230),
        ("9.5.0", 20000),
        ("9.6.0", 18000),
        ("9.9.0", 207),
    ],
)
def test_a_ups_in_good_order(oid: str, value: object) -> None:
    assert show(ups()[0], oid) == value


@pytest.mark.parametrize(("unknown", "shown"), [("minus-one", -1), ("zero", 0), ("absent", "NoSuchInstance")])
@pytest.mark.parametrize("bad", [None, math.nan, math.inf, "N/A"])
def test_what_is_unknown(unknown: Unknown, shown: object, bad: Value) -> None:
    server, _ = ups(unknown, charge=bad)
    assert (show(server, "2.4.0"), show(server, "2.5.0")) == (shown, 2736)


def test_what_is_beyond_reason_is_passed_on() -> None:
    server, _ = ups(load=562020.0, charge=-197.6, battery_temperature=1e300)
    assert (show(server, "2.4.0"), show(server, "2.7.0")) == (-198, 2**31 - 1)


@pytest.mark.parametrize(
    ("status", "battery", "source"),
    [
        (None, 1, 1),
        (frozenset[str](), 2, 1),
        (frozenset({"OB", "LB", "DISCHRG"}), 3, 5),
        (frozenset({"OL", "BYPASS"}), 2, 4),
        (frozenset({"OL", "BOOST"}), 2, 6),
        (frozenset({"OL", "TRIM"}), 2, 7),
        (frozenset({"OFF"}), 2, 2),
    ],
)
def test_status_and_source(status: Value, battery: int, source: int) -> None:
    server, _ = ups(status=status)
    assert (show(server, "2.1.0"), show(server, "4.1.0")) == (battery, source)


def test_alarms_come_and_go_in_the_middle_of_a_walk() -> None:
    server, plant = ups()
    assert ask(server.agent, "next", (f"{UPS}.6.1.0", None)).pairs[0][0] == (1, 3, 6, 1, 2, 1, 33, 1, 7, 1, 0)
    plant.time = 90.0
    plant.values["ups/A", "ups.status"] = frozenset({"OB", "DISCHRG"})
    plant.values["ups/A", "ups.input_voltage"] = 0.0
    plant.values["ups/A", "ups.charge"] = 0.0
    assert (show(server, "6.1.0"), show(server, "6.2.1.2.2"), show(server, "6.2.1.3.2")) == (3, (1, 3, 6, 1, 2, 1, 33, 1, 6, 3, 2), 9000)
    assert show(server, "2.1.0") == 4
    plant.time = 95.0
    rows = ask(server.agent, "bulk", (f"{UPS}.6.2", None), repetitions=3).pairs
    assert [oid[10:] for oid, _ in rows] == [(1, 2, 2), (1, 2, 4), (1, 2, 6)]
    assert show(server, "6.2.1.3.2") == 9000
    plant.values["ups/A", "ups.status"] = frozenset({"OL"})
    assert show(server, "6.2.1.2.2") == "NoSuchInstance"


def test_other_alarms() -> None:
    server, plant = ups(status=frozenset({"OL", "RB", "CAL", "OVER"}), battery_temperature=41.0, test_result="failed")
    plant.values["ups/A", "ups.charge"] = 0.0
    rows = ask(server.agent, "bulk", (f"{UPS}.6.2.1.2", None), repetitions=5).pairs
    assert [oid[-1] for oid, _ in rows] == [1, 5, 8, 19, 24]
    plant.values["ups/A", "ups.status"] = frozenset({"ALARM"})
    assert show(server, "6.2.1.2.18") == (1, 3, 6, 1, 2, 1, 33, 1, 6, 3, 18)


def test_a_stale_card_shows_what_it_saw_last_and_says_so() -> None:
    server, plant = ups()
    assert show(server, "2.4.0") == 100
    server.impairment.stale = True
    plant.values["ups/A", "ups.charge"] = 7.0
    assert (show(server, "2.4.0"), show(server, "6.2.1.2.20")[-1]) == (100, 20)
    server.impairment.stale = False
    assert (show(server, "2.4.0"), show(server, "6.2.1.2.20")) == (7, "NoSuchInstance")


def oid_of(test: int) -> Any:
    return ObjectIdentifier((1, 3, 6, 1, 2, 1, 33, 1, 7, 7, test))


def test_tests_are_started_and_stopped() -> None:
    server, plant = ups()
    plant.time = 10.0
    assert write(server.agent, f"{UPS}.7.1.0", oid_of(4)) == 0
    assert plant.orders == [StartTest(ups="A", kind="selftest")]
    plant.values["ups/A", "ups.test_result"] = "running"
    plant.time = 14.0
    assert (show(server, "7.3.0"), show(server, "7.5.0"), show(server, "7.6.0")) == (5, 1000, 400)
    assert write(server.agent, f"{UPS}.7.1.0", oid_of(5)) == Status.INCONSISTENT_VALUE
    assert write(server.agent, f"{UPS}.7.1.0", oid_of(2)) == 0
    plant.values["ups/A", "ups.test_result"] = "aborted"
    plant.time = 20.0
    assert (show(server, "7.3.0"), show(server, "7.6.0")) == (4, 400)
    assert write(server.agent, f"{UPS}.7.1.0", oid_of(5)) == 0
    assert plant.orders[1:] == [StopTest(ups="A"), StartTest(ups="A", kind="calibration")]
    assert write(server.agent, f"{UPS}.7.1.0", oid_of(9)) == Status.WRONG_VALUE
    assert write(server.agent, f"{UPS}.7.1.0", 4) == Status.WRONG_TYPE
    assert (write(server.agent, f"{UPS}.7.2.0", 5), write(server.agent, f"{UPS}.7.2.0", 0)) == (Status.INCONSISTENT_VALUE, 0)
    assert show(server, "7.2.0") == 1


def test_orders_that_are_acknowledged_and_not_done() -> None:
    server, plant = ups()
    server.impairment.idle_orders = True
    assert [write(server.agent, f"{UPS}.7.1.0", oid_of(4)), write(server.agent, f"{UPS}.8.4.0", 3)] == [0, 0]
    assert plant.orders == []


def test_shutdown_counts_down_and_can_be_stopped() -> None:
    server, plant = ups()
    assert write(server.agent, f"{UPS}.8.2.0", 60) == 0
    plant.time = 20.0
    assert (show(server, "8.2.0"), show(server, "6.2.1.2.22")[-1]) == (40, 22)
    assert write(server.agent, f"{UPS}.8.2.0", -1) == 0
    assert show(server, "8.2.0") == -1
    for oid, value in ((2, -2), (4, 301), (5, 3)):
        assert write(server.agent, f"{UPS}.8.{oid}.0", value) == Status.WRONG_VALUE
    assert plant.orders == []


def test_a_reboot_is_off_and_on() -> None:
    server, plant = ups()
    assert write(server.agent, f"{UPS}.8.4.0", 10) == 0
    assert plant.orders == [SetUpsMode(ups="A", mode="off")]
    for plant.time in (1.0, 11.0):
        server._timed.run()
    assert plant.orders[1:] == [SetUpsMode(ups="A", mode="normal")]


def test_a_shutdown_stays_off_when_restart_is_not_wanted_but_a_start_is_obeyed() -> None:
    server, plant = ups()
    assert (write(server.agent, f"{UPS}.8.5.0", 2), write(server.agent, f"{UPS}.8.2.0", 5)) == (0, 0)
    plant.time = 5.0
    server._timed.run()
    assert server._timed.due == math.inf
    assert write(server.agent, f"{UPS}.8.3.0", 30) == 0
    assert show(server, "8.3.0") == 30
    plant.time = 35.0
    server._timed.run()
    assert plant.orders == [SetUpsMode(ups="A", mode="off"), SetUpsMode(ups="A", mode="normal")]


def test_the_countdown_to_on_leaves_the_one_to_off_alone() -> None:
    """Each object of the group stops or overrides its own countdown only (RFC 1628, upsControl)."""
    server, _ = ups()
    assert (write(server.agent, f"{UPS}.8.2.0", 50), write(server.agent, f"{UPS}.8.3.0", 70)) == (0, 0)
    assert (show(server, "8.2.0"), show(server, "8.3.0")) == (50, 70)
    assert write(server.agent, f"{UPS}.8.3.0", -1) == 0
    assert (show(server, "8.2.0"), show(server, "8.3.0")) == (50, -1)


def test_an_integer_that_comes_as_timeticks() -> None:
    server, _ = ups()
    server.agent.mib.mistyped[1, 3, 6, 1, 2, 1, 33, 1, 2] = "ticks"
    data = server.agent.answer(bytes.fromhex("302b02010104067075626c6963a01e020400c8419a0201000201003010300e060a2b0601020121010204000500"))
    assert data is not None
    assert data.endswith(bytes.fromhex("430164"))

"""A UPS by RFC 1628: its status out of several columns, phases, and all the ways in which cards say that they do not know."""

from __future__ import annotations

from pathlib import Path

import pytest

import supernoded_snmp
from supernoded.model import Reading, State
from supernoded.plugin import Sensor, Value
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryWires
from supernoded_snmp.asn import Asn, Oid
from supernoded_snmp.interpret import interpret
from supernoded_snmp.manager import Walked
from supernoded_snmp.profile import Column, Profile
from supernoded_snmp.settings import SnmpSettings
from tests.plugins.snmp.agents import URL, Row, Table, answer_with, by_key, make_node, oid, typed

MIB = "1.3.6.1.2.1.33.1"
UNKNOWN = (None, State.UNKNOWN)
OL: Value = frozenset({"ol"})


def make_rows() -> dict[str, Row]:
    """A healthy UPS of three phases, on mains."""
    rows: dict[str, Row] = {
        "1.3.6.1.2.1.1.2.0": oid("1.3.6.1.4.1.99999.1"),
        f"{MIB}.1.2.0": "Model 9",
        f"{MIB}.2.1.0": 2,
        f"{MIB}.2.3.0": 12,
        f"{MIB}.2.4.0": 98,
        f"{MIB}.2.5.0": 2185,
        f"{MIB}.2.7.0": 24,
        f"{MIB}.3.1.0": typed("counter", 4),
        f"{MIB}.3.2.0": 3,
        f"{MIB}.4.1.0": 3,
        f"{MIB}.4.3.0": 3,
        f"{MIB}.6.1.0": typed("gauge", 0),
        f"{MIB}.7.1.0": oid(f"{MIB}.7.7.1"),
        f"{MIB}.7.3.0": 6,
        f"{MIB}.9.1.0": 230,
        f"{MIB}.9.5.0": 80000,
        f"{MIB}.9.7.0": 2,
    }
    for line, (volts, amperes, watts, percent) in enumerate(((231, 300, 6500, 26), (229, 200, 4400, 17), (230, 100, 2200, 9)), start=1):
        rows |= {f"{MIB}.3.3.1.2.{line}": 500, f"{MIB}.3.3.1.3.{line}": volts, f"{MIB}.4.4.1.2.{line}": 230}
        rows |= {f"{MIB}.4.4.1.3.{line}": amperes, f"{MIB}.4.4.1.4.{line}": watts, f"{MIB}.4.4.1.5.{line}": percent}
    return rows


@pytest.fixture
def rows() -> dict[str, Row]:
    return make_rows()


@pytest.fixture
def sensor(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path, rows: dict[str, Row]) -> Sensor:
    answer_with(supernoded_wires, Table(rows))
    node = make_node(supernoded_wires, supernoded_clock, tmp_path, ups="snmp://10.0.0.5")
    (sensor,) = supernoded_snmp.supernoded_sensors(SnmpSettings(), node)
    return sensor


async def read(sensor: Sensor) -> dict[str, Reading]:
    found = by_key(await sensor.read())
    assert {subject for subject, _ in found} == {"ups/A"}
    assert [find_fault(reading) for reading in found.values() if reading.state is State.GOOD] == [None] * sum(
        reading.state is State.GOOD for reading in found.values()
    )
    return {quantity: reading for (_, quantity), reading in found.items()}


async def test_a_healthy_one(sensor: Sensor) -> None:
    assert (sensor.name, sensor.scope, sensor.period) == ("snmp.ups/A", "feed/A", 2.0)
    found = await read(sensor)
    assert {quantity: reading.value for quantity, reading in found.items()} == {
        "ups.status": frozenset({"ol"}),
        "ups.source": "normal",
        "ups.link": "ok",
        "ups.runtime": 720.0,
        "ups.charge": 98.0,
        "ups.battery_voltage": 218.5,
        "ups.battery_temperature": 24.0,
        "ups.input_voltage": 229.0,
        "ups.input_voltage.L1": 231.0,
        "ups.input_voltage.L2": 229.0,
        "ups.input_voltage.L3": 230.0,
        "ups.input_frequency": 50.0,
        "ups.output_voltage": 230.0,
        **{f"ups.output_voltage.L{line}": 230.0 for line in (1, 2, 3)},
        "ups.output_va": 13800.0,
        "ups.output_va.L1": 6900.0,
        "ups.output_va.L2": 4600.0,
        "ups.output_va.L3": 2300.0,
        "ups.output_power": 13100.0,
        "ups.load": pytest.approx(52 / 3),
        "ups.load.L1": 26.0,
        "ups.load.L2": 17.0,
        "ups.load.L3": 9.0,
        "ups.input_voltage.nominal": 230.0,
        "ups.rated_va": 80000.0,
        "ups.runtime.low": 120.0,
        "ups.test_result": "none",
        "ups.model": "Model 9",
        "x.rfc1628.input_line_bads": 4.0,
    }


@pytest.mark.parametrize(
    ("changes", "status", "source"),
    [
        ({"4.1.0": 5}, {"ob"}, "battery"),
        ({"4.1.0": 5, "2.1.0": 3}, {"ob", "lb"}, "battery"),
        ({"4.1.0": 5, "2.1.0": 4}, {"ob", "lb"}, "battery"),
        ({"4.1.0": 4}, {"ol", "bypass"}, "bypass"),
        ({"4.1.0": 2}, {"off"}, "none"),
        ({"4.1.0": 6}, {"ol", "boost"}, "booster"),
        ({"4.1.0": 7}, {"ol", "trim"}, "reducer"),
        ({"7.3.0": 5, "7.1.0": oid(f"{MIB}.7.7.4")}, {"ol", "test"}, "normal"),
        ({"7.3.0": 5, "7.1.0": oid(f"{MIB}.7.7.5"), "6.1.0": 1, "6.2.1.2.1": oid(f"{MIB}.6.3.24")}, {"ol", "cal"}, "normal"),
        ({"7.3.0": 1, "7.1.0": oid(f"{MIB}.7.7.5")}, {"ol"}, "normal"),
        ({"6.1.0": 2, "6.2.1.2.1": oid(f"{MIB}.6.3.1"), "6.2.1.2.2": oid(f"{MIB}.6.3.8")}, {"ol", "rb", "over"}, "normal"),
        ({"6.1.0": 1, "6.2.1.2.9": oid("1.3.6.1.4.1.99999.3")}, {"ol", "alarm"}, "normal"),  # somebody's own, not lowBattery(3)
        ({"6.1.0": 1, "6.2.1.2.9": oid(f"{MIB}.6.3.2")}, {"ol", "ob"}, "normal"),  # a conflict, for the policy to judge
        ({"6.1.0": 1, "6.2.1.2.9": oid(f"{MIB}.6.3.22")}, {"ol", "fsd"}, "normal"),
        ({"2.1.0": 1}, {"ol"}, "normal"),
    ],
)
async def test_statuses(sensor: Sensor, rows: dict[str, Row], changes: dict[str, Row], status: set[str], source: str) -> None:
    rows |= {f"{MIB}.{name}": value for name, value in changes.items()}
    found = await read(sensor)
    assert (found["ups.status"].value, found["ups.source"].value) == (frozenset(status), source)


@pytest.mark.parametrize("source", [1, 0, 99, typed("text", b""), typed("ticks", 1)])
async def test_a_source_that_says_nothing_is_no_status(sensor: Sensor, rows: dict[str, Row], source: Row) -> None:
    rows[f"{MIB}.4.1.0"] = source
    found = await read(sensor)
    assert [(found[quantity].value, found[quantity].state) for quantity in ("ups.status", "ups.source")] == [UNKNOWN, UNKNOWN]
    assert found["ups.charge"].value == 98.0


async def test_what_stands_for_unknown_is_unknown(sensor: Sensor, rows: dict[str, Row]) -> None:
    rows |= {f"{MIB}.{name}": -1 for name in ("2.3.0", "2.4.0", "2.5.0", "4.4.1.5.2")} | {f"{MIB}.2.7.0": 0}
    found = await read(sensor)
    for quantity in ("ups.runtime", "ups.charge", "ups.battery_voltage", "ups.battery_temperature", "ups.load.L2", "ups.load"):
        assert (found[quantity].value, found[quantity].state) == UNKNOWN, quantity
        assert "unknown" in found[quantity].note
    assert (found["ups.status"].value, found["ups.load.L1"].value) == (OL, 26.0)


async def test_no_minutes_on_mains_are_not_worked_out(sensor: Sensor, rows: dict[str, Row]) -> None:
    rows[f"{MIB}.2.3.0"] = 0
    assert (await read(sensor))["ups.runtime"].state is State.UNKNOWN
    rows[f"{MIB}.4.1.0"] = 5
    assert (await read(sensor))["ups.runtime"].value == 0.0


async def test_lines_that_are_not_there_are_no_outage(sensor: Sensor, rows: dict[str, Row]) -> None:
    rows |= {f"{MIB}.3.2.0": 1, f"{MIB}.4.3.0": 1} | {f"{MIB}.{group}.{line}": 0 for group in ("3.3.1.3", "4.4.1.2") for line in (2, 3)}
    found = await read(sensor)
    assert found["ups.input_voltage"].value == 231.0
    assert not [quantity for quantity in found if ".L" in quantity]


async def test_rows_with_a_zero_too_many(sensor: Sensor, rows: dict[str, Row]) -> None:
    for line in (1, 2, 3):
        rows[f"{MIB}.3.3.1.3.{line}.0"] = rows.pop(f"{MIB}.3.3.1.3.{line}")
    assert (await read(sensor))["ups.input_voltage"].value == 229.0


async def test_another_scale_is_no_voltage(sensor: Sensor, rows: dict[str, Row]) -> None:
    """Tenths where the standard has volts: neither they nor what is worked out of them is believed."""
    rows |= {f"{MIB}.3.3.1.3.1": 2310, f"{MIB}.3.3.1.2.1": 5000, f"{MIB}.9.5.0": 8} | {f"{MIB}.4.4.1.2.{line}": 2300 for line in (1, 2, 3)}
    found = await read(sensor)
    for quantity in ("ups.input_voltage", "ups.input_frequency", "ups.output_va", "ups.output_power", "ups.rated_va"):
        assert (found[quantity].value, found[quantity].state) == UNKNOWN, quantity
    assert found["ups.input_voltage.L2"].value == 229.0


@pytest.mark.parametrize("kind", ["ticks", "gauge", "counter"])
async def test_a_wrong_type_is_taken_with_a_note(sensor: Sensor, rows: dict[str, Row], kind: str) -> None:
    rows |= {f"{MIB}.2.3.0": typed(kind, 12), f"{MIB}.4.1.0": typed(kind, 3), f"{MIB}.2.4.0": "98"}
    found = await read(sensor)
    assert (found["ups.runtime"].value, found["ups.status"].value, found["ups.charge"].value) == (720.0, OL, 98.0)
    assert ("ticks" in found["ups.runtime"].note) is (kind == "ticks")
    assert "as a text" in found["ups.charge"].note


async def test_a_card_that_has_lost_its_ups_tells_nothing(sensor: Sensor, rows: dict[str, Row]) -> None:
    rows |= {f"{MIB}.6.1.0": 1, f"{MIB}.6.2.1.2.7": oid(f"{MIB}.6.3.20")}
    found = await read(sensor)
    assert found.pop("ups.link").value == "stale"
    assert {(reading.value, reading.state) for reading in found.values()} == {UNKNOWN}
    assert "upsAlarmCommunicationsLost" in found["ups.status"].note


async def test_alarms_that_change_under_way_are_told(sensor: Sensor, rows: dict[str, Row]) -> None:
    rows[f"{MIB}.6.1.0"] = 2
    reading = (await read(sensor))["ups.status"]
    assert (reading.value, "0 rows where 2 are told" in reading.note) == (OL, True)


async def test_a_counter_goes_on_over_its_end_and_begins_anew_after_a_reset(sensor: Sensor, rows: dict[str, Row]) -> None:
    seen = []
    for count in (2**32 - 3, 2, 5, 1):
        rows[f"{MIB}.3.1.0"] = typed("counter", count)
        seen.append((await read(sensor))["x.rfc1628.input_line_bads"].value)
    assert seen == [2.0**32 - 3, 2.0**32 + 2, 2.0**32 + 5, 1.0]


async def test_a_table_that_breaks_off_costs_its_missing_rows(sensor: Sensor, supernoded_wires: MemoryWires, rows: dict[str, Row]) -> None:
    await read(sensor)
    agent = Table(rows).make_agent()
    wire = supernoded_wires.datagrams(URL)
    sent = len(wire.sent)
    wire.answer = lambda datagram: (agent.answer(datagram) or b"") if len(wire.sent) - sent < 4 else b""
    found = await read(sensor)
    assert found["ups.charge"].value == 98.0
    lost = [reading for reading in found.values() if reading.state is State.UNKNOWN]
    assert lost
    assert all("no answer that fits" in reading.note for reading in lost), [reading.note for reading in lost]


async def test_a_whole_is_not_made_of_a_part_of_its_lines(sensor: Sensor, rows: dict[str, Row]) -> None:
    del rows[f"{MIB}.4.4.1.4.3"], rows[f"{MIB}.3.3.1.3.2"]  # the lowest of the three
    found = await read(sensor)
    for quantity in ("ups.output_power", "ups.input_voltage"):
        assert (found[quantity].value, found[quantity].state) == UNKNOWN, quantity
        assert "2 of 3 lines were told" in found[quantity].note
    assert found["ups.input_voltage.L1"].value == 231.0


def test_a_whole_is_not_made_of_a_table_that_broke_off() -> None:
    column = Column(oid="1.2", quantity="pdu.current.L{phase}", unit="A", index="phase", whole="sum")
    first: dict[Oid, Asn] = {(1,): Asn("integer", 5)}
    told = {"": 5.0, "the table broke off after 1 rows": None}
    for more, value in told.items():
        profile = Profile(name="p", text="t", source="s", of="pdu", columns=(column,))
        readings = interpret(profile, profile.columns, {"1.2": Walked(first, more)}, "pdu/A1", (), 0.0)
        whole = next(reading for reading in readings if reading.quantity == "pdu.current")
        assert (whole.value, more in whole.note) == (value, True)


async def test_an_agent_that_is_silent_is_told_and_comes_back(sensor: Sensor, supernoded_wires: MemoryWires) -> None:
    wire = supernoded_wires.datagrams(URL)
    answer, wire.answer = wire.answer, lambda _: b""
    found = await read(sensor)
    assert {quantity: reading.value for quantity, reading in found.items()} == {"ups.link": "silent", "ups.status": None}
    wire.answer = answer
    assert (await read(sensor))["ups.charge"].value == 98.0
    wire.answer = lambda _: b""
    found = await read(sensor)
    assert found.pop("ups.link").value == "silent"
    assert len(found) > 20
    assert {(reading.value, reading.state) for reading in found.values()} == {UNKNOWN}
    assert all("no answer that fits" in reading.note for reading in found.values())


@pytest.mark.parametrize(
    ("changes", "quantity", "value"),
    [
        ({"2.4.0": 0}, "ups.charge", None),
        ({"2.4.0": 0, "4.1.0": 5}, "ups.charge", 0.0),
        ({"2.4.0": 0, "6.1.0": 1, "6.2.1.2.1": oid(f"{MIB}.6.3.1")}, "ups.charge", 0.0),  # a battery that is bad
        ({f"4.4.1.4.{line}": 0 for line in (1, 2, 3)}, "ups.output_power", None),
        ({f"4.4.1.{column}.{line}": 0 for column in (4, 5) for line in (1, 2, 3)}, "ups.output_power", 0.0),
        ({"4.4.1.5.1": 255}, "ups.load", None),
        ({"3.3.1.2.1": 0}, "ups.input_frequency", None),
    ],
)
async def test_zeros(sensor: Sensor, rows: dict[str, Row], changes: dict[str, Row], quantity: str, value: float | None) -> None:
    rows |= {f"{MIB}.{name}": changed for name, changed in changes.items()}
    assert (await read(sensor))[quantity].value == value


async def test_what_is_no_ups_is_not_made_one(sensor: Sensor, rows: dict[str, Row]) -> None:
    """A cooling unit that a list of devices calls a UPS."""
    for name in list(rows):
        if name.startswith(MIB):
            del rows[name]
    rows["1.3.6.1.2.1.1.2.0"] = oid("1.3.6.1.4.1.476.1.42")
    found = await read(sensor)
    assert (found["ups.link"].value, found["ups.status"].value) == ("silent", None)
    assert found["ups.status"].note.endswith("has the columns of none of rfc1628; set ?profile= in its URL")

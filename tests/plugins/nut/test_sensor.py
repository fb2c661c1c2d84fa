"""A sensor and what its server says: values, stale data, no driver, a start, silence, another name."""

from __future__ import annotations

import pytest

import supernoded_nut
from supernoded.model import Reading, State
from supernoded.plugin import Node, Sensor, WireError
from supernoded.testing import MemoryWires
from supernoded_nut.settings import NutSettings
from supernoded_nut.words import RefusalError
from tests.plugins.nut.conftest import SERVER
from tests.plugins.nut.upsd import Upsd

STATUS, CHARGE, LINK = ("ups/A", "ups.status"), ("ups/A", "ups.charge"), ("ups/A", "ups.link")


@pytest.fixture
def sensors(node: Node, upsd: Upsd) -> dict[str, Sensor]:
    return {sensor.name: sensor for sensor in supernoded_nut.supernoded_sensors(NutSettings(), node)}


@pytest.fixture
def sensor(sensors: dict[str, Sensor]) -> Sensor:
    return sensors["nut.ups/A"]


async def read(sensor: Sensor) -> dict[tuple[str, str], Reading]:
    readings = await sensor.read()
    found = {(reading.subject, reading.quantity): reading for reading in readings}
    assert len(found) == len(readings)
    return found


async def test_what_a_ups_tells(sensor: Sensor) -> None:
    found = await read(sensor)
    assert {key: reading.value for key, reading in found.items()} == {LINK: "ok", STATUS: frozenset({"ol"}), CHARGE: 100.0}


@pytest.mark.parametrize(
    ("refusal", "link", "why"),
    [("DATA-STALE", "stale", "has lost the device"), ("DRIVER-NOT-CONNECTED", "no-driver", "its driver does not run")],
)
async def test_a_server_without_data_is_a_state(sensor: Sensor, upsd: Upsd, refusal: str, link: str, why: str) -> None:
    await read(sensor)
    upsd.devices["ups-a"] = refusal
    found = await read(sensor)
    assert (found[LINK].value, found[LINK].state) == (link, State.GOOD)
    assert {key: reading.value for key, reading in found.items() if key != LINK} == {STATUS: None, CHARGE: None}
    assert refusal in found[CHARGE].note
    assert why in found[STATUS].note
    assert found[STATUS].state is State.UNKNOWN
    upsd.devices["ups-a"] = {"ups.status": "OB"}
    assert (await read(sensor))[STATUS].value == frozenset({"ob"})


async def test_the_status_is_unknown_even_if_there_never_was_one(sensor: Sensor, upsd: Upsd) -> None:
    upsd.devices["ups-a"] = "DRIVER-NOT-CONNECTED"
    assert {key: reading.value for key, reading in (await read(sensor)).items()} == {LINK: "no-driver", STATUS: None}


async def test_a_driver_that_has_only_started_tells_nothing(sensor: Sensor, upsd: Upsd) -> None:
    await read(sensor)
    upsd.devices["ups-a"] = {"ups.status": "WAIT", "battery.charge": "100"}
    found = await read(sensor)
    assert {key: reading.value for key, reading in found.items()} == {LINK: "stale", STATUS: None, CHARGE: None}
    assert "only just started" in found[CHARGE].note


async def test_silence_is_told(sensor: Sensor, supernoded_wires: MemoryWires) -> None:
    await read(sensor)
    supernoded_wires.stream(SERVER).answer = None
    found = await read(sensor)
    assert {key: reading.value for key, reading in found.items()} == {LINK: "silent", STATUS: None, CHARGE: None}
    assert found[LINK].note == found[STATUS].note
    assert "nobody listens" in found[STATUS].note


async def test_silence_of_a_pdu_is_a_fault(sensors: dict[str, Sensor], supernoded_wires: MemoryWires) -> None:
    supernoded_wires.stream(SERVER).answer = None
    with pytest.raises(WireError, match="nobody listens"):
        await sensors["nut.pdu/A1"].read()


async def test_garbage_is_silence(sensor: Sensor, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.stream(SERVER).answer = lambda _: b"\x00\xff" * 100 + b"\n"
    found = await read(sensor)
    assert found[LINK].value == "silent"
    assert "is this a NUT server" in found[STATUS].note


async def test_a_wrong_name_is_a_fault_that_says_the_right_ones(sensor: Sensor, upsd: Upsd) -> None:
    upsd.devices["other"] = upsd.devices.pop("ups-a")
    with pytest.raises(WireError, match=r"u:3493: LIST VAR ups-a was refused: UNKNOWN-UPS; the server has pdu-a1, other: correct the name"):
        await sensor.read()


async def test_a_server_that_lets_nobody_read_is_a_fault(sensor: Sensor, upsd: Upsd) -> None:
    upsd.devices["ups-a"] = "ACCESS-DENIED"
    with pytest.raises(RefusalError, match="ACCESS-DENIED; look at user and password_file"):
        await sensor.read()


async def test_a_variable_that_is_gone_is_no_longer_told(sensor: Sensor, upsd: Upsd) -> None:
    await read(sensor)
    upsd.devices["ups-a"] = {"ups.status": "OL"}
    assert set(await read(sensor)) == {LINK, STATUS}
    upsd.devices["ups-a"] = "DATA-STALE"
    assert set(await read(sensor)) == {LINK, STATUS}


async def test_a_pdu_has_no_link_and_loses_its_outlets(sensors: dict[str, Sensor], upsd: Upsd) -> None:
    pdu = sensors["nut.pdu/A1"]
    assert {key: reading.value for key, reading in (await read(pdu)).items()} == {("pdu/A1/outlet7", "outlet.state"): "on"}
    upsd.devices["pdu-a1"] = "DATA-STALE"
    found = await read(pdu)
    assert {key: reading.value for key, reading in found.items()} == {
        ("pdu/A1", "pdu.power"): None,
        ("pdu/A1/outlet7", "outlet.state"): None,
    }


async def test_devices_of_one_server_share_its_connection(sensors: dict[str, Sensor], supernoded_wires: MemoryWires) -> None:
    for sensor in sensors.values():
        await sensor.read()
    assert supernoded_wires.stream(SERVER).sent == [b"LIST VAR ups-a\n", b"LIST VAR pdu-a1\n"]

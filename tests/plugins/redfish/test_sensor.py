"""The sensor and the check against a BMC in memory: on, off, gone, garbage, and readings that do not move."""

from __future__ import annotations

import msgspec
import pytest

import supernoded_redfish
from supernoded.model import Reading, State
from supernoded.parts import Finding, World
from supernoded.plugin import Check, Node, Sensor, WireError
from supernoded.testing import ManualClock, MemoryHttp, MemoryWires
from supernoded_redfish.settings import RedfishSettings

URL = "https://bmc0"
MANAGER = "redfish/v1/Managers/1"
MONITOR = f"{MANAGER}/Oem/Any/LinkHealthMonitor"
SETTINGS = msgspec.convert(
    {"bmcs": {"own": {"url": URL, "ports": {"Card0/0": "n0/card0/port0"}}, "peer": {"url": "https://bmc1", "node": "n1"}}}, RedfishSettings
)
SWITCH = "bmc.link_monitor"
POST, PRE = "link.ber.post_fec", "link.ber.pre_fec"


def show_port(number: int, rate: object, second: int = 0) -> dict[str, object]:
    path = f"/redfish/v1/Chassis/1/NetworkAdapters/Card0/Ports/{number}"
    return {
        "Port": {"@odata.id": path},
        "BitErrorRate": rate,
        "PreFecBitErrorRate": 1e-8,
        "ReadingTime": f"2001-01-01T00:00:{second:02d}Z",  # its clock is decades behind, as after a dead battery
    }


@pytest.fixture
def bmc(supernoded_wires: MemoryWires) -> MemoryHttp:
    http = supernoded_wires.http(URL)
    http.answers["redfish/v1/Managers"] = {"Members": [{"@odata.id": f"/{MANAGER}"}]}
    http.answers[MANAGER] = {"Oem": {"Any": {"LinkHealthMonitor": {"@odata.id": f"/{MONITOR}"}}}}
    http.answers[MONITOR] = {"Enabled": True, "IntervalSeconds": 5}
    http.answers[f"{MONITOR}/Readings"] = {"Ports": [show_port(0, 2e-13), show_port(1, None)]}
    return http


@pytest.fixture
def sensor(supernoded_node: Node) -> Sensor:
    return supernoded_redfish.supernoded_sensors(SETTINGS, supernoded_node)[0]


@pytest.fixture
def check(supernoded_node: Node) -> Check:
    return supernoded_redfish.supernoded_checks(SETTINGS, supernoded_node)[0]


async def read(sensor: Sensor) -> dict[tuple[str, str], Reading]:
    readings = await sensor.read()
    found = {(reading.subject, reading.quantity): reading for reading in readings}
    assert len(found) == len(readings)
    return found


async def look(check: Check, node: Node) -> Finding:
    return await check.check(World(topology=node.topology))


async def test_a_monitor_that_is_on(bmc: MemoryHttp, sensor: Sensor) -> None:
    del bmc
    found = await read(sensor)
    assert {key: (reading.value, reading.state) for key, reading in found.items()} == {
        ("n0", SWITCH): (1.0, State.GOOD),
        ("n0/card0/port0", POST): (2e-13, State.GOOD),
        ("n0/card0/port0", PRE): (1e-8, State.GOOD),
        ("n0/nic/Card0/port1", POST): (None, State.UNKNOWN),
        ("n0/nic/Card0/port1", PRE): (1e-8, State.GOOD),
    }
    assert (sensor.name, sensor.period) == ("redfish.own", 5.0)


async def test_a_monitor_that_is_off_leaves_its_ports_unknown(bmc: MemoryHttp, sensor: Sensor) -> None:
    bmc.answers[MONITOR] = {"Enabled": False}
    found = await read(sensor)
    assert (found["n0", SWITCH].value, found["n0", SWITCH].state) == (0.0, State.GOOD)
    assert {key for key in found if key[1] != SWITCH} == {("n0/card0/port0", POST), ("n0/card0/port0", PRE)}
    assert all(found[key].value is None and "off" in found[key].note for key in found if key[1] != SWITCH)


@pytest.mark.parametrize("place", ["redfish/v1/Managers", MANAGER, MONITOR, f"{MONITOR}/Readings"])
@pytest.mark.parametrize("why", ["401 Unauthorized", "404 Not Found", "no whole answer to GET within 3 s", "200, but no JSON object"])
async def test_what_cannot_be_had_is_unknown_with_the_reason(bmc: MemoryHttp, sensor: Sensor, place: str, why: str) -> None:
    bmc.answers[place] = WireError(f"{URL}/{place}: {why}")
    found = await read(sensor)
    lost = [reading for key, reading in found.items() if key[1] != SWITCH or place != f"{MONITOR}/Readings"]
    assert len(lost) >= 2
    assert all((reading.value, reading.state) == (None, State.UNKNOWN) and why in reading.note for reading in lost)


async def test_a_bmc_without_a_monitor_says_what_to_set(bmc: MemoryHttp, sensor: Sensor) -> None:
    bmc.answers[MANAGER] = {"Oem": {"Any": {}}}
    assert "set link_monitor" in (await read(sensor))["n0", SWITCH].note


async def test_a_monitor_that_moved_is_found_again(bmc: MemoryHttp, sensor: Sensor) -> None:
    assert (await read(sensor))["n0", SWITCH].value == 1.0
    bmc.answers[MANAGER] = {"Oem": {"LinkHealthMonitor": {"@odata.id": "/redfish/v1/new"}}}
    bmc.answers["redfish/v1/new"] = {"Enabled": False}
    bmc.answers[MONITOR] = WireError("404")
    assert (await read(sensor))["n0", SWITCH].value is None
    assert (await read(sensor))["n0", SWITCH].value == 0.0


async def test_a_path_of_the_settings_is_not_looked_for(bmc: MemoryHttp, supernoded_node: Node) -> None:
    bmc.answers["redfish/v1/Managers"] = WireError("403")
    raw = {"bmcs": {"own": {"url": URL, "link_monitor": "Managers/1/Oem/Any/LinkHealthMonitor"}}}
    (sensor,) = supernoded_redfish.supernoded_sensors(msgspec.convert(raw, RedfishSettings), supernoded_node)
    assert (await read(sensor))["n0", SWITCH].value == 1.0


async def test_a_time_stamp_that_does_not_move_is_that_of_an_old_reading(
    bmc: MemoryHttp, sensor: Sensor, supernoded_clock: ManualClock
) -> None:
    for seconds, state in ((0.0, State.GOOD), (15.0, State.GOOD), (1.0, State.STALE)):
        await supernoded_clock.advance(seconds)
        assert (await read(sensor))["n0/card0/port0", POST].state is state
    bmc.answers[f"{MONITOR}/Readings"] = {"Ports": [show_port(0, 2e-13, second=5)]}
    found = await read(sensor)
    assert found["n0/card0/port0", POST].state is State.GOOD
    assert found["n0/nic/Card0/port1", PRE].note == "the monitor is on and does not show this port"


async def test_a_reading_without_a_time_may_be_any_age(bmc: MemoryHttp, sensor: Sensor) -> None:
    bmc.answers[f"{MONITOR}/Readings"] = {"Ports": [show_port(0, 2e-13) | {"ReadingTime": None}]}
    reading = (await read(sensor))["n0/card0/port0", POST]
    assert (reading.state, reading.value) == (State.UNKNOWN, None)


async def test_the_check_tells_which_are_off(bmc: MemoryHttp, check: Check, supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    finding = await look(check, supernoded_node)
    assert (finding.passed, finding.found.split(": ")[:2]) == (None, ["n0", "on; n1"])
    supernoded_wires.http("https://bmc1").answers |= bmc.answers
    finding = await look(check, supernoded_node)
    assert (finding.passed, finding.found, finding.fix) == (True, "n0: on; n1: on", "nothing to do")
    bmc.answers[MONITOR] = {"Enabled": False}
    finding = await look(check, supernoded_node)
    assert (finding.passed, finding.found) == (False, "n0: off; n1: on")
    assert URL in finding.fix
    assert check.id == "L4"


async def test_a_node_without_a_bmc_in_its_settings_proves_nothing(supernoded_node: Node) -> None:
    (check,) = supernoded_redfish.supernoded_checks(RedfishSettings(), supernoded_node)
    finding = await look(check, supernoded_node)
    assert (finding.passed, "plugins.redfish.bmcs" in finding.fix) == (None, True)
    assert supernoded_redfish.supernoded_sensors(RedfishSettings(), supernoded_node) == []


async def test_a_port_that_is_shown_without_a_rate_is_not_called_missing(bmc: MemoryHttp, sensor: Sensor) -> None:
    port = show_port(0, 2e-13)
    del port["PreFecBitErrorRate"]
    bmc.answers[f"{MONITOR}/Readings"] = {"Ports": [port]}
    found = await read(sensor)
    assert found["n0/card0/port0", POST].value == 2e-13
    assert found["n0/card0/port0", PRE].note == "the monitor shows this port without this rate"


def test_a_first_read_has_the_time_that_its_answers_may_take(sensor: Sensor) -> None:
    assert sensor.timeout > 7 * 3.0  # seconds: the managers, four of them, the monitor, its readings

"""Services of which any part is garbage: what comes of it are readings or a WireError, in bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

import supernoded_redfish
from supernoded.errors import WireError
from supernoded.limits import Limits
from supernoded.model import Action, Reading, Setpoint, Sight, State, Step
from supernoded.plugin import Node
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded.topology.site import CoolantLoop, Supernode
from supernoded.vetting import vet_reading, vet_sight
from supernoded_redfish.settings import RedfishSettings
from tests.plugins.redfish.services import URL, Service, link, sensor

CDU, CHASSIS = "redfish/v1/ThermalEquipment/CDUs/1", "redfish/v1/Chassis/1"
DETECTION, SUBSYSTEM = f"{CDU}/LeakDetection", f"{CHASSIS}/ThermalSubsystem"
MODES = {"ControlMode@Redfish.AllowableValues": ["Automatic", "Override", "Manual"]}
CHAIN: dict[str, dict[str, dict[str, object]]] = {  # collections, and what is in them
    f"{CDU}/Sensors": {"SupplyTemperature": sensor("Temperature", 22.0), "ReturnTemperature": sensor("Temperature", 30.0, at="1")},
    f"{CDU}/Pumps": {"0": {"Status": {"State": "Enabled"}, "PumpSpeedPercent": {"Reading": 63.0, "SpeedRPM": 2200}}},
    f"{CDU}/SecondaryCoolantConnectors": {"1": {"FlowLitersPerMinute": {"Reading": 140.0}}},
    f"{CDU}/Controls": {
        "Supply": {"ControlType": "Temperature", "SetPoint": 24.0, "AllowableMin": 10, "AllowableMax": 40},
        "Authority": {"ControlType": "Temperature", "ControlMode": "Automatic", **MODES},
    },
    f"{DETECTION}/LeakDetectors": {"Tray": {"DetectorState": "OK", "Status": {"State": "Enabled", "Health": "OK"}}},
    f"{CHASSIS}/Sensors": {"Inlet": sensor("Temperature", 24.0), "GPU_3": sensor("Temperature", 61.0), "VR_1": sensor("Temperature", 70.0)},
    f"{CHASSIS}/Controls": {"Fans": {"ControlType": "DutyCycle", "ControlMode": "Automatic", **MODES}},
    f"{SUBSYSTEM}/Fans": {"1": {"SpeedPercent": {"Reading": 40.0, "SpeedRPM": 4800}}},
}
PAGES = [CDU, DETECTION, CHASSIS, SUBSYSTEM, *CHAIN, *(f"{path}/{name}" for path, members in CHAIN.items() for name in members)]
KEYS = ["Members", "Members@odata.nextLink", "Sensors", "Controls", "Pumps", "LeakDetection", "LeakDetectors", "ThermalSubsystem", "Fans"]
KEYS += ["SecondaryCoolantConnectors", "Links", "Thermal", "ReadingType", "ReadingUnits", "Reading", "ReadingTime", "Status", "Name", "Id"]
KEYS += ["DetectorState", "ControlType", "ControlMode", "SetPoint", "AllowableMin", "SpeedPercent", "PumpSpeedPercent", "Thresholds"]
KEYS += ["FlowLitersPerMinute", "SupplyTemperatureControlCelsius", "ControlMode@Redfish.AllowableValues", "SerialNumber", "@odata.id"]
WORDS = ["Temperature", "Rotational", "Enabled", "Critical", "OK", "Automatic", "Override", "Manual", "DutyCycle", "Percent"]
WITHIN = ["Reading", "State", "Health", "DataSourceUri", "SpeedRPM", "SetPoint", "ControlMode", "UpperCritical", "@odata.id", "Chassis"]
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(WORDS)
LINK = st.sampled_from(PAGES).map(link)
JSON = st.recursive(
    LEAF | LINK, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WITHIN), inner, max_size=4), max_leaves=8
)
SPOILT = st.lists(st.tuples(st.sampled_from(PAGES), st.sampled_from(KEYS), JSON), max_size=8)
AWAY = st.sets(st.sampled_from(PAGES), max_size=2)
SETTINGS = msgspec.convert(
    {
        "bmcs": {"own": {"url": URL, "monitor": False, "heat": True, "fans": True}},
        "cdus": {"cdu0": {"url": f"{URL}/{CDU}", "orders": True}},
    },
    RedfishSettings,
)


class HastyClock(ManualClock):
    """Nobody turns it, and nobody waits."""

    async def sleep(self, seconds: float) -> None:
        del seconds


def make_node(spoilt: list[tuple[str, str, object]], away: set[str], *, expands: bool) -> Node:
    wires, clock = MemoryWires(), HastyClock()
    service = Service(wires, clock, expands=expands)
    parts = {path.rsplit("/", 1)[1]: service.collect(path, members) for path, members in CHAIN.items()}
    service.put(DETECTION, LeakDetectors=parts["LeakDetectors"])
    unit = {name: link(f"{CDU}/{name}") for name in ("Sensors", "Pumps", "SecondaryCoolantConnectors", "Controls", "LeakDetection")}
    service.put(CDU, SerialNumber="SN7", Model="W", **unit)
    service.put("redfish/v1/Chassis", Members=[link(CHASSIS)])
    service.put(CHASSIS, **{name: link(f"{CHASSIS}/{name}") for name in ("Sensors", "Controls", "ThermalSubsystem")})
    service.put(SUBSYSTEM, Fans=parts["Fans"])
    for path, key, value in spoilt:
        page = service.answers[path]
        assert isinstance(page, dict)
        page[key] = value
    service.answers.update({path: WireError(f"{path}: no JSON object") for path in away})
    site = Topology(nodes=(Supernode(name="n0", cards=8, loop="cdu0"),), loops=(CoolantLoop(name="cdu0"),))
    return Node("n0", site, Limits(), wires, clock, MemoryHost(), Path("state"))


async def try_it(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await work
    except WireError as error:
        assert str(error)
        return None


@settings(max_examples=200)
@given(SPOILT, AWAY, st.booleans())
def test_sensors(spoilt: list[tuple[str, str, object]], away: set[str], expands: bool) -> None:
    node = make_node(spoilt, away, expands=expands)

    async def read() -> None:
        for one in supernoded_redfish.supernoded_sensors(SETTINGS, node):
            for _ in range(2):
                readings: list[Reading] = await try_it(one.read()) or []
                assert spoilt or away or {reading.state for reading in readings} == {State.GOOD}
                assert len({(reading.subject, reading.quantity) for reading in readings}) == len(readings)
                for reading in readings:
                    vet_reading(reading, node.clock.now())
                    fault = find_fault(reading)
                    assert fault is None or reading.state is not State.GOOD or "outside" in fault

    asyncio.run(read())


@settings(max_examples=200)
@given(SPOILT, AWAY, st.booleans())
def test_orders(spoilt: list[tuple[str, str, object]], away: set[str], expands: bool) -> None:
    node = make_node(spoilt, away, expands=expands)

    async def order() -> None:
        (handle,) = supernoded_redfish.supernoded_handles(SETTINGS, node)
        await try_it(handle.now_at())
        await try_it(handle.put(Setpoint(target=handle.target, quantity=handle.quantity, value=22.0, unit="C"), "cdu/0"))
        sights: list[Sight | None] = [await try_it(handle.hand_back("cdu/0"))]
        (fans,) = supernoded_redfish.supernoded_actuators(SETTINGS, node)
        for kind in ("fan.full", "fan.auto"):
            step = Step(name="s", kind=kind, target="n0", reason="a test")
            action = Action(id="i/s", step=step, incident="i", scope="cdu/0", epoch=1, issued=0.0, deadline=10.0)
            await try_it(fans.apply(action))
            sights.append(await try_it(fans.observe(action)))
        assert spoilt or away or None not in sights
        assert all(vet_sight(sight).text for sight in sights if sight is not None)

    asyncio.run(order())

"""Cooling units as makers build them: found by their links, read by what they measure, and never believed more than they are."""

from __future__ import annotations

import msgspec
import pytest

import supernoded_redfish
from supernoded.limits import Limits
from supernoded.model import Reading, State
from supernoded.plugin import Node, PluginError, Sensor, WireError
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryWires
from supernoded.topology import Topology
from supernoded.topology.site import CoolantLoop
from supernoded_redfish.settings import RedfishSettings
from tests.plugins.redfish.services import EXPAND, URL, Service, link, sensor

CDUS = "redfish/v1/ThermalEquipment/CDUs"
CDU = f"{CDUS}/west"
SENSORS = f"{CDU}/Sensors"
SENSED = {  # as one maker names them: no two makers agree
    "TCS_Supply_Temp": sensor("Temperature", 71.6, "[degF]", "1"),
    "TCS_Supply_Temp_2": sensor("Temperature", 22.1, "Cel", "1"),
    "TCS_Return_Temp": sensor("Temperature", 30.5, "Cel", "1"),
    "FWS_Inlet_Temp": sensor("Temperature", 16.0, "Cel", "1", Name="Facility water inlet"),
    "FWS_Return_Temp": sensor("Temperature", 25.0, "Cel", "1"),
    "RoomDewPoint": sensor("Temperature", 11.5, "Cel", "1"),
    "TCS_Flow": sensor("LiquidFlow", 8.0, "L/s", "1"),
    "FWS_Flow": sensor("LiquidFlowLPM", 300.0, "L/min", "1"),
    "TCS_DP": sensor("Pressure", 1.2, "bar", "1", Name="TCS differential pressure"),
    "FilterDP": sensor("PressurekPa", 9.0, "kPa", "1"),
    "FWS_Pressure": sensor("PressurekPa", 310.0, "kPa", "1"),
    "ThermalLoad": sensor("Heat", 284.0, "kW", "1"),
    "CtlValve": sensor("Valve", 41.0, "%", "1", Name="Control valve position"),
    "TankLevel": sensor("Percent", 81.0, "%", "1"),
    "Pump_1_RPM": sensor("Rotational", 2200.0, "{rev}/min", "1"),
    "CabinetHumidity": sensor("Humidity", 40.0, "%", "1"),
}
EXPECTED = {
    ("cdu/0", "coolant.supply_temperature"): 22.0,
    ("cdu/0", "coolant.supply_temperature.2"): 22.1,
    ("cdu/0", "coolant.return_temperature"): 30.5,
    ("cdu/0", "coolant.primary_temperature"): 16.0,
    ("cdu/0", "air.dew_point"): 11.5,
    ("cdu/0", "coolant.flow"): 480.0,
    ("cdu/0", "coolant.primary_flow"): 300.0,
    ("cdu/0", "coolant.pressure_difference"): 120.0,
    ("cdu/0", "coolant.primary_pressure"): 310.0,
    ("cdu/0", "coolant.heat"): 284000.0,
    ("cdu/0", "coolant.valve"): 41.0,
    ("cdu/0", "coolant.level"): 81.0,
    ("cdu/0/pump1", "pump.rpm"): 2200.0,
    ("cdu/0", "coolant.model"): "W-1000",
    ("cdu/0", "coolant.serial"): "SN7",
}
Told = dict[tuple[str, str], Reading]


class Scene:
    def __init__(
        self, wires: MemoryWires, clock: ManualClock, node: Node, *, expands: bool = True, wire: str = "redfish+https://bmc"
    ) -> None:
        self.service, self.clock = Service(wires, clock, expands=expands), clock
        self.service.put(CDUS, Members=[link(CDU)])
        self.service.put(CDU, Model="W-1000", SerialNumber="SN7", Sensors=link(SENSORS))
        self.service.collect(SENSORS, SENSED)
        site = Topology(loops=(CoolantLoop(name="cdu0", wire=wire),))
        self.node = Node(node.name, site, Limits(), node.wires, node.clock, node.host, node.state)

    def make(self, raw: object = None) -> Sensor:
        (one,) = supernoded_redfish.supernoded_sensors(msgspec.convert(raw or {}, RedfishSettings), self.node)
        return one

    async def read(self, one: Sensor) -> Told:
        readings = {(reading.subject, reading.quantity): reading for reading in await one.read()}
        assert [find_fault(reading) for reading in readings.values() if reading.state is State.GOOD and find_fault(reading)] == []
        return readings

    def change(self, path: str, **properties: object) -> None:
        page = self.service.answers[path]
        assert isinstance(page, dict)
        self.service.answers[path] = {**page, **properties}


@pytest.fixture
def scene(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node) -> Scene:
    return Scene(supernoded_wires, supernoded_clock, supernoded_node)


@pytest.mark.parametrize("expands", [True, False])
async def test_sensors_are_known_by_what_they_measure_and_their_names(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node, *, expands: bool
) -> None:
    scene = Scene(supernoded_wires, supernoded_clock, supernoded_node, expands=expands)
    one = scene.make()
    assert (one.name, one.scope, one.period) == ("redfish.cdu/0", "cdu/0", 2.0)
    for _ in range(2):
        told = await scene.read(one)
        values = {key: reading.value for key, reading in told.items()}
        assert values == pytest.approx({key: value for key, value in EXPECTED.items() if isinstance(value, float)} | _texts())


def _texts() -> dict[tuple[str, str], object]:
    return {key: value for key, value in EXPECTED.items() if isinstance(value, str)}


async def test_few_pages_are_asked_for(scene: Scene) -> None:
    one = scene.make()
    await scene.read(one)
    scene.service.asked.clear()
    await scene.read(one)
    assert scene.service.asked == [f"{SENSORS}{EXPAND}"]


async def test_a_sensor_is_what_the_connector_links_it_to_be_whatever_it_is_called(scene: Scene) -> None:
    scene.service.collect(SENSORS, {"T1": sensor("Temperature", 22.0, "Cel"), "T2": sensor("Temperature", 30.0, "Cel")})
    quoted = {
        "SupplyTemperatureCelsius": {"DataSourceUri": f"/{SENSORS}/T1", "Reading": 22.0},
        "ReturnTemperatureCelsius": {"DataSourceUri": f"/{SENSORS}/T2", "Reading": 30.0},
    }
    scene.change(CDU, SecondaryCoolantConnectors=scene.service.collect(f"{CDU}/SecondaryCoolantConnectors", {"1": quoted}))
    one = scene.make()
    told = await scene.read(one)
    assert (told["cdu/0", "coolant.supply_temperature"].value, told["cdu/0", "coolant.return_temperature"].value) == (22.0, 30.0)
    scene.change(f"{SENSORS}/T1", Status={"State": "Enabled", "Health": "Critical"})  # the quotation still shows a number
    reading = (await scene.read(one))["cdu/0", "coolant.supply_temperature"]
    assert (reading.value, reading.state, reading.note) == (None, State.UNKNOWN, "its health is 'Critical'")


async def test_a_unit_without_sensors_is_read_from_what_its_parts_show(scene: Scene) -> None:
    scene.service.put(CDU, Model="W-1000")
    quoted = {
        "SupplyTemperatureCelsius": {"Reading": 22.0},
        "ReturnTemperatureCelsius": {"Reading": "hot"},
        "FlowLitersPerMinute": {"Reading": 140.0},
        "HeatRemovedkW": {"Reading": 85.0},
        "SupplyTemperatureControlCelsius": {"SetPoint": 21.5, "ControlMode": "Automatic"},
    }
    pumps: dict[str, dict[str, object]] = {
        "1": {"Status": {"State": "Enabled", "Health": "OK"}, "PumpSpeedPercent": {"Reading": 63.0, "SpeedRPM": 2200}},
        "2": {"Status": {"State": "Enabled", "Health": "OK"}, "PumpSpeedPercent": {"Reading": 0}},
        "3": {"Status": {"State": "UnavailableOffline", "Health": "Critical"}},
        "4": {"Status": {"State": "Absent"}},
    }
    collect = scene.service.collect
    scene.change(CDU, SecondaryCoolantConnectors=collect(f"{CDU}/SecondaryCoolantConnectors", {"1": quoted}))
    scene.change(CDU, PrimaryCoolantConnectors=collect(f"{CDU}/PrimaryCoolantConnectors", {"1": {"SupplyPressurekPa": {"Reading": 300}}}))
    scene.change(
        CDU, Reservoirs=collect(f"{CDU}/Reservoirs", {"1": {"FluidLevelPercent": {"Reading": 80}}}), Pumps=collect(f"{CDU}/Pumps", pumps)
    )
    told = await scene.read(scene.make())
    assert {key[1]: reading.value for key, reading in told.items() if key[0] == "cdu/0"} == {
        "coolant.model": "W-1000",
        "coolant.serial": None,
        "coolant.supply_temperature": 22.0,
        "coolant.return_temperature": None,
        "coolant.flow": 140.0,
        "coolant.heat": 85000.0,
        "coolant.setpoint_asked": 21.5,
        "coolant.control": "setpoint",
        "coolant.primary_pressure": 300.0,
        "coolant.level": 80.0,
    }
    assert told["cdu/0", "coolant.return_temperature"].note == "ReturnTemperatureCelsius is 'hot'"
    states = [told[f"cdu/0/pump{number}", "pump.state"].value for number in (1, 2, 3, 4)]
    assert states == ["running", "off", "tripped", None]


async def test_sensors_of_the_chassis_that_it_is_in(scene: Scene) -> None:
    scene.service.put(CDU, Model="W-1000", SerialNumber="SN7", Links={"Chassis": [link("redfish/v1/Chassis/1")]})
    scene.service.put("redfish/v1/Chassis/1", Sensors=link(SENSORS))
    told = await scene.read(scene.make())
    assert {key: reading.value for key, reading in told.items()} == pytest.approx(EXPECTED)


async def test_leak_detectors(scene: Scene) -> None:
    path = f"{CDU}/LeakDetection"
    ok = {"State": "Enabled", "Health": "OK"}
    shown = {
        "Tray": {"DetectorState": "Critical", "Status": ok},
        "Rope": {"DetectorState": "OK", "Status": {"State": "UnavailableOffline"}},
    }
    scene.change(CDU, LeakDetection=link(path))
    scene.service.put(path, LeakDetectors=scene.service.collect(f"{path}/LeakDetectors", shown))
    told = await scene.read(scene.make())
    assert told["cdu/0/leak/tray", "coolant.leak"].value == told["cdu/0", "coolant.leak"].value == 1.0
    faulty = told["cdu/0/leak/rope", "coolant.leak"]
    assert (faulty.value, faulty.note) == (None, "detector fault: its Status is 'UnavailableOffline'")


async def test_a_stamp_that_stands_still_is_stale_and_one_that_moves_is_not(scene: Scene) -> None:
    one = scene.make()
    for second in range(20):
        scene.change(f"{SENSORS}/TCS_Return_Temp", ReadingTime=f"{second}")
        told = await scene.read(one)
        await scene.clock.advance(1)
    old, fresh = told["cdu/0", "coolant.supply_temperature"], told["cdu/0", "coolant.return_temperature"]
    assert (old.state, fresh.state) == (State.STALE, State.GOOD)
    assert old.value == pytest.approx(22.0)
    assert old.note == "the service's reading is still that of 1, 19 s after it was first seen"


@pytest.mark.parametrize("expands", [True, False])
async def test_one_slow_page_costs_only_itself(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node, *, expands: bool
) -> None:
    scene = Scene(supernoded_wires, supernoded_clock, supernoded_node, expands=expands)
    scene.change(CDU, Pumps=scene.service.collect(f"{CDU}/Pumps", {"1": {"Status": {"State": "Enabled"}}}))
    one = scene.make()
    assert (await scene.read(one))["cdu/0/pump1", "pump.state"].value == "running"
    scene.service.slow[f"{CDU}/Pumps"] = 60.0
    begun = scene.clock.now()
    told = await scene.read(one)
    assert scene.clock.now() - begun < one.timeout
    assert told["cdu/0", "coolant.supply_temperature"].state is State.GOOD
    assert "no whole answer" in told["cdu/0/pump1", "pump.state"].note


async def test_what_the_service_shows_no_longer_is_not_told(scene: Scene) -> None:
    one = scene.make()
    await scene.read(one)
    scene.service.put(SENSORS, Members=[link(f"{SENSORS}/TCS_Flow")])
    told = await scene.read(one)  # whoever reads sensors says that it is missing
    assert ("cdu/0", "coolant.supply_temperature") not in told
    assert told["cdu/0", "coolant.flow"].value == 480.0


async def test_a_service_too_slow_for_one_round_is_read_in_turns_and_its_leaks_first(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node
) -> None:
    scene = Scene(supernoded_wires, supernoded_clock, supernoded_node, expands=False)
    path = f"{CDU}/LeakDetection"
    scene.change(CDU, LeakDetection=link(path))
    scene.service.put(path, LeakDetectors=scene.service.collect(f"{path}/LeakDetectors", {"Tray": {"DetectorState": "OK"}}))
    scene.service.slow.update({f"{SENSORS}/{name}": 0.9 for name in SENSED})  # 16 of them, and six seconds a round
    one = scene.make()
    for _ in range(3):
        await scene.read(one)
    scene.change(f"{path}/LeakDetectors/Tray", DetectorState="Critical")
    begun = scene.clock.now()
    told = await scene.read(one)
    assert scene.clock.now() - begun < one.timeout
    assert told["cdu/0", "coolant.leak"].value == 1.0
    assert {key for key, reading in told.items() if reading.state is State.GOOD} >= EXPECTED.keys()
    assert begun - min(reading.at for reading in told.values()) < 20.0  # and each says when it was read
    assert any(reading.at < begun for reading in told.values())


async def test_a_unit_that_is_away_says_so_and_comes_back(scene: Scene) -> None:
    one, answers = scene.make(), dict(scene.service.answers)
    await scene.read(one)
    scene.service.answers.clear()
    with pytest.raises(WireError, match="404 Not Found"):
        await one.read()
    scene.service.answers.update(answers)
    assert (await scene.read(one))["cdu/0", "coolant.flow"].value == 480.0


async def test_which_unit_is_meant(scene: Scene) -> None:
    scene.service.put(CDUS, Members=[link(CDU), link(f"{CDUS}/east")])
    with pytest.raises(WireError, match=r"CDUs has .*west, .*east; write the path of the one that is meant behind its host"):
        await scene.make().read()
    scene.service.put(f"{CDUS}/east", Model="E")
    told = await scene.read(scene.make({"cdus": {"cdu0": {"url": f"{URL}/{CDUS}/east"}}}))
    assert told["cdu/0", "coolant.model"].value == "E"


def test_a_second_view_is_read_and_not_steered(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node) -> None:
    scene = Scene(supernoded_wires, supernoded_clock, supernoded_node, wire="tcp://10.0.0.1:502?map=plc")
    for raw, sensors, handles in (
        ({}, 0, 0),
        ({"cdus": {"cdu0": {"url": URL}}}, 1, 0),
        ({"cdus": {"cdu0": {"url": URL, "orders": True}}}, 1, 1),
    ):
        settings = msgspec.convert(raw, RedfishSettings)
        assert len(supernoded_redfish.supernoded_sensors(settings, scene.node)) == sensors
        assert len(supernoded_redfish.supernoded_handles(settings, scene.node)) == handles


def test_a_loop_that_nobody_knows(scene: Scene) -> None:
    with pytest.raises(PluginError, match="cdu9: the topology has no such loop"):
        scene.make({"cdus": {"cdu9": {"url": URL}}})

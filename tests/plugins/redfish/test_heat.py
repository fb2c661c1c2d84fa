"""What BMCs show of heat, in every form that they have, with the names that makers give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

import supernoded_redfish
from supernoded.limits import Limits
from supernoded.model import Reading, State
from supernoded.plugin import NODE, Node, Sensor, WireError
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryWires
from supernoded.topology import Topology
from supernoded_redfish.chassis import SOON_S
from supernoded_redfish.facts import Fact, join_facts
from supernoded_redfish.gauges import Gauge, name_words
from supernoded_redfish.node_words import name_gauge
from supernoded_redfish.settings import RedfishSettings
from tests.plugins.redfish.services import EXPAND, URL, Service, link, sensor

CHASSIS = "redfish/v1/Chassis/Board"
SENSORS, SUBSYSTEM = f"{CHASSIS}/Sensors", f"{CHASSIS}/ThermalSubsystem"
Told = dict[tuple[str, str], Reading]


class Scene:
    def __init__(self, wires: MemoryWires, clock: ManualClock, node: Node) -> None:
        self.service, self.clock = Service(wires, clock), clock
        self.service.put("redfish/v1/Chassis", Members=[link(CHASSIS)])
        self.service.put(CHASSIS)
        site = Topology.empty(node.name, cards=8)
        self.node = Node(node.name, site, Limits(), node.wires, node.clock, node.host, node.state)

    def make(self, **more: object) -> Sensor:
        settings = msgspec.convert({"bmcs": {"own": {"url": URL, "monitor": False, "heat": True, **more}}}, RedfishSettings)
        (one,) = supernoded_redfish.supernoded_sensors(settings, self.node)
        return one

    async def read(self, one: Sensor) -> Told:
        readings = {(reading.subject, reading.quantity): reading for reading in await one.read()}
        assert [find_fault(reading) for reading in readings.values() if reading.state is State.GOOD and find_fault(reading)] == []
        return readings

    async def read_values(self, one: Sensor) -> dict[tuple[str, str], object]:
        return {key: reading.value for key, reading in (await self.read(one)).items()}

    def link(self, path: str, **properties: object) -> None:
        page = self.service.answers.setdefault(path, {})
        self.service.answers[path] = {**(page if isinstance(page, Mapping) else {}), **properties}

    def sense(self, shown: Mapping[str, Mapping[str, object]]) -> None:
        self.link(CHASSIS, Sensors=self.service.collect(SENSORS, shown))


@pytest.fixture
def scene(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, supernoded_node: Node) -> Scene:
    return Scene(supernoded_wires, supernoded_clock, supernoded_node)


@pytest.mark.parametrize(
    ("name", "context", "kind", "expected"),
    [
        ("Card3Temperature", "", "temperature", ("n0/card3", "card.temperature")),
        ("Card3TemperatureMean", "", "temperature", ("n0/card3", "card.temperature.mean")),
        ("Card3TemperatureMedian", "", "temperature", ("n0/card3", "card.temperature.median")),
        ("HGX_GPU_3_TEMP_0", "GPU", "temperature", ("n0/card3", "card.temperature")),
        ("GPU_SXM_5_Temp", "", "temperature", ("n0/card5", "card.temperature")),
        ("NPU 7 Avg Temp", "", "temperature", ("n0/card7", "card.temperature.mean")),
        ("HGX_GPU_3_DRAM_0_Temp", "GPU", "temperature", None),
        ("Inlet", "", "temperature", ("n0", "air.temperature")),
        ("System Board Ambient", "", "temperature", ("n0", "air.temperature")),
        ("T17", "Intake", "temperature", ("n0", "air.temperature")),
        ("CoolantSupply", "", "temperature", ("n0", "coolant.supply_temperature")),
        ("Cold plate outlet", "", "temperature", ("n0", "coolant.return_temperature")),
        ("T4", "LiquidInlet", "temperature", ("n0", "coolant.supply_temperature")),
        ("Optics", "", "temperature", ("n0/sensor/bmc-optics", "host.temperature")),
        ("OSFP_1_Temp", "", "temperature", ("n0/sensor/bmc-osfp-1-temp", "host.temperature")),
        ("DIMM_A1", "", "temperature", ("n0/sensor/bmc-dimm-a1", "host.temperature")),
        ("VR_P0", "", "temperature", ("n0/sensor/bmc-vrm-vr-p0", "host.temperature")),
        ("P0 Vcore", "VoltageRegulator", "temperature", ("n0/sensor/bmc-vrm-p0-vcore", "host.temperature")),
        ("NIC 1 Temp", "", "temperature", ("n0/sensor/bmc-nic-1-temp", "host.temperature")),
        ("CPU0_Temp", "CPU", "temperature", None),
        ("PSU1 Inlet", "PowerSupply", "temperature", None),
        ("Fan0Speed", "", "rotation", ("n0/fan0", "fan.speed")),
        ("FAN3_PWM", "", "share", ("n0/fan3", "fan.duty")),
        ("Airflow5", "", "air", ("n0/air5", "air.flow")),
        ("CoolantFlow", "", "flow", ("n0", "coolant.flow")),
        ("Pump speed", "", "rotation", None),
        ("PSU1 Fan 1", "", "rotation", None),
        ("Utilisation", "", "share", None),
    ],
)
def test_names(name: str, context: str, kind: str, expected: tuple[str, str] | None) -> None:
    gauge = Gauge(name_words(name), context, kind, 42.0, "", "")
    assert [fact.key for fact in name_gauge("n0", {}, gauge, name)] == ([expected] if expected else [])


async def test_all_of_it_in_a_page_each(scene: Scene) -> None:
    detection = f"{SUBSYSTEM}/LeakDetection"
    scene.sense(
        {
            "Inlet": sensor("Temperature", 24.0),
            "VRM_P0": sensor("Temperature", 74.0, Thresholds={"UpperCritical": {"Reading": 115}}),
            "Fan0Speed": sensor("Rotational", 4680),
            "Airflow0": sensor("AirFlowCMM", 0.6, "m3/min"),
        }
    )
    scene.link(CHASSIS, ThermalSubsystem=link(SUBSYSTEM))
    scene.link(
        CHASSIS, Controls=scene.service.collect(f"{CHASSIS}/Controls", {"Fans": {"ControlType": "DutyCycle", "ControlMode": "Manual"}})
    )
    scene.service.put(SUBSYSTEM, LeakDetection=link(detection))
    wet = {"Tray": {"DetectorState": "Critical", "Status": {"State": "Enabled", "Health": "Critical"}}}
    scene.service.put(detection, LeakDetectors=scene.service.collect(f"{detection}/LeakDetectors", wet))
    one = scene.make()
    assert (one.name, one.scope, one.period) == ("redfish.own.heat", NODE, 5.0)
    assert await scene.read_values(one) == {
        ("n0", "air.temperature"): 24.0,
        ("n0/sensor/bmc-vrm-p0", "host.temperature"): 74.0,
        ("n0/sensor/bmc-vrm-p0", "host.temperature.high"): 115.0,
        ("n0/fan0", "fan.speed"): 4680.0,
        ("n0/air0", "air.flow"): 36.0,
        ("n0", "coolant.leak"): 1.0,
        ("n0", "fan.control"): "manual",
    }
    scene.service.asked.clear()
    await scene.read(one)
    assert scene.service.asked == [f"{path}{EXPAND}" for path in (f"{detection}/LeakDetectors", f"{CHASSIS}/Controls", SENSORS)]


@pytest.mark.parametrize(
    ("control", "told"),
    [
        ({"ControlType": "DutyCycle", "ControlMode": "Automatic"}, "auto"),
        ({"ControlType": "DutyCycle", "ControlMode": "Override"}, "full"),
        ({"ControlType": "DutyCycle", "ControlMode": "Manual", "SetPoint": 40}, "manual"),
        ({"ControlType": "DutyCycle", "ControlMode": "Disabled"}, None),
    ],
)
async def test_who_controls_the_fans(scene: Scene, control: dict[str, object], told: str | None) -> None:
    others: dict[str, dict[str, object]] = {"Fan0": {"ControlType": "DutyCycle", "SetPoint": 40}, "Power": {"ControlType": "Power"}}
    scene.link(CHASSIS, Controls=scene.service.collect(f"{CHASSIS}/Controls", {**others, "All": control}))
    readings = await scene.read(scene.make())
    assert {key: reading.value for key, reading in readings.items()} == {("n0", "fan.control"): told}


async def test_a_bmc_is_of_whichever_node_the_settings_say(scene: Scene) -> None:
    scene.sense({"Inlet": sensor("Temperature", 24.0)})
    assert list(await scene.read(scene.make(node="n7"))) == [("n7", "air.temperature")]


async def test_the_older_form(scene: Scene) -> None:
    scene.link(CHASSIS, Thermal=link(f"{CHASSIS}/Thermal"))
    ok, lost = {"State": "Enabled", "Health": "OK"}, {"State": "Absent"}
    temperatures: list[Any] = [
        {"Name": "Inlet Temp", "ReadingCelsius": 24, "Status": ok},
        {"Name": "GPU 3", "ReadingCelsius": 61, "Status": ok, "UpperThresholdCritical": 95},
        {"Name": "GPU 4", "ReadingCelsius": 0, "Status": lost},
        {"Name": "DIMM A1", "ReadingCelsius": 61, "Status": ok, "UpperThresholdCritical": 85},
        "garbage",
    ]
    fans = [
        {"Name": "Fan 1", "Reading": 9000, "ReadingUnits": "RPM", "Status": ok},
        {"FanName": "2", "Reading": 40, "ReadingUnits": "Percent", "Status": ok},
    ]
    scene.service.put(f"{CHASSIS}/Thermal", Temperatures=temperatures, Fans=fans)
    assert await scene.read_values(scene.make()) == {
        ("n0", "air.temperature"): 24.0,
        ("n0/card3", "card.temperature"): 61.0,
        ("n0/card4", "card.temperature"): None,
        ("n0/sensor/bmc-dimm-a1", "host.temperature"): 61.0,
        ("n0/sensor/bmc-dimm-a1", "host.temperature.high"): 85.0,
        ("n0/fan0", "fan.speed"): 9000.0,  # a service that counts from 1
        ("n0/fan1", "fan.duty"): 40.0,
    }


async def test_the_newer_form_without_sensors(scene: Scene) -> None:
    scene.link(CHASSIS, ThermalSubsystem=link(SUBSYSTEM))
    fans: dict[str, dict[str, object]] = {
        "0": {"SpeedPercent": {"Reading": 40, "SpeedRPM": 4800}},
        "1": {"SpeedPercent": {"Reading": None}},
    }
    scene.service.put(SUBSYSTEM, ThermalMetrics=link(f"{SUBSYSTEM}/Metrics"), Fans=scene.service.collect(f"{SUBSYSTEM}/Fans", fans))
    readings = [{"DeviceName": "GPU_2", "Reading": 55}, {"DataSourceUri": "/x/Sensors/NIC_0", "Reading": 60}]
    scene.service.put(f"{SUBSYSTEM}/Metrics", TemperatureReadingsCelsius=readings, TemperatureSummaryCelsius={"Intake": {"Reading": 23.5}})
    assert await scene.read_values(scene.make()) == {
        ("n0/card2", "card.temperature"): 55.0,
        ("n0/sensor/bmc-x-sensors-nic-0", "host.temperature"): 60.0,
        ("n0", "air.temperature"): 23.5,
        ("n0/fan0", "fan.duty"): 40.0,
        ("n0/fan0", "fan.speed"): 4800.0,
        ("n0/fan1", "fan.duty"): None,
    }


async def test_what_the_sensors_do_not_tell_is_asked_of_the_older_form(scene: Scene) -> None:
    scene.sense({"Inlet": sensor("Temperature", 24.0)})
    scene.link(CHASSIS, Thermal=link(f"{CHASSIS}/Thermal"))
    old = {"Name": "Inlet", "ReadingCelsius": 99}
    scene.service.put(f"{CHASSIS}/Thermal", Temperatures=[old], Fans=[{"Name": "Fan 0", "Reading": 9000, "ReadingUnits": "RPM"}])
    assert await scene.read_values(scene.make()) == {("n0", "air.temperature"): 24.0, ("n0/fan0", "fan.speed"): 9000.0}


async def test_of_several_sensors_the_hottest_of_a_card_and_the_slowest_of_a_fan(scene: Scene) -> None:
    scene.sense(
        {
            "GPU_0_TEMP_0": sensor("Temperature", 61.0),
            "GPU_0_TEMP_1": sensor("Temperature", 64.0),
            "GPU_0_TEMP_2": sensor("Temperature", None),
            "FAN0_INLET": sensor("Rotational", 9000),
            "FAN0_OUTLET": sensor("Rotational", 0),
        }
    )
    told = await scene.read_values(scene.make())
    assert told == {("n0/card0", "card.temperature"): 64.0, ("n0/fan0", "fan.speed"): 0.0}


@pytest.mark.parametrize(("first", "last", "expected"), [(1, 8, 0), (0, 7, 0), (1, 7, 1)])
async def test_cards_are_counted_from_none_only_where_it_is_certain(scene: Scene, first: int, last: int, expected: int) -> None:
    scene.sense({f"GPU_{number}": sensor("Temperature", 50.0) for number in range(first, last + 1)})
    cards = sorted(subject for subject, _ in await scene.read(scene.make()))
    assert cards == [f"n0/card{number}" for number in range(expected, expected + last - first + 1)]


@pytest.mark.parametrize("base", [0, 1])
async def test_a_fan_or_card_that_is_taken_out_does_not_give_the_others_its_name(scene: Scene, base: int) -> None:
    """Not the first, whose number tells the base, nor the last."""
    shown = {f"Fan{number}Speed": sensor("Rotational", 1000.0 + number) for number in range(base, base + 4)}
    shown |= {f"GPU{number}Temp": sensor("Temperature", 40.0 + number) for number in range(base, base + 8)}
    scene.sense(shown)
    one = scene.make()
    before = await scene.read_values(one)
    assert before["n0/fan0", "fan.speed"] == 1000.0 + base
    for gone in ("Fan0Speed", "GPU0Temp", f"Fan{base}Speed", f"GPU{base + 7}Temp"):
        shown.pop(gone, None)
    scene.sense(shown)
    after = await scene.read_values(one)
    assert after
    assert {key: before[key] for key in after} == after


async def test_cards_that_the_settings_name_are_not_counted(scene: Scene) -> None:
    scene.sense({"HGX_GPU_SXM_1_Temp": sensor("Temperature", 50.0), "GPU_SXM_12_Temp": sensor("Temperature", 51.0)})
    told = await scene.read_values(scene.make(cards={"GPU_SXM_1": "n0/card8", "GPU_SXM_12": "n0/card2"}))
    assert told == {("n0/card8", "card.temperature"): 50.0, ("n0/card2", "card.temperature"): 51.0}


async def test_detectors_that_could_not_be_found_at_first_are_looked_for_again(scene: Scene) -> None:
    detection = f"{SUBSYSTEM}/LeakDetection"
    scene.sense({"Inlet": sensor("Temperature", 24.0)})
    scene.link(CHASSIS, ThermalSubsystem=link(SUBSYSTEM))
    one = scene.make()
    assert ("n0", "coolant.leak") not in await scene.read(one)
    scene.service.put(SUBSYSTEM, LeakDetection=link(detection))
    scene.service.put(detection, LeakDetectors=scene.service.collect(f"{detection}/LeakDetectors", {"Tray": {"DetectorState": "OK"}}))
    await scene.clock.advance(SOON_S)
    assert (await scene.read_values(one))["n0", "coolant.leak"] == 0.0


def test_of_two_detectors_of_one_name_a_dry_one_does_not_speak_for_a_faulty_one() -> None:
    facts = [Fact("n0", "coolant.leak", value, "1", "detector fault" if value is None else "") for value in (0.0, None)]
    assert join_facts(facts)["n0", "coolant.leak"].value is None
    assert join_facts([facts[1], Fact("n0", "coolant.leak", 1.0, "1")])["n0", "coolant.leak"].value == 1.0


async def test_one_slow_page_costs_only_itself(scene: Scene) -> None:
    scene.sense({"Inlet": sensor("Temperature", 24.0)})
    scene.link(
        CHASSIS, Controls=scene.service.collect(f"{CHASSIS}/Controls", {"Fans": {"ControlType": "DutyCycle", "ControlMode": "Automatic"}})
    )
    one = scene.make()
    await scene.read(one)
    scene.service.slow[f"{CHASSIS}/Controls"] = 60.0
    begun = scene.clock.now()
    told = await scene.read(one)
    assert scene.clock.now() - begun < one.timeout
    assert told["n0", "air.temperature"].value == 24.0
    assert (told["n0", "fan.control"].value, "no whole answer" in told["n0", "fan.control"].note) == (None, True)


@pytest.mark.parametrize("page", [{}, {"Members": "many"}, {"Members": [None, 7, {"@odata.id": ["x"]}]}])
async def test_pages_that_are_garbage_are_nothing(scene: Scene, page: dict[str, object]) -> None:
    scene.sense({})
    scene.service.answers[SENSORS] = page
    assert await scene.read(scene.make()) == {}


async def test_a_bmc_without_any_of_it_says_so(scene: Scene) -> None:
    with pytest.raises(WireError, match="n0: no chassis of its BMC has Sensors, ThermalSubsystem or Thermal"):
        await scene.make().read()


async def test_a_bmc_that_is_away_raises_and_comes_back(scene: Scene) -> None:
    scene.sense({"Inlet": sensor("Temperature", 24.0)})
    one, answers = scene.make(), dict(scene.service.answers)
    await scene.read(one)
    scene.service.answers.clear()
    with pytest.raises(WireError, match="404 Not Found"):
        await one.read()
    scene.service.answers.update(answers)
    assert await scene.read_values(one) == {("n0", "air.temperature"): 24.0}

"""Faults of answering, on a device of every protocol; faults of lines, on every line; pathologies, wherever a sensor shows."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.plant.cards.orders import PowerNode
from tests.sim.faults.cases import CASES, run, served

PROTOCOLS = (
    "ups/A",
    "ups/A/modbus",
    "ups/A/snmp",
    "pdu/A1",
    "pdu/A1/snmp",
    "pdu/A1/redfish",
    "cdu/0",
    "cdu/0/rtu",
    "cdu/0/redfish",
    "n0/bmc",
)
LINES = [name for name in CATALOGUE if name.startswith("line.")]


async def look_around(name: str, target: str, given: dict[str, Any]) -> list[bool | None]:
    """What the probe says before, with, and after the fault."""
    kind = CATALOGUE[name]
    parameters = msgspec.convert(given, kind.parameters)
    async with served() as rig:
        await asyncio.sleep(3.0)
        said = [await kind.shows(rig, target, parameters)]
        kind.begin(rig, target, parameters)
        await asyncio.sleep(1.5)
        said.append(await kind.shows(rig, target, parameters))
        kind.end(rig, target, parameters)
        await asyncio.sleep(3.0)
        said.append(await kind.shows(rig, target, parameters))
    return said


@pytest.mark.parametrize("device", PROTOCOLS)
@pytest.mark.parametrize("name", ["device.silent", "device.refusing", "device.slow", "device.garbled"])
def test_answering_shows_in_every_protocol(name: str, device: str) -> None:
    assert run(look_around(name, device, {})) == [False, True, False]


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("ups/A", [False, True, False]),
        ("ups/A/snmp", [False, True, False]),
        ("n0/bmc", [False, True, False]),
        ("pdu/A1/redfish", [False, True, False]),
        ("pdu/A1", [False, True, False]),
        ("ups/A/modbus", [None, None, None]),
        ("pdu/A1/snmp", [None, None, None]),
    ],
)
def test_stale_values_show_where_a_device_tells_or_something_always_moves(device: str, said: list[bool | None]) -> None:
    assert run(look_around("device.stale", device, {})) == said


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("ups/A", [False, True, False]),
        ("n0/bmc", [False, True, False]),
        ("pdu/A1/redfish", [False, True, False]),
        ("pdu/B1/redfish", [False, True, False]),
        ("cdu/0", [None, None, None]),
    ],
)
def test_idle_orders_show_where_an_order_changes_nothing_of_the_plant(device: str, said: list[bool | None]) -> None:
    assert run(look_around("device.idle_orders", device, {})) == said


@pytest.mark.parametrize("name", LINES)
def test_lines_of_the_other_speed(name: str) -> None:
    line = "line/feed-A" if CASES[name].target == "line/cdu0" else "line/cdu0"
    assert run(look_around(name, line, {})) == [False, True, False]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("line.drop", {"frames": 0.0, "characters": 0.2}),
        ("line.late", {"seconds": 5.0}),
        ("line.silence", {"unit": 247}),
        ("line.wrong_unit", {"unit": 247}),
        ("line.twins", {"unit": 247}),
        ("line.stuck", {"how": "babble"}),
        ("device.slow", {"seconds": 30.0}),
    ],
)
def test_other_parameters_show_too(name: str, given: dict[str, Any]) -> None:
    target = "line/feed-A" if name.startswith("line.") else "cdu/0"
    assert run(look_around(name, target, given)) == [False, True, False]


@pytest.mark.parametrize("given", [{"crc": 1.0}, {"crc": 0.0, "wrong_unit": True}, {"crc": 0.0, "late_s": 0.2}, {"crc": 0.0, "echo": True}])
def test_each_way_in_which_a_pdu_is_garbled(given: dict[str, Any]) -> None:
    assert run(look_around("pdu.garbled", "pdu/A1", given)) == [False, True, False]


@pytest.mark.parametrize(
    ("name", "target", "given"),
    [
        ("sensor.nan", "pdu/A1:pdu.voltage", {}),
        ("sensor.nan", "n0:coolant.flow", {}),
        ("sensor.absent", "n0/fan3:fan.speed", {}),
        ("sensor.absent", "n0/air3:air.flow", {}),
        ("sensor.absent", "n0/card3/port0:link.rx_power", {}),
        ("sensor.absent", "cdu/0/pump0:pump.rpm", {}),
        ("sensor.absent", "ups/A:ups.load.L2", {}),
        ("sensor.freeze", "n0/card3:card.temperature", {"value": 28.0}),
        ("sensor.unit_slip", "ups/A:ups.battery_temperature", {}),
        ("sensor.unit_slip", "n0/card3:card.power", {"into": "milli"}),
        ("sensor.swap", "n0/nic/mlx5_0:link.receive_errors", {"other": "n1/nic/mlx5_0"}),
    ],
)
def test_pathologies_show_wherever_the_sensor_does(name: str, target: str, given: dict[str, Any]) -> None:
    same_already = name == "sensor.swap"  # two counters that stand at zero are the same with and without
    assert run(look_around(name, target, given)) == [False, not same_already, False]


def test_a_sensor_that_no_device_shows_cannot_be_seen() -> None:
    assert run(look_around("sensor.nan", "job/train:job.step", {})) == [None, None, None]


@pytest.mark.parametrize(
    "name", ["link.down", "link.optics_unplug", "link.loose", "link.attenuate", "link.flap", "link.ber_ramp", "link.lane_loss"]
)
def test_faults_of_ports_show_at_a_nic_too(name: str) -> None:
    assert run(look_around(name, "n1/nic/mlx5_0", {}))[:2] == [False, True]


@pytest.mark.parametrize(("name", "target"), [("card.hang", "n0/card3"), ("tool.hang", "n0/npu-smi")])
def test_a_node_that_is_off_hides_what_hangs_on_it(name: str, target: str) -> None:
    async def main() -> None:
        async with served() as rig:
            rig.world.order(PowerNode("n0", on=False))
            await asyncio.sleep(1.0)
            assert await CATALOGUE[name].shows(rig, target, CATALOGUE[name].parameters()) is None

    run(main())


def test_a_leak_of_the_cdu_shows_at_the_cdu() -> None:
    assert run(look_around("cdu.leak", "cdu/0", {})) == [False, True, False]


@pytest.mark.parametrize("flag", ["OB", "LB", "FSD", "TEST", "OVER"])
def test_any_flag_can_be_stuck(flag: str) -> None:
    assert run(look_around("ups.flag_stuck", "ups/B", {"flag": flag})) == [False, True, False]


def test_a_second_fault_of_another_kind_is_not_taken_for_the_first() -> None:
    """A silent PDU is no garbled name, and a link that is down is not unplugged."""

    async def main() -> None:
        async with served() as rig:
            await asyncio.sleep(1.0)
            down, unplugged = CATALOGUE["link.down"], CATALOGUE["link.optics_unplug"]
            down.begin(rig, "n0/card0/port0", down.parameters())
            await asyncio.sleep(1.0)
            assert await unplugged.shows(rig, "n0/card0/port0", unplugged.parameters()) is False
            assert await down.shows(rig, "n0/card0/port1", down.parameters()) is False

    run(main())

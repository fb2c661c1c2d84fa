"""The plugin's sensors against Debian's upsd and dummy-ups: devices of many shapes, recordings, an outage, a driver that dies."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from supernoded.model import Reading
from supernoded.parts import Source
from supernoded.plugin import Node
from supernoded.wire.system import SystemWires
from supernoded_nut.pdu import is_pdu, read_pdu
from supernoded_nut.recorded import parse_variables, read_nut
from supernoded_nut.told import to_readings
from supernoded_nut.ups import read_ups
from tests.protocol.nut_devices import PDUS, UPSES
from tests.protocol.nut_site import has, linked, make_node, make_sensors, read, wait_for, wait_for_all
from tests.protocol.upsd import Upsd

OUTAGE = """\
ups.status: OL CHRG
battery.charge: 100
input.voltage: 230.4
TIMER 1
ups.status: OB DISCHRG
battery.charge: 61
input.voltage: 0
TIMER 1
ups.status: OB DISCHRG LB
battery.charge: 9
TIMER 1
"""


async def expect_through(upsd: Upsd, wires: SystemWires, node: Node, upses: Mapping[str, str], pdus: Mapping[str, str]) -> None:
    """What is told of each device behind upsd is what its file says, outlets and the reasons why something is not known included."""
    files = {**upses, **pdus}
    for name, text in files.items():
        upsd.add(name, f"{name}.dev", text)
    await upsd.start()
    sensors = make_sensors(make_node(node, wires, upsd, *files, pdus=pdus))
    for name, text in files.items():
        await wait_for_all(sensors[name], as_read(name, text, pdu=name in pdus))


def as_read(name: str, text: str, *, pdu: bool) -> list[Reading]:
    variables = parse_variables(text)
    return to_readings(read_pdu(variables) if pdu else read_ups(variables), f"{'pdu' if pdu else 'ups'}/{name}", 0.0)


async def test_devices_of_every_shape_come_through(upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    upses, pdus = ({name: one.text for name, one in devices.items()} for devices in (UPSES, PDUS))
    await expect_through(upsd, wires, supernoded_node, upses, pdus)


@pytest.mark.parametrize("name", [*UPSES, *PDUS])
def test_what_is_odd_in_each(name: str) -> None:
    pdu = name in PDUS
    device = (PDUS if pdu else UPSES)[name]
    subject = f"{'pdu' if pdu else 'ups'}/{name}"
    found = {(one.subject.removeprefix(subject), one.quantity): one.value for one in as_read(name, device.text, pdu=pdu)}
    assert {key: found[key] for key in device.wanted} == device.wanted


async def test_every_recording_comes_through_as_it_is_read(recordings: Path, upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    texts = {f"d{number}": file.read_text(errors="replace") for number, file in enumerate(sorted((recordings / "nut-ddl").glob("*.dev")))}
    pdus = {name: text for name, text in texts.items() if is_pdu(parse_variables(text))}
    assert len(texts) >= 9
    assert pdus
    for name, text in texts.items():
        assert [*read_nut(Source(name=name, data=text.encode(), at=0.0))] == as_read(name, text, pdu=name in pdus)
    await expect_through(upsd, wires, supernoded_node, {name: text for name, text in texts.items() if name not in pdus}, pdus)


async def test_an_outage_is_seen_from_end_to_end(upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    upsd.add("A", "a.seq", OUTAGE)
    await upsd.start()
    sensor = make_sensors(make_node(supernoded_node, wires, upsd, "A"))["A"]
    await wait_for(sensor, has("ol", "chrg"))
    on_battery = await wait_for(sensor, has("ob", "dischrg"))
    assert (on_battery["ups.link"].value, on_battery["ups.charge"].value, on_battery["ups.input_voltage"].value) == ("ok", 61.0, 0.0)
    low = await wait_for(sensor, has("ob", "dischrg", "lb"))
    assert low["ups.charge"].value == 9.0


async def test_no_driver_a_start_and_stale_data_are_states(upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\nbattery.charge: 77\n")
    await upsd.start()
    sensor = make_sensors(make_node(supernoded_node, wires, upsd, "A"))["A"]
    await wait_for(sensor, linked("ok"))
    upsd.processes["A"].send_signal(signal.SIGSTOP)
    stale = await wait_for(sensor, linked("stale"))
    assert (stale["ups.status"].value, stale["ups.charge"].value) == (None, None)
    assert "DATA-STALE" in stale["ups.charge"].note
    await upsd.end("A")
    gone = await wait_for(sensor, linked("no-driver"))
    assert "DRIVER-NOT-CONNECTED" in gone["ups.charge"].note
    await upsd.start_driver("A")
    assert (await wait_for(sensor, linked("ok")))["ups.charge"].value == 77.0


async def test_a_server_that_goes_is_silent_until_it_is_back(upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\n")
    await upsd.start()
    sensor = make_sensors(make_node(supernoded_node, wires, upsd, "A"))["A"]
    assert (await read(sensor))["ups.link"].value in {"stale", "no-driver", "ok"}
    upsd.processes["upsd"].send_signal(signal.SIGSTOP)
    hung = await read(sensor)
    assert (hung["ups.link"].value, hung["ups.status"].value) == ("silent", None)
    assert "no answer" in hung["ups.status"].note
    upsd.processes["upsd"].send_signal(signal.SIGCONT)
    await wait_for(sensor, lambda found: found["ups.link"].value != "silent")
    await upsd.end("upsd")
    assert (await read(sensor))["ups.link"].value == "silent"

"""Asking tools: once a device, JSON first, and whose trouble is whose."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from supernoded.errors import WireError
from supernoded.limits import Limits
from supernoded.plugin import Node, Reading, Sensor, State
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded.wire.ports import Answer
from supernoded_fabric import supernoded_sensors
from supernoded_fabric.settings import FabricSettings

LINK = "State : Active\nSymbol Errors : 0\n"


def fit(folder: Path, settings: FabricSettings | None = None) -> tuple[dict[str, Sensor], MemoryWires, ManualClock]:
    wires, clock = MemoryWires(), ManualClock()
    wires.tree("/sys/class/net").files = {f"eth{number}/device/uevent": f"PCI_SLOT_NAME=0000:0{number}:00.0" for number in (0, 1)}
    wires.tree("/sys/class/infiniband").files = {"mlx5_0/ports/1/state": "4: ACTIVE", "mlx5_1/ports/1/state": "4: ACTIVE", "irdma0/x": ""}
    node = Node(name="n0", topology=Topology(), limits=Limits(), wires=wires, clock=clock, host=MemoryHost(), state=folder)
    return {sensor.name: sensor for sensor in supernoded_sensors(settings or FabricSettings(), node)}, wires, clock


def said(out: str = "", err: str = "", code: int = 0, *, truncated: bool = False) -> Answer:
    return Answer(code, out, err, truncated)


def only(answers: dict[tuple[str, ...], Answer | str]) -> Callable[[Sequence[str]], Answer]:
    """Plays a tool; a text in the place of an answer is why it did not come."""

    def answer(arguments: Sequence[str]) -> Answer:
        found = answers.get(tuple(arguments), said(err="bad command line argument(s)", code=1))
        if isinstance(found, str):
            raise WireError(found)
        return found

    return answer


def by_subject(readings: Sequence[Reading], quantity: str) -> dict[str, Reading]:
    return {reading.subject: reading for reading in readings if reading.quantity == quantity}


async def test_a_missing_tool_is_told_of_once(tmp_path: Path) -> None:
    sensors, _, _ = fit(tmp_path)
    for name in ("fabric.ethtool", "fabric.module", "fabric.mlxlink", "fabric.lldp"):
        (reading,) = await sensors[name].read()
        assert (reading.subject, reading.quantity, reading.state) == ("n0", f"x.{name}", State.UNKNOWN)
        assert "no such program" in reading.note


async def test_a_machine_without_devices_asks_nobody(tmp_path: Path) -> None:
    sensors, wires, _ = fit(tmp_path)
    wires.tree("/sys/class/net").files = {}
    wires.tree("/sys/class/infiniband").files = {}
    for sensor in sensors.values():
        assert list(await sensor.read()) == []


async def test_json_is_asked_first_and_text_once_and_for_all(tmp_path: Path) -> None:
    sensors, wires, _ = fit(tmp_path)
    tool = wires.command(["ethtool"])
    page = said("\tIdentifier : 0x11\n\tModule temperature : 40.00 degrees C / 104.00 degrees F\n")
    document = said(json.dumps([{"ifname": "eth0", "active": ["RS"]}]))
    devices = ("eth0", "eth1")
    answers: dict[tuple[str, ...], Answer | str] = {("--json", "-I", "--show-fec", name): document for name in devices}
    tool.answer = only({**answers, **{("-m", name): page for name in devices}})
    found = await sensors["fabric.module"].read()
    assert {reading.value for reading in by_subject(found, "link.fec").values()} == {"rs"}
    assert {reading.value for reading in by_subject(found, "link.temperature").values()} == {40.0}
    asked = len([run for run in tool.runs if run[:2] == ("--json", "-m")])
    await sensors["fabric.module"].read()
    assert len([run for run in tool.runs if run[:2] == ("--json", "-m")]) == asked
    assert len([run for run in tool.runs if run[0] == "--json"]) > asked  # what has JSON is asked for it


async def test_one_device_in_trouble_costs_only_itself(tmp_path: Path) -> None:
    sensors, wires, _ = fit(tmp_path)
    first, second = (wires.command(["mlxlink", "-d", f"mlx5_{number}"]) for number in (0, 1))
    first.answer = only({("-c", "-m", "--json"): said(LINK)})
    second.answer = only({("-c", "-m", "--json"): said(LINK)})
    sensor = sensors["fabric.mlxlink"]
    assert {reading.value for reading in by_subject(await sensor.read(), "link.state").values()} == {1.0}
    for answer, why in (
        ("did not end within 8 s", "did not end"),
        (said(LINK, truncated=True), "printed more"),
        (said(LINK, "oops", 3), "oops"),
    ):
        second.answer = only({("-c", "-m", "--json"): answer, ("-c", "-m"): answer})
        found = await sensor.read()
        assert by_subject(found, "link.state")["n0/nic/mlx5_0/port1"].value == 1.0
        for quantity in ("link.state", "link.symbol_errors"):  # all that it used to tell
            reading = by_subject(found, quantity)["n0/nic/mlx5_1/port1"]
            assert reading.state is State.UNKNOWN
            assert why in reading.note


async def test_a_complaint_about_support_alone_is_no_failure(tmp_path: Path) -> None:
    sensors, wires, _ = fit(tmp_path)
    for number in (0, 1):
        complaint = '-E- "--show_module" option is not supported for HCA\n'
        wires.command(["mlxlink", "-d", f"mlx5_{number}"]).answer = only({("-c", "-m", "--json"): said(LINK, complaint, 1)})
    found = await sensors["fabric.mlxlink"].read()
    assert {reading.value for reading in by_subject(found, "link.state").values()} == {1.0}


async def test_what_a_driver_does_not_know_rests(tmp_path: Path) -> None:
    sensors, wires, clock = fit(tmp_path)
    tool = wires.command(["ethtool"])
    tool.answer = only(
        {("-S", "eth0"): said("no stats available\n", code=94), ("-S", "eth1"): said("NIC statistics:\n  link_down_events_phy: 2\n")}
    )
    for _ in range(2):
        found = await sensors["fabric.ethtool"].read()
        assert by_subject(found, "link.downed")["n0/nic/eth1"].value == 2.0
        resting = by_subject(found, "link.symbol_errors")["n0/nic/eth0"]
        assert (resting.state, resting.at) == (State.UNKNOWN, clock.now())
        assert "no stats available" in resting.note
    assert tool.runs.count(("-S", "eth0")) == 1
    await clock.advance(601.0)
    await sensors["fabric.ethtool"].read()
    assert tool.runs.count(("-S", "eth0")) == 2


async def test_an_empty_cage_is_an_answer(tmp_path: Path) -> None:
    sensors, wires, _ = fit(tmp_path)
    wires.command(["ethtool"]).answer = only(
        {("-m", f"eth{number}"): said(err="netlink error: no module in the cage", code=1) for number in (0, 1)}
    )
    found = by_subject(await sensors["fabric.module"].read(), "link.present")
    assert [reading.value for reading in found.values()] == [0.0, 0.0]


async def test_neighbours(tmp_path: Path) -> None:
    settings = FabricSettings(exclude=("eth1",), neighbours={"leaf1/p7": "switch/s1/port7"})
    sensors, wires, _ = fit(tmp_path, settings)
    entry = {"chassis": {"leaf1": {}}, "port": {"id": {"type": "ifname", "value": "p7"}}}
    tool = wires.command(["lldpcli"])
    tool.answer = only({("-f", "json", "show", "neighbors"): said(json.dumps({"lldp": {"interface": [{"eth0": entry}, {"eth1": entry}]}}))})
    (reading,) = await sensors["fabric.lldp"].read()
    assert (reading.subject, reading.quantity, reading.value) == ("n0/nic/eth0", "link.neighbour", "switch/s1/port7")
    tool.answer = only({})
    try:
        await sensors["fabric.lldp"].read()
    except WireError as error:
        assert "bad command line" in str(error)
    else:
        raise AssertionError("a daemon that is gone is told of")

"""The trees of a node in memory, as the daemon's own parsers read them."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.devices.sysfs import SysfsTree, list_hcas, list_interfaces, name_ports, render, write
from sim_hardware.plant.cooling.orders import SetFan, SetFanControl
from sim_hardware.plant.links import Inputs, apply, orders, update
from sim_hardware.plant.words import Value
from sim_hardware.rack import generate_rack
from supernoded.plugin import Reading, State, WireError
from supernoded.quantities import find_fault
from supernoded_fabric.ethernet import parse_interface
from supernoded_fabric.infiniband import parse_tree
from supernoded_fabric.naming import Naming
from tests.sim.devices.sysfs.nodes import NodePanel

PORT = "n0/card0/port0"
Readings = Mapping[tuple[str, str], Reading]


def take(panel: NodePanel, folder: str) -> dict[str, str | WireError]:
    """What the daemon's wire would give of a folder."""
    files = {path.removeprefix(f"{folder}/"): text for path, text in render(panel, "n0").items() if path.startswith(f"{folder}/")}
    return {path: WireError(str(text)) if isinstance(text, OSError) else text.strip() for path, text in files.items()}


def read_infiniband(panel: NodePanel) -> Readings:
    found = parse_tree(take(panel, "infiniband").items(), 1.0, Naming("n0", name_ports(panel.rack, "n0")).port)
    return {(reading.subject, reading.quantity): reading for reading in found}


def read_ethernet(panel: NodePanel, interface: str) -> dict[str, Reading]:
    files = {path.removeprefix(f"{interface}/"): text for path, text in take(panel, "net").items() if path.startswith(f"{interface}/")}
    return {reading.quantity: reading for reading in parse_interface(files, 1.0, interface)}


def test_names() -> None:
    rack = generate_rack(2, 8)
    assert len(list_hcas(rack, "n1")) == len(list_interfaces(rack, "n1")) == 17
    assert name_ports(rack, "n1")["mlx5_0/1"] == "n1/nic/mlx5_0"
    assert name_ports(rack, "n1")["mlx5_4/1"] == "n1/card1/port1"
    assert list_interfaces(rack, "n1")["eth4"] == "n1/card1/port1"


def test_a_healthy_node_reads_well() -> None:
    panel = NodePanel()
    panel.links = update(panel.links, 10.0, Inputs(traffic=(0.5, 0.5)))
    found = read_infiniband(panel)
    assert {subject for subject, _ in found} == {"n0/nic/mlx5_0", *(f"n0/card{card}/port{port}" for card in (0, 1) for port in (0, 1))}
    assert all(reading.state is State.GOOD and find_fault(reading) is None for reading in found.values())
    assert found[PORT, "link.state"].value == 1.0
    assert found[PORT, "link.speed"].value == 200.0
    assert found[PORT, "link.bits"].value == 0.5 * 200e9 * 10.0
    over_ethernet = read_ethernet(panel, "eth1")
    assert over_ethernet["link.speed"].value == 200.0
    assert over_ethernet["link.bits"].value == found[PORT, "link.bits"].value


def test_narrow_counters_saturate_in_one_tree_and_not_in_the_other() -> None:
    panel = NodePanel()
    panel.links = update(apply(panel.links, orders.SetErrorRate(PORT, 1e-8)), 100.0, Inputs(traffic=(1.0, 1.0)))
    assert take(panel, "infiniband")["mlx5_1/ports/1/counters/symbol_error"] == "65535"
    assert read_infiniband(panel)[PORT, "link.symbol_errors"].note.startswith("saturated")
    errors = read_ethernet(panel, "eth1")["link.receive_errors"].value
    assert isinstance(errors, float)
    assert errors > 65535


def test_a_shut_port() -> None:
    panel = NodePanel()
    panel.links = apply(panel.links, orders.SetPort(PORT, up=False))
    files = take(panel, "infiniband")
    assert files["mlx5_1/ports/1/state"] == "1: DOWN"
    assert files["mlx5_1/ports/1/phys_state"] == "3: Disabled"
    assert files["mlx5_4/ports/1/phys_state"] == "2: Polling"  # its peer
    assert read_infiniband(panel)[PORT, "link.state"].value == 0.0
    with pytest.raises(OSError, match="Invalid argument"):
        SysfsTree(panel, "n0").read("net/eth1/carrier")
    assert read_ethernet(panel, "eth1")["link.state"].value == 0.0
    assert take(panel, "net")["eth4/speed"] == "-1"


def test_lost_lanes() -> None:
    panel = NodePanel()
    panel.links = apply(panel.links, orders.LoseLanes(PORT, 2))
    assert take(panel, "infiniband")["mlx5_1/ports/1/rate"] == "100 Gb/sec (2X HDR)"
    assert read_infiniband(panel)[PORT, "link.speed"].value == 100.0


def test_fans_and_temperatures() -> None:
    files = take(NodePanel(), "hwmon")
    assert files["hwmon0/fan3_input"] == "7002"
    assert files["hwmon0/pwm1"] == "102"
    assert files["hwmon0/pwm8_enable"] == "2"
    assert (files["hwmon0/temp1_label"], files["hwmon0/temp1_input"]) == ("inlet", "24000")
    assert (files["hwmon0/temp4_label"], files["hwmon0/temp4_input"]) == ("vrm", "63250")
    assert (files["hwmon0/temp2_crit"], files["hwmon0/temp4_crit"], "hwmon0/temp1_crit" in files) == ("75000", "125000", False)


@pytest.mark.parametrize(("value", "text"), [(None, "-128000"), (-math.inf, "-128000"), (1e9, "127875"), (-3.0, "-3000")])
def test_a_temperature_that_is_none(value: Value, text: str) -> None:
    panel = NodePanel()
    panel.values["n0", "air.temperature"] = value
    assert take(panel, "hwmon")["hwmon0/temp1_input"] == text


@pytest.mark.parametrize("value", [math.nan, "warm"])
def test_what_is_no_number_cannot_be_read(value: Value) -> None:
    panel = NodePanel()
    panel.values["n0", "air.temperature"] = value
    with pytest.raises(OSError, match="Input/output error") as caught:
        SysfsTree(panel, "n0").read("hwmon/hwmon0/temp1_input")
    assert caught.value.errno == errno.EIO


def test_a_sensor_that_is_not_built_in_is_no_file() -> None:
    panel = NodePanel()
    del panel.values["n0", "air.temperature.dimm"]
    assert "hwmon/hwmon0/temp5_input" not in render(panel, "n0")
    assert "hwmon/hwmon0/temp4_input" in render(panel, "n0")


def test_counters_of_broken_sensors() -> None:
    panel = NodePanel()
    panel.values |= {(PORT, "link.symbol_errors"): None, (PORT, "link.downed"): math.nan, (PORT, "link.waits"): -5.0}
    found = read_infiniband(panel)
    assert found[PORT, "link.symbol_errors"].state is State.UNKNOWN
    assert "Invalid argument" in found[PORT, "link.symbol_errors"].note
    assert found[PORT, "link.downed"].note == "no number: 'N/A (no PMA)'"
    assert found[PORT, "link.waits"].value == 0.0


def test_orders() -> None:
    panel = NodePanel()
    tree = SysfsTree(panel, "n0")
    tree.write("hwmon/hwmon0/pwm3_enable", "1\n")
    panel.values["n0", "fan.control"] = "manual"
    tree.write("hwmon/hwmon0/pwm3", "255")
    write(panel, "n0", "hwmon/hwmon0/pwm1_enable", "0")
    assert panel.orders == [SetFanControl("n0", "manual"), SetFan("n0", 2, 100.0), SetFanControl("n0", "full")]


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        ("hwmon/hwmon0/pwm1", "256", errno.EINVAL),
        ("hwmon/hwmon0/pwm1", "-1", errno.EINVAL),
        ("hwmon/hwmon0/pwm1", "12.5", errno.EINVAL),
        ("hwmon/hwmon0/pwm1", "", errno.EINVAL),
        ("hwmon/hwmon0/pwm1", "²", errno.EINVAL),
        ("hwmon/hwmon0/pwm1", "9" * 5000, errno.EINVAL),
        ("hwmon/hwmon0/pwm1", "100", errno.EPERM),  # under automatic control
        ("hwmon/hwmon0/pwm1_enable", "3", errno.EINVAL),
        ("hwmon/hwmon0/fan1_input", "0", errno.EACCES),
        ("infiniband/mlx5_0/ports/1/state", "x", errno.EACCES),
        ("hwmon/hwmon0", "1", errno.EISDIR),
        ("hwmon/hwmon0/pwm9", "1", errno.ENOENT),
    ],
)
def test_refusals(path: str, text: str, number: int) -> None:
    panel = NodePanel()
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        write(panel, "n0", path, text)
    assert caught.value.errno == number
    assert not panel.orders


def test_a_plant_that_will_not() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        write(NodePanel(refusing=True), "n0", "hwmon/hwmon0/pwm1_enable", "1")


def test_folders() -> None:
    tree = SysfsTree(NodePanel(), "n0")
    assert tree.names() == ["dsm", "hwmon", "infiniband", "net"]
    assert tree.names("infiniband") == [f"mlx5_{number}" for number in range(5)]
    assert tree.names("infiniband/mlx5_0/ports") == ["1"]
    assert tree.names("nothing") == []
    assert tree.read("infiniband/mlx5_0/ports/1/state") == "4: ACTIVE\n"


def test_impairments() -> None:
    panel = NodePanel()
    tree = SysfsTree(panel, "n0")
    path = "hwmon/hwmon0/fan1_input"
    assert tree.read(path) == "7000\n"
    panel.values["n0/fan0", "fan.speed"] = 100.0
    tree.impairment.stale = True
    assert tree.read(path) == "7000\n"
    tree.impairment.stale = False
    assert tree.read(path) == "100\n"
    tree.impairment.idle_orders = True
    tree.write("hwmon/hwmon0/pwm1_enable", "0")
    assert not panel.orders
    tree.impairment.refusing = True
    assert tree.names("hwmon") == []
    for action in (lambda: tree.read(path), lambda: tree.write(path, "1")):
        with pytest.raises(OSError, match="No such device"):
            action()


STRANGE: st.SearchStrategy[Value] = st.one_of(
    st.none(), st.floats(), st.integers(-(2**80), 2**80).map(float), st.text(max_size=9), st.frozensets(st.text(max_size=3), max_size=2)
)
QUANTITIES = [
    *(
        (PORT, quantity)
        for quantity in ("link.state", "link.phys_state", "link.speed", "link.width", "link.bits", "link.downed", "link.mac")
    ),
    *(("n0", quantity) for quantity in ("air.temperature", "fan.control")),
    *(("n0/fan0", quantity) for quantity in ("fan.speed", "fan.duty")),
]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(QUANTITIES), STRANGE, min_size=1))
def test_whatever_sensors_show_files_are_text_or_errors(values: dict[tuple[str, str], Value]) -> None:
    panel = NodePanel()
    panel.values |= values
    for path, text in render(panel, "n0").items():
        assert isinstance(text, OSError) or text.endswith("\n"), path
    for reading in (*read_infiniband(panel).values(), *read_ethernet(panel, "eth1").values()):
        fault = find_fault(reading) if reading.state is State.GOOD else None
        assert fault is None or "outside" in fault, reading  # a number beyond reason is the daemon's to find

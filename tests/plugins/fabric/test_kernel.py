"""Lines of the kernel: which count, of which device, for how long; and a log's own time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.limits import Limits
from supernoded.parts import Source
from supernoded.plugin import Node, Reading, State
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded_fabric.adapters import Adapters
from supernoded_fabric.host_sensors import KernelSensor
from supernoded_fabric.kernel_lines import DOWN, LOST, UP, read_line
from supernoded_fabric.kernel_state import HOLD_S, MOST_NAMES, KernelState
from supernoded_fabric.recorded_log import read_kernel_log
from supernoded_fabric.settings import FabricSettings
from supernoded_fabric.stamps import Stamps

PCI = "0000:3b:00.0"


@pytest.mark.parametrize(
    ("line", "interface", "link"),
    [
        (f"<6>mlx5_core {PCI} ens1f0np0: Link down", "ens1f0np0", DOWN),
        (f"<6>mlx5_core {PCI} ib6: Link up", "ib6", UP),
        (f"[  12.345678] ice {PCI} ens2: NIC Link is Down", "ens2", DOWN),
        (f"bnxt_en {PCI} eth0: NIC Link is Up, 200000 Mbps full duplex", "eth0", UP),
        (f"i40e {PCI} eth1: NIC Link is Down", "eth1", DOWN),
        (f"hns3 {PCI} eth2: link down", "eth2", DOWN),
        ("Aug 17 00:00:24 ibnode7 systemd-networkd[9]: ib6: Lost carrier", "ib6", LOST),
        (f"Aug 17 00:00:24 ibnode7 kernel: mlx5_core {PCI} ib6: lost carrier", "ib6", LOST),
    ],
)
def test_links(line: str, interface: str, link: str) -> None:
    said = read_line(line)
    assert said is not None
    assert (said.interface, said.link) == (interface, link)


@pytest.mark.parametrize(
    ("text", "raised", "recovered"),
    [
        ("mlx5_pcie_event:326:(pid 9):  Detected insufficient power on the PCIe slot (25W).", {"slot-power"}, set()),
        ("mlx5_pcie_event:320:(pid 9): PCIe slot advertised sufficient power (75W).", set(), {"slot-power"}),
        ("Port module event[error]: module 0, Cable error, High Temperature", {"module-temperature"}, set()),
        ("Port module event[error]: module 0, Cable error, Bus stuck", {"module-fault"}, set()),
        ("Port module event: module 0, Cable unplugged", {"module-fault"}, set()),
        ("Port module event: module 0, Cable plugged", set(), {"module-fault", "module-temperature"}),
        ("wait_func:1195:(pid 9): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource", {"firmware"}, set()),
        ("poll_health:800:(pid 0): device's health compromised - reached miss count", {"firmware"}, set()),
        ("mlx5_health_try_recover: health recovery succeeded", set(), {"firmware", "pcie"}),
        ("PCIe Bus Error: severity=Uncorrected (Fatal)", {"pcie"}, set()),
    ],
)
def test_adapters(text: str, raised: set[str], recovered: set[str]) -> None:
    said = read_line(f"<4>mlx5_core {PCI}: {text}")
    assert said is not None
    assert said.pci == PCI
    assert (set(said.raised), set(said.recovered)) == (raised, recovered)


@pytest.mark.parametrize(
    "line",
    [
        "Aug 17 00:00:24 ibnode7 systemd[1]: Finished Rotate log files.",
        "Aug 17 00:00:24 ib6 dhclient: no link",  # a host of that name
        f"mlx5_core {PCI}: mlx5_cmd_out_err:835:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2)",
        "usb 1-1: link down",
        "",
    ],
)
def test_other_lines_are_nobodys(line: str) -> None:
    assert read_line(line) is None


def test_two_tellers_of_one_event_count_once() -> None:
    state = KernelState(lambda interface, pci: interface)
    for text in (
        f"mlx5_core {PCI} ib6: Link down",
        "ib6: lost carrier",
        f"mlx5_core {PCI} ib6: Link up",
        f"mlx5_core {PCI} ib6: Link down",
    ):
        said = read_line(text)
        assert said is not None
        state.take(said, 1.0)
    assert [(reading.quantity, reading.value) for reading in state.show(2.0)] == [("link.downed", 2.0)]


def test_a_flag_stands_for_ten_minutes_after_it_was_last_said() -> None:
    state = KernelState(lambda interface, pci: pci)
    said = read_line(f"mlx5_core {PCI}: Port module event[error]: module 0, Cable error, High Temperature")
    assert said is not None
    state.take(said, 0.0)
    state.take(said, 100.0)
    assert state.expire(100.0 + HOLD_S - 1.0) == []
    assert [reading.value for reading in state.show(0.0)] == [frozenset({"module-temperature"})]
    assert state.expire(100.0 + HOLD_S) == [PCI]
    (reading,) = state.show(0.0)
    assert (reading.value, reading.note) == (frozenset(), "")


def test_names_without_end_are_not_kept() -> None:
    state = KernelState(lambda interface, pci: interface)
    for number in range(2 * MOST_NAMES):
        said = read_line(f"i40e {PCI} v{number}: NIC Link is Down")
        assert said is not None
        state.take(said, 1.0)
    assert len(list(state.show(1.0))) == MOST_NAMES


# --- the sensor -------------------------------------------------------------------------------------------------------------------


def make_sensor(folder: Path, settings: FabricSettings) -> tuple[KernelSensor, MemoryHost, ManualClock]:
    wires, host, clock = MemoryWires(), MemoryHost(), ManualClock()
    wires.tree(settings.ethernet).files = {"ib6/device/uevent": f"DRIVER=mlx5_core\nPCI_SLOT_NAME={PCI}", "eth1/device/uevent": "DRIVER=x"}
    node = Node(name="n0", topology=Topology(), limits=Limits(), wires=wires, clock=clock, host=host, state=folder)
    return KernelSensor(Adapters(node, settings), node, settings), host, clock


async def read(sensor: KernelSensor) -> dict[tuple[str, str], Reading]:
    found = await sensor.read()
    assert all(find_fault(reading) is None for reading in found)
    return {(reading.subject, reading.quantity): reading for reading in found}


async def test_a_first_down_is_one_more_than_none(tmp_path: Path) -> None:
    sensor, host, clock = make_sensor(tmp_path, FabricSettings())
    assert (await read(sensor))["n0/nic/ib6", "link.downed"].value == 0.0
    host.kernel += [f"<6>mlx5_core {PCI} ib6: Link down", f"<4>mlx5_core {PCI}: Detected insufficient power on the PCIe slot (25W)."]
    found = await read(sensor)
    assert found["n0/nic/ib6", "link.downed"].value == 1.0
    assert found["n0/nic/ib6", "nic.health"].value == frozenset({"slot-power"})  # of the adapter at that address
    await clock.advance(HOLD_S)
    assert (await read(sensor))["n0/nic/ib6", "nic.health"].value == frozenset()


async def test_an_excluded_interface_is_its_hca(tmp_path: Path) -> None:
    settings = FabricSettings(exclude=("ib*",), subjects={"mlx5_6/1": "n0/card2/port1"})
    sensor, host, _ = make_sensor(tmp_path, settings)
    wires = sensor._adapters.infiniband
    assert hasattr(wires, "files")
    wires.files = {"mlx5_6/device/uevent": f"PCI_SLOT_NAME={PCI}"}
    host.kernel += [f"<6>mlx5_core {PCI} ib6: Link down", "<6>ib6: lost carrier"]
    assert (await read(sensor))["n0/card2/port1", "link.downed"].value == 1.0


async def test_a_machine_without_links_leaves_the_log_alone(tmp_path: Path) -> None:
    node = Node(
        name="n0", topology=Topology(), limits=Limits(), wires=MemoryWires(), clock=ManualClock(), host=MemoryHost(), state=tmp_path
    )
    assert await KernelSensor(Adapters(node, FabricSettings()), node, FabricSettings()).read() == []


# --- recordings -------------------------------------------------------------------------------------------------------------------


def replay(text: str, at: float = 100.0) -> list[Reading]:
    found = list(read_kernel_log(Source(name="x", data=text.encode(), at=at)))
    assert [reading.at for reading in found] == sorted(reading.at for reading in found)
    return found


def test_a_burst_without_years_is_one_device_at_its_own_pace() -> None:
    lines = [f"Aug 17 00:00:{24 + second} ibnode7 kernel: ib6: lost carrier" for second in (0, 1, 1, 3, 4, 5)]
    found = replay("\n".join(["Aug 17 00:00:00 ibnode7 systemd[1]: Started.", *lines]))
    assert {reading.subject for reading in found} == {"n0/nic/ib6"}
    assert [reading.value for reading in found] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert found[0].at == 100.0
    assert found[1].at == pytest.approx(124.0, abs=0.1)
    assert found[-1].at == pytest.approx(129.0, abs=0.1)


def test_a_log_that_says_nothing_of_links_is_read_all_the_same() -> None:
    (only,) = replay("Aug 17 00:00:00 ibnode7 systemd[1]: Started.\nAug 17 00:00:01 ibnode7 systemd[1]: Stopped.\n")
    assert (only.subject, only.quantity, only.value) == ("n0", "x.fabric.log_lines", 2.0)
    assert replay("no log at all\n\x00\x01") == []


@pytest.mark.parametrize(
    ("first", "second", "seconds"),
    [
        ("[   10.500000] x", "[   12.000000] x", 1.5),
        ("<6>[   10.500000] x", "<6>[   12.000000] x", 1.5),
        ("2024-02-29T23:59:59.5+00:00 h x", "2024-03-01T00:00:01+00:00 h x", 1.5),
        ("Dec 31 23:59:59 h x", "Jan  1 00:00:00 h x", 0.0),  # no year, so it seems to go back
        ("Feb 29 00:00:00 h x", "Feb 29 00:00:09 h x", 9.0),
        ("Feb 31 00:00:00 h x", "Mar  1 00:00:09 h x", 0.0),
        ("[Fri Apr  5 21:29:39 2024] x", "[Fri Apr  5 21:29:41 2024] x", 2.0),
        ("[   10.500000] x", "no stamp", 0.0),
        ("[    1.000000] x", "[9999999999.0] x", 0.0),  # wrong
    ],
)
def test_stamps(first: str, second: str, seconds: float) -> None:
    stamps = Stamps(100.0)
    begun = stamps.read(first)
    assert begun == 100.0
    assert stamps.read(second) - begun == pytest.approx(seconds)


PIECES = st.sampled_from(
    [
        f"mlx5_core {PCI}",
        " ib6: ",
        "Link down",
        "lost carrier",
        "[ 1.5] ",
        "Aug 17 00:00:24 ",
        "\n",
        "Port module event",
        "High Temperature",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=40).map("".join))
def test_near_garbage_never_raises_nor_makes_a_bad_reading(text: str) -> None:
    for reading in replay(text.encode(errors="replace").decode()):
        assert reading.state is State.GOOD
        assert find_fault(reading) is None


def test_recorded_lines(recordings: Path) -> None:
    found = replay((recordings / "logs" / "kernel_lines.txt").read_text())
    assert {(reading.subject, reading.value) for reading in found} == {
        ("n0/nic/0002:01:00.0", frozenset({"slot-power"})),
        ("n0/nic/unnamed", frozenset({"module-temperature"})),
        ("n0/nic/0000:3b:00.0", frozenset({"firmware"})),
    }


def test_a_recorded_quiet_log(recordings: Path) -> None:
    found = replay((recordings / "logs" / "azure_0flap_syslog").read_text())
    assert [reading.quantity for reading in found] == ["x.fabric.log_lines"]

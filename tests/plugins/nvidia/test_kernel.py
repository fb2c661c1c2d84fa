"""What the kernel says of the cards: in one line or several, once or twice, and until when it holds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Node
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded_nvidia.kernel import Driver, KernelSensor
from supernoded_nvidia.sensors import Census
from supernoded_nvidia.settings import NvidiaSettings
from supernoded_nvidia.slots import Slots

BUSES = [f"0000:{slot:02x}:00.0" for slot in range(8)]
DRIVER = "/proc/driver/nvidia/gpus"
FALLEN = "<4>NVRM: GPU 0000:03:00.0: GPU has fallen off the bus."


def read(*lines: str) -> list[tuple[str, int]]:
    return [(fault.bus, fault.xid) for fault in Driver().read(lines)]


@pytest.mark.parametrize(
    "line",
    [
        "NVRM: Xid (PCI:0000:03:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        "[ 5107.3] NVRM: Xid (PCI:0000:03:00): 79, GPU has fallen off the bus.",
        "<4>NVRM: Xid (0000:03:00): 79, C 00000005",
        "kernel: NVRM: GPU at 0000:03:00.0 has fallen off the bus.",
        "NVRM: GPU at PCI:0000:03:00: has fallen off the bus",
        FALLEN,
        "NVRM: The NVIDIA GPU 0000:03:00.0\\x0aNVRM: (PCI ID: 10de:0000) installed in this system has\\x0aNVRM: fallen off the bus and.",
    ],
)
def test_one_line_forms(line: str) -> None:
    assert read(line) == [("0000:03:00.0", 79)]


def test_several_lines_with_others_between_them() -> None:
    lines = ["NVRM: The NVIDIA GPU 0000:03:00.0", "usb 1-1: new device", "  NVRM: (PCI ID: 10de:0000) installed in this system has"]
    assert read(*lines, "  NVRM: fallen off the bus and is not responding to commands.") == [("0000:03:00.0", 79)]
    assert read("NVRM: Xid (PCI:0000:03:00):", "NVRM: 48, pid=7, name=python3, DBE") == [("0000:03:00.0", 48)]


def test_a_statement_ends() -> None:
    lines = ["NVRM: The NVIDIA GPU 0000:03:00.0", "NVRM: one", "NVRM: two", "NVRM: three", "NVRM: GPU has fallen off the bus"]
    assert read(*lines) == []


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error",
        "NVRM: GPU 0000:41:00.0: Opening GPU with minor number 1",
        "NVRM: The NVIDIA probe routine failed for 1 device(s).",
        "Xid (PCI:0000:03:00): 79, of nobody",
        "NVRM: Xid (PCI:slot): 79",
    ],
)
def test_lines_of_something_else(line: str) -> None:
    assert read(line) == []


@given(st.lists(st.text(alphabet="NVRM: XidPCI(0123456789:.)fallenofthebusGU\\x0a\n", max_size=60), max_size=6))
def test_nothing_raises_for_lines(lines: list[str]) -> None:
    assert all(fault.bus for fault in Driver().read(lines))


@dataclass
class Place:
    """A sensor, and what it looks at."""

    sensor: KernelSensor
    slots: Slots
    host: MemoryHost
    clock: ManualClock

    async def look(self, *lines: str) -> dict[tuple[str, str], object]:
        """What is read after these lines, ten seconds later."""
        await self.clock.advance(10.0)
        self.host.kernel += lines
        return {(reading.subject, reading.quantity): reading.value for reading in await self.sensor.read()}


@pytest.fixture
def place(supernoded_node: Node, supernoded_wires: MemoryWires, supernoded_host: MemoryHost, supernoded_clock: ManualClock) -> Place:
    tree = supernoded_wires.tree(DRIVER)
    tree.files = {f"{bus}/information": "" for bus in BUSES}
    slots = Slots("n0", supernoded_node.topology, {})
    sensor = KernelSensor(supernoded_node, NvidiaSettings(xid_hold_s=60.0), slots, Census(tree, slots))
    return Place(sensor, slots, supernoded_host, supernoded_clock)


async def test_an_xid_and_its_double_are_one_fact(place: Place) -> None:
    found = await place.look("<4>NVRM: Xid (PCI:0000:03:00): 79, GPU has fallen off the bus.", FALLEN)
    assert found == {("n0/card3", "card.health"): frozenset({"XID79"}), ("n0/card3", "card.present"): 0.0}


async def test_a_card_that_fell_off_is_gone_until_the_tool_has_an_answer_from_it(place: Place) -> None:
    await place.look(FALLEN)
    fell = place.clock.now()
    place.slots.mark_alive(BUSES[3], fell)  # asked before, or at the same moment
    for _ in range(10):
        found = await place.look()
    assert found["n0/card3", "card.present"] == 0.0
    place.slots.mark_alive(BUSES[3], fell + 1.0)
    assert await place.look() == {("n0/card3", "card.health"): frozenset()}


async def test_an_xid_is_a_flag_for_its_time(place: Place) -> None:
    line = "<4>NVRM: Xid (PCI:0000:02:00): 48, pid=1, DBE"
    assert await place.look(line) == {("n0/card2", "card.health"): frozenset({"XID48"})}
    await place.clock.advance(45.0)
    assert await place.look(line) == {("n0/card2", "card.health"): frozenset({"XID48"})}
    await place.clock.advance(45.0)
    assert await place.look() == {("n0/card2", "card.health"): frozenset({"XID48"})}
    assert await place.look() == {("n0/card2", "card.health"): frozenset()}


async def test_a_card_that_nobody_maps_keeps_its_bus_id(place: Place) -> None:
    assert ("n0/gpu/0000:b3:00.0", "card.present") in await place.look(FALLEN.replace("0000:03", "0000:b3"))


async def test_without_cards_the_log_is_left_alone(place: Place, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.tree(DRIVER).files = {}
    assert await place.look(FALLEN) == {}
    assert await place.host.kernel_lines("nvidia.kernel") == [FALLEN]

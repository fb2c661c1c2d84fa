"""A megabyte of nonsense costs little time; one device's trouble changes nothing for another."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from supernoded.errors import WireError
from supernoded.limits import Limits
from supernoded.plugin import Node, Reading, Sensor, State
from supernoded.testing import Answer, ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded_fabric import supernoded_sensors
from supernoded_fabric.ethernet import parse_interface
from supernoded_fabric.ethtool_counters import parse_statistics
from supernoded_fabric.ethtool_module import parse_module
from supernoded_fabric.fitting import parse_mlxlink
from supernoded_fabric.settings import FabricSettings

LARGE = 1_000_000  # characters
LIMIT = 8.0  # seconds; before, some of these took hours
LINE = "a" + " " * 1990
HOSTILE = {
    "blank lines": f"{LINE}\n" * (LARGE // 2000),
    "nearly rows": f"{LINE}b\n" * (LARGE // 2000),
    "channels": f"Rcvr signal avg optical power{' ' * 1900}(Channel 1){' ' * 40}\n" * (LARGE // 2000),
    "blank in JSON": json.dumps({"Rx Power Current [dBm]": f"1{' ' * LARGE}x", "Identifier": "q"}),
    "headers": f"{'mlxlink ' * 240}\n" * (LARGE // 2000),
}


@pytest.mark.parametrize("parse", [parse_statistics, parse_module, parse_mlxlink])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_nonsense_is_cheap(parse: Callable[[str, float, str], list[Reading]], text: str) -> None:
    begun = time.process_time()
    found = parse(text, 7.0, "p")
    assert time.process_time() - begun < LIMIT
    assert [one.value for one in found if one.state is State.GOOD] in ([], [1.0])  # at most that a module is there


@pytest.mark.parametrize(
    ("word", "state"), [("Active", 1.0), ("Polling", 0.0), ("Disable", 0.0), ("ETH_AN_FSM_ENABLE", 0.0), ("x%f", None)]
)
def test_a_state_of_no_known_name_is_not_down(word: str, state: float | None) -> None:
    found = {one.quantity: one for one in parse_mlxlink(f"State : {word}\n", 7.0, "p")}
    assert found["link.state"].value == state
    assert ("link.enabled" in found) == (state is not None)
    assert state is not None or found["link.state"].note == "no state of a link: 'x%f'"


def test_a_speed_of_all_ones_is_not_known() -> None:
    found = {one.quantity: one for one in parse_interface({"operstate": "up", "speed": "4294967295"}, 7.0, "p")}
    assert (found["link.speed"].state, found["link.speed"].note) == (State.UNKNOWN, "no speed is known")


class RunClock(ManualClock):
    """A clock that moves on while a run lasts."""

    def jump(self, seconds: float) -> None:
        self._now += seconds


def fit(folder: Path) -> tuple[dict[str, Sensor], MemoryWires, RunClock]:
    wires, clock = MemoryWires(), RunClock()
    wires.tree("/sys/class/net").files = {f"eth{number}/device/uevent": f"PCI_SLOT_NAME=0000:0{number}:00.0" for number in (0, 1)}
    node = Node(name="n0", topology=Topology(), limits=Limits(), wires=wires, clock=clock, host=MemoryHost(), state=folder)
    return {sensor.name: sensor for sensor in supernoded_sensors(FabricSettings(), node)}, wires, clock


async def test_a_device_that_needs_the_plain_question_leaves_the_others_theirs(tmp_path: Path) -> None:
    sensors, wires, _ = fit(tmp_path)

    def play(words: Sequence[str]) -> Answer:
        if words[-1] == "eth1" and words[0] == "--json":
            return Answer(1, "", "Operation not permitted", truncated=False)
        told = json.dumps([{"ifname": "eth0", "active": ["RS"], "statistics": {"corrected_bits": {"total": 5}}}])
        return Answer(0, told if words[0] == "--json" else "Active FEC encoding: RS\n", "", truncated=False)

    wires.command(["ethtool"]).answer = play
    for _ in range(2):
        found = {(one.subject, one.quantity): one.value for one in await sensors["fabric.module"].read()}
        assert found["n0/nic/eth0", "link.fec.corrected"] == 5.0
        assert found["n0/nic/eth1", "link.fec"] == "rs"
    runs = wires.command(["ethtool"]).runs
    assert runs.count(("--json", "-I", "--show-fec", "eth1")) == 1
    assert runs.count(("--json", "-I", "--show-fec", "eth0")) == 2


async def test_a_device_that_kept_others_waiting_is_left_alone_for_a_while(tmp_path: Path) -> None:
    sensors, wires, clock = fit(tmp_path)
    hung = False

    def play(words: Sequence[str]) -> Answer:
        if hung and words[-1] == "eth1":
            clock.jump(8.0)
            raise WireError("ethtool -S eth1: did not end and was killed within 8 s")
        return Answer(0, "rx_bytes_phy: 5\n", "", truncated=False)

    wires.command(["ethtool"]).answer = play
    await sensors["fabric.ethtool"].read()
    hung = True
    for _ in range(3):
        found = {one.subject: one for one in await sensors["fabric.ethtool"].read()}
        assert found["n0/nic/eth0"].value == 40.0
        assert (found["n0/nic/eth1"].state, found["n0/nic/eth1"].at) == (State.UNKNOWN, clock.now())
        assert "was killed" in found["n0/nic/eth1"].note
    assert wires.command(["ethtool"]).runs.count(("-S", "eth1")) == 2
    await clock.advance(31.0)
    hung = False
    assert {one.value for one in await sensors["fabric.ethtool"].read()} == {40.0}


def test_each_sensor_has_the_time_that_its_runs_may_take(tmp_path: Path) -> None:
    sensors, _, _ = fit(tmp_path)
    hop, run = 3.0, 8.0 + 1.0  # seconds; a tree gives up, and a tool is killed and buried
    assert sensors["fabric.infiniband"].timeout > 3 * hop
    assert sensors["fabric.kernel"].timeout > 4 * hop + 5.0
    assert sensors["fabric.lldp"].timeout > 4 * hop + run
    assert sensors["fabric.module"].timeout > 2 * hop + 4 * run

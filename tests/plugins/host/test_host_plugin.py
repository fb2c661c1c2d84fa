"""The machine: readings, modest rules and notices that are never doubled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supernoded_host
from supernoded.errors import NotHeldError
from supernoded.limits import Limits
from supernoded.plugin import Action, Effect, Level, Node, Reading, State, Step
from supernoded.quantities import find_fault
from supernoded.testing import Disk, ManualClock, MemoryHost, MemoryWires, Running, judge
from supernoded.topology import Topology
from supernoded.wire import Machine, Pen
from supernoded.wire.tree import FileTree
from supernoded_host.hogs import Allowance
from supernoded_host.kernel import LINE, KernelSensor, is_error
from supernoded_host.notices import Notices, name_file
from supernoded_host.rules import ClockRule, HogRule, ThresholdRule
from supernoded_host.sensors import UNTOLD, DiskSensor, MachineSensor, ProcessSensor
from supernoded_host.settings import HostSettings


@pytest.fixture
def host() -> MemoryHost:
    return MemoryHost()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def by_quantity(readings: object) -> dict[tuple[str, str], Reading]:
    assert isinstance(readings, list)
    assert all(find_fault(reading) is None for reading in readings if reading.state is State.GOOD)
    return {(reading.subject, reading.quantity): reading for reading in readings}


# --- sensors ----------------------------------------------------------------------------------------------------------------------


async def test_the_machine(host: MemoryHost, clock: ManualClock) -> None:
    host.machine = Machine(1.5, None, 4e9, 60.0, 900.0)
    clock.wall_offset = 3.0
    found = by_quantity(await MachineSensor("n0", host, clock, 10.0).read())
    assert {key: reading.value for key, reading in found.items()} == {
        ("n0", "host.load"): 1.5,
        ("n0", "host.cpu_used"): None,
        ("n0", "host.memory_available"): 4e9,
        ("n0", "host.memory_used"): 60.0,
        ("n0", "host.uptime"): 900.0,
        ("n0", "host.clock_step"): 3.0,
    }
    assert found["n0", "host.cpu_used"].note == UNTOLD


async def test_disks_cost_only_themselves(host: MemoryHost, clock: ManualClock) -> None:
    host.mounts = [Disk("/", 40.0, 1e9), Disk("/data", None, None, "/data: Input/output error")]
    found = by_quantity(await DiskSensor("n0", host, clock, 60.0).read())
    assert found["n0/disk", "disk.used"].value == 40.0
    assert found["n0/disk", "disk.free"].value == 1e9
    assert found["n0/disk/data", "disk.used"].note == "/data: Input/output error"


async def test_processes_as_one_text(host: MemoryHost, clock: ManualClock) -> None:
    host.processes = [Running(7, "python3", 99.6, 2.0**30), Running(1, "init", 0.0, 2.0**20)]
    sensor = ProcessSensor("n0", host, clock, 60.0, 5, Allowance(20.0, 50.0))
    reading = by_quantity(await sensor.read())["n0", "host.top_process"]
    assert reading.value == "python3 (pid 7) 100 % of a core, 1024 MiB; init (pid 1) 0 % of a core, 1 MiB"


async def test_kernel_errors_are_counted_and_link_lines_handed_on(host: MemoryHost, clock: ManualClock) -> None:
    sensor = KernelSensor("n0", host, clock, 10.0)
    assert [(reading.quantity, reading.value) for reading in await sensor.read()] == [("host.kernel_errors", 0.0)]
    host.kernel = ["<3>mlx5_core 0000:01: Port module event[error]: module 0, Cable error", "<2>EXT4-fs error", "<6>usb 1-1: new device"]
    readings = await sensor.read()
    assert [(reading.quantity, reading.value) for reading in readings] == [
        ("host.kernel_errors", 2.0),
        (LINE, "mlx5_core 0000:01: Port module event[error]: module 0, Cable error"),
    ]
    clock_later = await sensor.read()
    assert [reading.value for reading in clock_later] == [2.0, readings[1].value]


async def test_a_flood_is_counted_not_carried(host: MemoryHost, clock: ManualClock) -> None:
    host.kernel = [f"<3>mlx5_core: {n}" for n in range(1000)]
    readings = await KernelSensor("n0", host, clock, 10.0).read()
    assert readings[0].value == 1000.0
    assert len(readings) == 51
    assert readings[-1].value == "mlx5_core: 999"


@pytest.mark.parametrize(
    "line", ["NVRM: Xid (PCI:0000:a1:00): 79, GPU has fallen off the bus.", "eth2: Link is Down", "AER: Corrected error"]
)
async def test_lines_about_links_and_cards(line: str, host: MemoryHost, clock: ManualClock) -> None:
    host.kernel = [f"<4>{line}"]
    assert (await KernelSensor("n0", host, clock, 10.0).read())[1].value == line


@given(st.text(max_size=20))
def test_any_line_has_a_level_or_none(text: str) -> None:
    assert is_error(text) in {True, False}


# --- rules ------------------------------------------------------------------------------------------------------------------------

RULE = ThresholdRule("host.disk_full", "disk.used", 95.0, 3.0, "disk is {0:.1f} % full")


def used(percent: float | None, at: float) -> Reading:
    state = State.GOOD if percent is not None else State.UNKNOWN
    return Reading(subject="n0/disk", quantity="disk.used", value=percent, unit="%", at=at, state=state, note="" if percent else "hung")


def test_a_full_disk_raises_and_clears_with_hysteresis() -> None:
    verdicts = judge(RULE, [used(percent, n) for n, percent in enumerate([94.9, 95.1, 93.0, None, 92.5, 91.9, 94.0])])
    levels = [Level.CLEAR, Level.RAISED, Level.RAISED, Level.UNSURE, Level.RAISED, Level.CLEAR, Level.CLEAR]
    assert [verdict.level for verdict in verdicts] == levels
    assert verdicts[1].text == "n0/disk: disk is 95.1 % full, the limit is 95 %"
    assert verdicts[3].unseen == ("disk.used is unknown: hung",)


def offset(seconds: float, at: float) -> Reading:
    return Reading(subject="n0", quantity="host.clock_step", value=seconds, unit="s", at=at)


def test_a_step_of_the_clock_raises_and_is_over_when_it_is_past() -> None:
    verdicts = judge(ClockRule(1.0), [offset(0.001 * n + (5.0 if n > 2 else 0.0), 100.0 * n) for n in range(12)])
    raised = [verdict.level is Level.RAISED for verdict in verdicts]
    assert raised == [False] * 3 + [True] * 6 + [False] * 3
    assert verdicts[3].text == "n0: the wall clock was set by 5.0 s within 600 s, the limit is 1 s"


def hog(text: str | None, at: float) -> Reading:
    state = State.GOOD if text is not None else State.UNKNOWN
    return Reading(subject="n0", quantity="host.hog", value=text, unit="text", at=at, state=state, note="" if text is not None else "hung")


def test_who_takes_the_node_is_told_with_the_pid_until_it_is_gone() -> None:
    verdicts = judge(HogRule(), [hog(text, n) for n, text in enumerate(["", "backup (pid 4711) takes 62 % of memory", None, ""])])
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.RAISED, Level.UNSURE, Level.CLEAR]
    assert verdicts[1].text.startswith("n0: backup (pid 4711) takes 62 % of memory, and is none of the job's")
    assert verdicts[2].unseen == ("host.hog is unknown: hung",)


# --- notices ----------------------------------------------------------------------------------------------------------------------


def make_action(action: str = "i1/notify") -> Action:
    step = Step(name="notify", kind="notify", target="n0/card0", reason="n0/card0 is bad")
    return Action(id=action, step=step, incident="i1", scope="node", epoch=0, issued=12.5, deadline=20.0)


async def test_a_notice_is_there_after_it_was_written(tmp_path: Path) -> None:
    notices = Notices(FileTree(tmp_path / "notices", Pen(lambda scope: None), 30.0), 10)
    assert (await notices.observe(make_action())).effect is Effect.ABSENT
    await notices.apply(make_action())
    await notices.apply(make_action())
    assert (await notices.observe(make_action())).effect is Effect.PRESENT
    ((name, text),) = read_notices(tmp_path)
    assert name == "i1%2Fnotify.json"
    assert json.loads(text) == {"action": "i1/notify", "incident": "i1", "at": 12.5, "subject": "n0/card0", "sentence": "n0/card0 is bad"}


def read_notices(folder: Path) -> list[tuple[str, str]]:
    return [(path.name, path.read_text()) for path in sorted((folder / "notices").iterdir())]


async def test_the_oldest_notices_go(tmp_path: Path) -> None:
    notices = Notices(FileTree(tmp_path / "notices", Pen(lambda scope: None), 30.0), 2)
    for number in range(4):
        await notices.apply(make_action(f"i{number}/notify"))
        os.utime(tmp_path / "notices" / f"i{number}%2Fnotify.json", (number, number))
    assert [name for name, _ in read_notices(tmp_path)] == ["i2%2Fnotify.json", "i3%2Fnotify.json"]


async def test_without_the_pen_no_notice(tmp_path: Path) -> None:
    notices = Notices(FileTree(tmp_path / "notices", Pen(lambda scope: "observing"), 30.0), 2)
    with pytest.raises(NotHeldError):
        await notices.apply(make_action())
    assert (await notices.observe(make_action())).effect is Effect.ABSENT


async def test_a_folder_that_cannot_be_read_is_unknown_not_absent(tmp_path: Path) -> None:
    (tmp_path / "notices").mkdir()
    os.mkfifo(tmp_path / "notices" / "i1%2Fnotify.json")
    notices = Notices(FileTree(tmp_path / "notices", Pen(lambda scope: None), 30.0), 2)
    assert (await notices.observe(make_action())).effect is Effect.UNKNOWN


@given(st.text(max_size=400), st.text(max_size=400))
def test_names_of_notices_are_safe_and_their_own(one: str, other: str) -> None:
    try:
        one.encode()
        other.encode()
    except UnicodeEncodeError:
        return
    assert (name_file(one) == name_file(other)) == (one == other)
    assert "/" not in name_file(one)
    assert len(name_file(one).encode()) <= 220


def test_the_hooks(tmp_path: Path, host: MemoryHost, clock: ManualClock) -> None:
    wires = MemoryWires()
    node = Node(name="n0", topology=Topology(), limits=Limits(), wires=wires, clock=clock, host=host, state=tmp_path)
    settings = supernoded_host.supernoded_settings()()
    assert settings == HostSettings()
    assert [one.name for one in supernoded_host.supernoded_sensors(settings, node)] == [
        "host",
        "host.disks",
        "host.processes",
        "host.kernel",
    ]
    assert len(supernoded_host.supernoded_sensors(HostSettings(kernel_log=False), node)) == 3
    kinds = [rule.kind for rule in supernoded_host.supernoded_rules(settings, node)]
    assert kinds == ["host.disk_full", "host.memory_low", "host.hog", "host.clock_stepped"]
    (actuator,) = supernoded_host.supernoded_actuators(settings, node)
    assert sorted(actuator.kinds) == ["notify"]
    assert list(actuator.targets) == ["*"]
    assert wires.tree(f"{tmp_path}/notices").files == {}

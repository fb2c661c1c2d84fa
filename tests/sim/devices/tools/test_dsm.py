import re

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.plant.pool.orders import AllowAtomic, MountPmem
from tests.sim.devices.tools.desks import Desk


def run(desk: Desk, line: str) -> Run:
    tool, *argv = line.split()
    return run_tool(tool, argv, desk, "n0", ToolState())


def finish(desk: Desk, line: str) -> Run:
    """Run it, and let the plant go on for as long as it takes."""
    result = run(desk, line)
    desk.play(result.seconds + 0.5)
    return result


def test_bandwidth_falls_below_its_limit_when_the_memory_is_not_mounted() -> None:
    desk = Desk()
    rates = []
    for mounted in (True, False):
        desk.order(MountPmem("n0", mounted=mounted))
        result = run(desk, "dsmbandwidth -t read -s 128GB -d dsm_pool")
        rates.append(float(re.findall(r"^Bandwidth: ([\d.]+) TB/s$", result.out, re.MULTILINE)[0]))
        assert (result.rc, 0.5 < result.seconds < 1.0) == (0, True)
    assert 1.8 <= rates[0] <= 2.1
    assert rates[1] < 1.5


def test_sync_snapshot_verify() -> None:
    desk = Desk()
    desk.play(2.0)
    desk.order(AllowAtomic("n0", on=True))
    assert finish(desk, "dsm_sync_all")[:3] == (0, "dsm_sync_all: 8 cards synchronised\n", "")
    assert finish(desk, "dsm_snapshot --name ckpt_1 --atomic --compress zstd")[:3] == (0, "Snapshot ckpt_1 done\n", "")
    assert finish(desk, "dsm_snapshot --name ckpt_2")[:2] == (0, "Snapshot ckpt_2 done\n")
    assert [line.split()[0] for line in run(desk, "dsm_snapshot --list").out.splitlines()] == ["ckpt_1", "ckpt_2"]
    good, torn = run(desk, "dsm_snapshot --verify ckpt_1"), run(desk, "dsm_snapshot --verify ckpt_2")
    assert (good.rc, good.out.endswith("checksum OK\n")) == (0, True)
    assert (torn.rc, torn.err) == (1, "dsm_snapshot: snapshot ckpt_2: checksum mismatch\n")


def test_what_is_removed_is_not_listed_any_more() -> None:
    desk = Desk()
    desk.play(2.0)
    finish(desk, "dsm_sync_all")
    finish(desk, "dsm_snapshot --name a")
    finish(desk, "dsm_snapshot --name b")
    assert finish(desk, "dsm_snapshot --delete a")[:2] == (0, "Snapshot a removed\n")
    assert [line.split()[0] for line in run(desk, "dsm_snapshot --list").out.splitlines()] == ["b"]
    again = run(desk, "dsm_snapshot --delete a")
    assert (again.rc, again.err) == (1, "dsm_snapshot: pool: there is no snapshot 'a' to remove\n")


def test_without_the_kernels_parameter_atomic_is_a_warning_and_a_torn_snapshot() -> None:
    desk = Desk()
    desk.play(2.0)
    finish(desk, "dsm_sync_all")
    result = finish(desk, "dsm_snapshot --name a --atomic")
    assert (result.rc, "dsm_snapshot_atomic is 0" in result.err) == (0, True)
    assert run(desk, "dsm_snapshot --verify a").rc == 1


def test_what_the_pool_refuses_is_told() -> None:
    desk = Desk()
    run(desk, "dsm_sync_all")
    again = run(desk, "dsm_sync_all")
    assert (again.rc, "while a sync runs" in again.err) == (1, True)
    desk.play(3.0)
    assert "no compression 'rar'" in run(desk, "dsm_snapshot --name a --compress rar").err
    desk.values["pool/n0", "pool.read_bandwidth"] = None
    assert run(desk, "dsmbandwidth -t read").rc == 1
    desk.values["pool", "pool.snapshots"] = "{"
    assert run(desk, "dsm_snapshot --list")[:2] == (0, "")


@pytest.mark.parametrize(
    "line",
    [
        "dsmbandwidth",
        "dsmbandwidth -t write -s 1GB",
        "dsmbandwidth -t read -s 0GB",
        "dsmbandwidth -t read -s 1",
        "dsm_sync_all now",
        "dsm_snapshot",
        "dsm_snapshot --name a --list",
        "dsm_snapshot --atomic",
    ],
)
def test_wrong_arguments_end_with_2_and_the_usage(line: str) -> None:
    result = run(Desk(), line)
    assert (result.rc, f"usage: {line.split(maxsplit=1)[0]}" in result.err) == (2, True)

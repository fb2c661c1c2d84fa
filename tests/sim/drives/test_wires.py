"""The wires of a simulated node: its logs and its tree in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim_hardware.drives.wires import RigWires
from sim_hardware.plant.job.orders import SilenceRank
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.errors import NotHeldError, WireError
from supernoded.wire import Pen, Tree
from supernoded.wire.system import SystemWires

FILE = "mlx5_0/ports/1/state"


def make(root: str, *, held: bool = True) -> tuple[Rig, Tree]:
    rig = Rig(World(generate_rack(2, 8), 1, lambda: 0.0), Path("/lines"))
    pen = Pen(lambda _: None if held else "observing")
    return rig, RigWires(rig, "n1", pen, SystemWires(pen)).tree(root)


async def test_logs_are_read_and_not_written() -> None:
    rig, tree = make("file:///var/log/hccl/")
    rig.world.order(SilenceRank("train", 8, silent=True))
    assert (await tree.read("hccl.log")).endswith("no heartbeat from job/train/rank8")
    assert await tree.names() == ["hccl.log", "train.log"]
    assert await tree.names("hccl.log") == []
    found = await tree.read_all(["h*.log", "*.txt"])
    assert found == {"hccl.log": await tree.read("hccl.log")}
    for path in ("kern.log", ""):
        with pytest.raises(WireError, match=r"no such log; there are hccl\.log"):
            await tree.read(path)
    with pytest.raises(WireError, match=r"/var/log/hccl/hccl\.log: cannot be written"):
        await tree.order("n1", "hccl.log", "")
    with pytest.raises(WireError, match=r"cannot be removed"):
        await tree.trim("n1", "", 0)


async def test_who_may_not_write_is_told_that_first() -> None:
    tree = make("/var/log/hccl", held=False)[1]
    with pytest.raises(NotHeldError):
        await tree.order("n1", "hccl.log", "")
    with pytest.raises(NotHeldError):
        await tree.trim("n1", "", 0)


async def test_patterns_find_files_and_no_folders() -> None:
    _, tree = make("/sys/class/infiniband")
    found = await tree.read_all(["mlx5_[01]/ports/*/state", FILE, "mlx5_0/ports/1", "mlx5_0/*/state", "nothing/*"])
    assert found == {FILE: "4: ACTIVE", "mlx5_1/ports/1/state": "4: ACTIVE"}


async def test_a_driver_that_refused_is_seen_again_afterwards() -> None:
    rig, tree = make("/sys/class/infiniband")
    rig.trees["n1"].impairment.refusing = True
    assert await tree.names() == []
    assert await tree.read_all([FILE]) == {}
    rig.trees["n1"].impairment.refusing = False
    assert await tree.read_all([FILE]) == {FILE: "4: ACTIVE"}

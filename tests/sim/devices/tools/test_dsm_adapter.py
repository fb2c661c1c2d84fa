"""The vault's adapter over the simulated pool's own tools: whole is published, torn is refused though the tool says that it is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sim_hardware.devices.tools import run_tool
from sim_hardware.devices.tools.words import ToolState
from sim_hardware.plant.pool.orders import AllowAtomic
from sim_hardware.rack import generate_rack
from sim_hardware.world import World
from supernoded.errors import VaultError
from supernoded.job.vault.dsm import publish, remove_snapshot, take_snapshot
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import MARKER
from supernoded.job.vault.pool import Told
from supernoded.settings.vault import Dsm

PEN = Pen(node="n0", pid=1, level=None, headroom=0)


class Shell:
    """Runs the tools of a node, each to its end in the plant's own time. Of its kernel it shows nothing: the tools' words must do."""

    def __init__(self, *, atomic: bool) -> None:
        self.time = 0.0
        self.world = World(generate_rack(1, 8), 1, lambda: self.time)
        self.world.order(AllowAtomic("n0", atomic))
        self._state = ToolState()

    def read_atomic(self, path: Path) -> str | None:
        del path
        return None

    async def run(self, argv: Sequence[str], seconds: float) -> Told:
        run = run_tool(argv[0], argv[1:], self.world, "n0", self._state)
        assert run.seconds <= seconds
        self.time += run.seconds
        return Told(run.rc, run.out + run.err)


async def test_a_snapshot_is_synced_taken_verified_and_published(tmp_path: Path) -> None:
    (tmp_path / MARKER).touch()
    snapshot = await take_snapshot(Shell(atomic=True), Dsm(), "ckpt_1", 7, 5.0)
    path = publish(SystemFiles(), tmp_path, snapshot, PEN)
    assert path.name == "ckpt_1.json"


async def test_where_the_kernel_does_not_allow_it_the_snapshot_is_refused_by_its_words(tmp_path: Path) -> None:
    shell = Shell(atomic=False)
    with pytest.raises(VaultError, match=r"is refused, it is not atomic.*dsm_snapshot_atomic"):
        await take_snapshot(shell, Dsm(), "ckpt_1", 7, 5.0)
    assert list(tmp_path.iterdir()) == []


async def test_a_name_that_is_taken_is_an_error_of_the_step_that_it_stops() -> None:
    shell = Shell(atomic=True)
    await take_snapshot(shell, Dsm(), "ckpt_1", 7, 5.0)
    with pytest.raises(VaultError, match=r"^the snapshot failed: dsm_snapshot ended with 1"):
        await take_snapshot(shell, Dsm(), "ckpt_1", 7, 5.0)


async def test_one_that_is_removed_leaves_its_name_free() -> None:
    shell = Shell(atomic=True)
    await take_snapshot(shell, Dsm(), "ckpt_1", 7, 5.0)
    await remove_snapshot(shell, Dsm(), "ckpt_1")
    assert (await take_snapshot(shell, Dsm(), "ckpt_1", 7, 5.0)).name == "ckpt_1"

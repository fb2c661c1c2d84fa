"""Policies that are wrong about checkpoints, each in one way: each would do until the one thing happens that it is wrong about."""

from __future__ import annotations

import asyncio
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.pool.orders import Snapshot, SyncPool
from sim_hardware.rig import Stores
from sim_hardware.stand_ins.careful import Duties, KeepCool, ReplaceSilent
from sim_hardware.stand_ins.looking import attempt, name_job, number
from sim_hardware.stand_ins.power import KeepArmed, SaveInTime

LOOK_S, SLICE_S, SLICES = 0.5, 0.25, 4


class SnapshotBlindly(Duties):
    """Takes a snapshot of the memory pool after each checkpoint, and does not ask whether its kernels let it be atomic."""

    def __init__(self) -> None:
        super().__init__(_Snapshot())


class WrongVault(Duties, ABC):
    """A vault a node. It keeps what it has done in nobody's sight, and forgets it when it is killed."""

    async def keep(self, panel: Panel, stores: Stores, node: str) -> None:
        """Make every step durable that ranks of the node save, until cancelled."""
        done: list[Path] = []
        while True:
            job = stores.find_shared(node) / name_job(panel)
            for step in [step for step in sorted(job.glob("step-*")) if step not in done]:
                if len(_list_parts(step)) == _count_ranks(panel, node):
                    await self.copy(panel, stores, step)
                    done.append(step)
            await asyncio.sleep(LOOK_S)

    @abstractmethod
    async def copy(self, panel: Panel, stores: Stores, step: Path) -> None:
        """Copy a step out of shared memory."""


class CopyInPlace(WrongVault):
    """A vault that makes room first, and then writes under the final names, the manifest before what it vouches for."""

    async def copy(self, panel: Panel, stores: Stores, step: Path) -> None:
        """See `WrongVault.copy`."""
        home = stores.durable / step.parent.name
        for old in home.glob("step-*"):
            if old.name < step.name:
                shutil.rmtree(old)
        _vouch(panel, home / step.name)
        for part in _list_parts(step):
            await _copy_slowly(part, home / step.name / part.name)


class CopyOnce(WrongVault):
    """A vault that copies well, but a step that does not fit is given up for good."""

    async def copy(self, panel: Panel, stores: Stores, step: Path) -> None:
        """See `WrongVault.copy`."""
        home = stores.durable / step.parent.name / step.name
        for part in _list_parts(step):
            if stores.is_full():
                return
            await _copy_slowly(part, home / part.name)
        _vouch(panel, home)


class NoVault(WrongVault):
    """Does all that a careful one does, and leaves checkpoints in the memory in which they were saved."""

    def __init__(self) -> None:
        super().__init__(KeepArmed(), SaveInTime(), KeepCool(), ReplaceSilent())

    async def copy(self, panel: Panel, stores: Stores, step: Path) -> None:
        """See `WrongVault.copy`: nothing is copied."""


class _Snapshot:
    def __init__(self) -> None:
        self._done, self._synced = 0.0, False

    def act(self, panel: Panel) -> None:
        """See `Duty.act`."""
        step = number(panel, f"job/{name_job(panel)}", "job.committed_step") or 0.0
        if step <= self._done or panel.sense("pool", "pool.doing") != "none":
            return
        if not self._synced:
            self._synced = attempt(panel, SyncPool())
        elif attempt(panel, Snapshot(f"blind_{step:.0f}", atomic=True)):
            self._done, self._synced = step, False


def _count_ranks(panel: Panel, node: str) -> int:
    job = f"job/{name_job(panel)}"
    world = int(number(panel, job, "job.world_size") or 0)
    return sum(str(panel.sense(f"{job}/rank{rank}", "rank.card")).startswith(f"{node}/") for rank in range(world))


def _vouch(panel: Panel, home: Path) -> None:
    """The manifest, by whoever comes first."""
    home.mkdir(parents=True, exist_ok=True)
    world = int(number(panel, f"job/{name_job(panel)}", "job.world_size") or 0)
    (home / "whole.json").write_text(json.dumps({"world": world}), encoding="utf-8")


async def _copy_slowly(part: Path, home: Path) -> None:
    for write in _list_writes(part, home):
        write()
        await asyncio.sleep(SLICE_S)


def _list_parts(step: Path) -> list[Path]:
    return sorted(step.glob("rank-?????"))


def _list_writes(part: Path, home: Path) -> Iterator[Callable[[], object]]:
    """Slice by slice into the final name."""
    home.mkdir(parents=True, exist_ok=True)
    for file in sorted(part.iterdir()):
        data = file.read_bytes()
        size = max(1, -(-len(data) // SLICES))
        with (home / file.name).open("wb", buffering=0) as target:
            yield from (partial(target.write, data[begin : begin + size]) for begin in range(0, len(data), size))

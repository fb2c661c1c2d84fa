"""Faults of where checkpoints lie: the storage that all nodes share, and the process that looks after it on each."""

from __future__ import annotations

from typing import Any

from sim_hardware.faults.kind import Kind, Nothing
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import ReadingError
from sim_hardware.faults.software import VIRTUAL, does, sees
from sim_hardware.plant.words import OrderError
from sim_hardware.rig import Stores

_VAULT = "/vault"


def name_vault(node: str) -> str:
    """The vault's process on a node."""
    return f"{node}{_VAULT}"


def read_vault(name: str) -> str:
    """The node of a vault's process; empty for any other."""
    return name.removesuffix(_VAULT) if name.endswith(_VAULT) else ""


def _fill(place: Place, *, full: bool) -> None:
    stores = place.rig.stores
    if stores is None:
        raise OrderError(
            f"{place.target}: checkpoints are no files here; take a rack with `vault = true` in its [sim.job], in virtual time"
        )
    stores.fill(full=full)


async def _see_full(place: Place, _: Nothing) -> bool:
    stores: Stores | None = place.rig.stores
    if stores is None:
        raise ReadingError(f"{place.target}: checkpoints are no files here")
    return stores.is_full()


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="storage.full",
        text="Others take all room on the storage of checkpoints, and a write fails with ENOSPC; ended, the room is there again.",
        parameters=Nothing,
        targets=("storage",),
        inject=lambda place, _: _fill(place, full=True),
        lift=lambda place, _: _fill(place, full=False),
        probe=_see_full,
        takes_out=False,
        danger="os",
        layers=VIRTUAL,
    ),
    Kind(
        kind="vault.killed",
        text="The vault of a node is killed between two of its operations, as by SIGKILL; ended, it is started anew.",
        parameters=Nothing,
        targets=("node",),
        inject=does(lambda software, node: software.kill(name_vault(node))),
        lift=does(lambda software, node: software.start(name_vault(node))),
        probe=sees(lambda software, node: not software.runs(name_vault(node))),
        takes_out=False,
        danger="os",
        layers=VIRTUAL,
    ),
)

"""The tiers of a simulated site: a folder that is each node's shared memory, and one that is the storage of all."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from sim_hardware.drives.vaults.files import Volume
from sim_hardware.drives.vaults.truth import (
    FILE,
    RECORD,
    count_drafts,
    count_unfinished,
    find_durable,
    find_published,
    find_shared,
    make_content,
    place_step,
    read_state,
)
from sim_hardware.plant.job.orders import NoteStored
from sim_hardware.plant.words import Happening
from sim_hardware.world import World
from supernoded.job.vault.catalogue import Tier
from supernoded.job.vault.choosing import Choice
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.names import DURABLE, MARKER, SHARED
from supernoded.job.vault.restoring import choose_step

CAPACITY = 4_000_000  # bytes of the storage: room for many steps
LOOK_S = 0.25  # between two looks at the files
DARK = frozenset({"node.power_lost", "node.off"})  # happenings by which a node forgets


class Stores:
    """See `sim_hardware.rig.Stores`. Ranks write what they have saved as soon as the plant's job has committed it."""

    def __init__(self, world: World, root: Path, job: str, wall: Callable[[], float]) -> None:
        self._world, self._root, self._job, self._wall = world, root, job, wall
        self._run = 0  # starts of the job
        self.durable = root / DURABLE
        self.volume = Volume(self.durable, CAPACITY)
        for folder in (self.durable, *(self.find_shared(node.name) for node in world.rack.nodes)):
            folder.mkdir(parents=True)
        (self.durable / MARKER).touch()
        world.watches.append(self._note)

    def find_shared(self, node: str) -> Path:
        """See `sim_hardware.rig.Stores`."""
        return self._root / node

    def choose(self) -> tuple[int, str]:
        """See `sim_hardware.rig.Stores`: each node for its own ranks, by the real vault's rules, and the least that all of them can."""
        placed = self._list_placed()
        step = min((self._choose(node, own).step or 0 for node, own in placed.items()), default=0)
        taken = [self._choose(node, own, step) for node, own in placed.items()] if step else []
        tiers = {held.tier for choice in taken for held in choice.parts.values()}
        return step if all(choice.step == step for choice in taken) else 0, SHARED if tiers == {SHARED} else DURABLE

    def fill(self, *, full: bool) -> None:
        """See `sim_hardware.rig.Stores`."""
        self.volume.others = self.volume.capacity if full else 0

    def is_full(self) -> bool:
        """See `sim_hardware.rig.Stores`."""
        return not self.volume.find_room()

    def forget(self, node: str) -> None:
        """The node's memory is gone."""
        for entry in self.find_shared(node).iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    async def watch(self) -> None:
        """Tell the plant what lies on the tiers, until cancelled."""
        tiers = [self.find_shared(node.name) for node in self._world.rack.nodes]
        before: object = None
        while True:
            state = read_state([*tiers, self.durable])
            if state != before:
                before = state
                world = sum(len(ranks) for ranks in self._list_placed().values())
                self._world.order(self._measure(tiers, world))
            await asyncio.sleep(LOOK_S)

    def _measure(self, tiers: Sequence[Path], world: int) -> NoteStored:
        root, job = self.durable, self._job
        return NoteStored(
            job,
            shared=find_shared(tiers, job, world),
            durable=find_durable(root, job),
            unfinished=count_unfinished(root, job),
            drafts=count_drafts(root, job),
            published=find_published(root),
        )

    def _list_placed(self) -> dict[str, frozenset[int]]:
        """By node, the ranks that run there."""
        placed: dict[str, set[int]] = {}
        world = self._world.truth(f"job/{self._job}", "job.world_size")
        for rank in range(int(world) if isinstance(world, int | float) else 0):
            card = str(self._world.truth(f"job/{self._job}/rank{rank}", "rank.card"))
            placed.setdefault(card.partition("/")[0], set()).add(rank)
        return {node: frozenset(ranks) for node, ranks in placed.items()}

    def _choose(self, node: str, ranks: frozenset[int], step: int | None = None) -> Choice:
        shared = Tier(name=SHARED, root=self.find_shared(node), committed=False)
        durable = Tier(name=DURABLE, root=self.durable, committed=True)
        return choose_step(SystemFiles(), [shared, durable], self._job, step, ranks)

    def _note(self, happening: Happening) -> None:
        if happening.kind in DARK and happening.subject in {node.name for node in self._world.rack.nodes}:
            self.forget(happening.subject)
        elif happening.kind == "job.resumed":
            self._run += 1
        elif happening.kind == "checkpoint.committed":
            placed = self._list_placed()
            world = sum(len(ranks) for ranks in placed.values())
            for node, ranks in placed.items():
                for rank in sorted(ranks):
                    self._save(node, rank, world, int(happening.value or 0))

    def _save(self, node: str, rank: int, world: int, step: int) -> None:
        """As the client does: a draft, and one rename."""
        home = place_step(self.find_shared(node), self._job, step) / f"rank-{rank:05d}"
        draft = home.with_name(f"{home.name}.tmp")
        draft.mkdir(parents=True)
        content = make_content(rank, step)
        (draft / FILE).write_bytes(content)
        record = {"rank": rank, "world": world, "step": step, "taken": self._wall(), "run": f"run{self._run}", "node": node}
        (draft / RECORD).write_text(json.dumps({**record, "files": {FILE: len(content)}}), encoding="utf-8")
        if home.exists():
            shutil.rmtree(home)
        draft.rename(home)

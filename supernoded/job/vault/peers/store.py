"""The folder in this node's memory for the parts of peers: bounded, and of each job the newest step that is there and what is newer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from supernoded.clock import Clock
from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held, Tier, list_jobs, read_catalogue, read_part
from supernoded.job.vault.clearing import clear_drafts, remove_step
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, check_space
from supernoded.job.vault.names import PEER_MARKER, name_step, place_part
from supernoded.job.vault.records import Saved
from supernoded.job.vault.retention import InMemory, make_room

SHARE = 0.1  # of the file system that the folder may take, where the settings do not say (ours)
KEPT = 1  # steps of a job that stay while a newer one comes (ours: the peer's own memory still has two)
Key = tuple[str, int, int]  # job, step, rank


class Store:
    """The folder. `limit` = bytes, 0 = a tenth of its file system."""

    def __init__(self, files: Files, tier: Tier, pen: Pen, limit: int, forget_s: float, clock: Clock) -> None:
        self._files, self.tier, self.pen, self._clock = files, tier, pen, clock
        self._limit, self._forget_s = limit, forget_s
        self._coming: dict[Key, int] = {}  # bytes of what is on its way

    def open(self) -> None:
        """Make it, and clear up what an earlier life left. Raises OSError."""
        open_folder(self._files, self.tier.root)
        for job in list_jobs(self._files, self.tier.root):
            clear_drafts(self._files, self.tier.root / job, self.pen)

    def has(self, job: str, saved: Saved) -> bool:
        """Whether this very part is there."""
        there = read_part(self._files, self.tier, job, saved.step, saved.rank)
        return not there.fault and there.saved == saved

    def find(self, job: str) -> list[Held]:
        """Good parts of a job, the newest first."""
        parts = read_catalogue(self._files, self.tier, job).parts
        return sorted((one for one in parts if one.saved is not None and not one.fault), key=lambda one: (-one.step, one.rank))

    def clear(self) -> int:
        """Remove what newer steps have left behind, and jobs that have not saved for long; the bytes of the rest. Raises OSError."""
        room = make_room([one for job in list_jobs(self._files, self.tier.root) for one in self._weigh(job)], 0, KEPT)
        arriving = {(job, step) for job, step, _ in self._coming}
        for job, step in [one for one in room.go if one not in arriving]:
            remove_step(self._files, self.tier.root / job, step, self.pen)
        return room.used

    @contextmanager
    def expect(self, job: str, saved: Saved) -> Iterator[Path]:
        """The folder that a part is to have. Raises VaultError when there is no room, or it is on its way already; OSError."""
        key = job, saved.step, saved.rank
        if key in self._coming:
            raise VaultError(f"rank {saved.rank} of step {saved.step} is on its way already")
        used, limit = self.clear(), self._find_limit()
        coming = sum(self._coming.values())
        if used + coming + saved.size > limit:
            taken = f"{used + coming} of {limit} bytes are taken, and {saved.size} are to come"
            raise VaultError(f"{self.tier.root} is full there: {taken}; raise vault.peer.most_mb of that node")
        missing = check_space(self._files, self.tier.root, coming + saved.size, 0)
        if missing:
            raise VaultError(missing)
        self._coming[key] = saved.size
        try:
            yield prepare(self._files, self.tier, job, saved)
        finally:
            del self._coming[key]

    def _weigh(self, job: str) -> Iterator[InMemory]:
        parts = self.find(job)
        last = max((one.saved.taken for one in parts if one.saved is not None), default=0.0)
        steps = {one.step for one in parts}
        arrived = min((self._files.find_age(self.tier.root / job / name_step(step)) for step in steps), default=0.0)
        idle = min(self._clock.wall() - last, arrived) > self._forget_s and not any(key[0] == job for key in self._coming)
        for step in steps:
            ranks = sum(1 for one in parts if one.step == step)
            size = self._files.measure(self.tier.root / job / name_step(step))
            yield InMemory(job=job, step=step, ranks=ranks, size=size, safe=True, idle=idle)

    def _find_limit(self) -> int:
        return self._limit or int(SHARE * self._files.find_space(self.tier.root)[1])


def open_folder(files: Files, root: Path) -> None:
    """Make the folder with the marker by which a client knows it. Raises OSError."""
    root.mkdir(mode=0o770, parents=True, exist_ok=True)
    if not files.is_there(root / PEER_MARKER):
        files.write_record(root / PEER_MARKER, b"Parts of other nodes' ranks, in this node's memory, by supernoded-vault.\n")


def prepare(files: Files, tier: Tier, job: str, saved: Saved) -> Path:
    """The folder that a part is to have; the one around it is there then. Raises OSError."""
    target = place_part(tier.root, job, saved.step, saved.rank)
    files.make_folder(target.parent.parent)
    files.make_folder(target.parent)
    return target

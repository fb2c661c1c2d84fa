"""A job's parts go from shared memory to the durable tier, the newest first; steps become whole, old ones go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from supernoded.clock import Clock
from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held, Tier, list_steps, read_part, read_whole
from supernoded.job.vault.clearing import clear_drafts, remove_step
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, check_space, flush_part, seal
from supernoded.job.vault.manifests import add_part, complete_step
from supernoded.job.vault.names import MARKER, SUMS_FILE, WHOLE_FILE, name_step, place_part
from supernoded.job.vault.records import Saved, Whole, find_digest
from supernoded.job.vault.retention import is_superseded, list_removable
from supernoded.job.vault.verifying import verify_part

Key = tuple[str, int, int, float]  # job, step, rank, taken


class Storing:
    """The durable tier as one vault works on it. What it has done it remembers, so that an idle round costs the storage one look."""

    def __init__(self, files: Files, shared: Path, tier: Tier, pen: Pen, keep: int, keep_every: int, clock: Clock) -> None:
        self._files, self._shared, self._tier, self._pen = files, shared, tier, pen
        self._keep, self._keep_every, self._clock = keep, keep_every, clock
        self._done: set[Key] = set()
        self._wholes: dict[str, dict[int, Whole]] = {}
        self.packed: tuple[int, int] = (0, 0)  # bytes before and after packing, so far

    def check(self) -> str:
        """Why the tier cannot be used; empty when it can. An unmounted folder has no marker, and is not filled."""
        if self._files.is_there(self._tier.root / MARKER):
            return ""
        remedy = f"it is not mounted, or was never given to the vault (supernoded-vault init {self._tier.root})"
        return f"{self._tier.root} has no {MARKER}: {remedy}"

    def is_safe(self, job: str, step: int) -> bool:
        """Whether a step may leave shared memory as far as this tier is concerned."""
        wholes = self._wholes.get(job, {})
        if step in wholes:
            return self._files.is_there(self._tier.root / job / name_step(step) / WHOLE_FILE)
        return is_superseded(step, wholes, self._keep, self._keep_every)

    def serve(self, job: str, parts: Sequence[Held]) -> tuple[list[Whole], list[str]]:
        """One round for a job: the steps that are newly whole, and what is wrong with parts. Raises OSError when the tier is in trouble."""
        wanted = sorted((one for one in parts if one.saved is not None), key=lambda one: (-one.step, one.rank))
        if all(one.step in self._wholes.get(job, {}) and self._is_done(job, one) for one in wanted):
            return [], []
        self._open_job(job)
        fresh = self._look(job)
        faults = [fault for held in wanted if (fault := self._try_part(job, held))]
        fresh += self._complete(job, wanted)
        if fresh:
            self._clear(job)
        return fresh, faults

    def _open_job(self, job: str) -> None:
        """The job's folder; made only on a tier that has just shown its marker."""
        folder = self._tier.root / job
        if not self._files.is_there(folder) and not self.check() and self._files.make_folder(folder):
            self._files.sync_folder(self._tier.root)
        if job not in self._wholes:
            clear_drafts(self._files, folder, self._pen)

    def _look(self, job: str) -> list[Whole]:
        """Steps that have become whole, here or by another vault; those that went are forgotten."""
        known = self._wholes.get(job, {})
        found: dict[int, Whole] = {}
        for step in list_steps(self._files, self._tier.root / job):
            whole = known.get(step) or self._read_whole(job, step)
            if whole is not None:
                found[step] = whole
        self._wholes[job] = found
        return [whole for step, whole in found.items() if step not in known]

    def _read_whole(self, job: str, step: int) -> Whole | None:
        """A damaged manifest is none: it is written anew as soon as the parts are there."""
        try:
            return read_whole(self._files, self._tier, job, step)
        except VaultError:
            return None

    def _try_part(self, job: str, held: Held) -> str:
        """What is wrong with the part; empty when it is durable or has become so. Trouble of the tier is raised as OSError."""
        try:
            self._store(job, held)
        except VaultError as error:
            return str(error)
        except OSError as error:
            if error.filename is not None and Path(str(error.filename)).is_relative_to(self._shared):
                return f"{error.filename}: {error.strerror}"
            raise
        return ""

    def _store(self, job: str, held: Held) -> None:
        saved, wholes = held.saved, self._wholes[job]
        if saved is None or self._is_done(job, held):
            return
        if is_superseded(held.step, wholes, self._keep, self._keep_every):
            self._check_order(job, held.step, saved)
            return
        key = (job, held.step, held.rank, saved.taken)
        if held.step in wholes:
            if not self._doubt(job, held):
                self._done.add(key)
                return
            wholes.pop(held.step, None)
        if not self._has(job, held, saved):
            self._flush(job, held, saved)
        add_part(self._files, self._tier, job, held.step, held.rank, self._pen)
        self._distrust(job, held)
        self._done.add(key)

    def _is_done(self, job: str, held: Held) -> bool:
        """Whether this very part, or a later one of a step that was whole with it, is durable."""
        whole = self._wholes.get(job, {}).get(held.step)
        if held.saved is None or (job, held.step, held.rank, held.saved.taken) in self._done:
            return True
        return whole is not None and held.saved.taken <= whole.taken

    def _check_order(self, job: str, step: int, saved: Saved) -> None:
        """A step that newer ones have left behind is done with, unless it was saved after them. Raises VaultError."""
        newest = max(self._wholes[job])
        if saved.taken > self._wholes[job][newest].taken:
            remedy = f"give the job another name, or remove {self._tier.root / job}"
            raise VaultError(f"step {step} of {job} was saved after step {newest}, which is durable, and is not copied: {remedy}")

    def _doubt(self, job: str, held: Held) -> bool:
        """A job that comes back to a step which was whole may have found it damaged. Whether it is; its manifest then goes."""
        there = read_part(self._files, self._tier, job, held.step, held.rank)
        if not verify_part(self._files, there):
            return False
        self._files.remove(self._tier.root / job / name_step(held.step) / WHOLE_FILE)
        return True

    def _has(self, job: str, held: Held, saved: Saved) -> bool:
        """Whether the tier has this very part: it was read back before it got its name."""
        if not self._files.is_there(place_part(self._tier.root, job, held.step, held.rank)):
            return False
        there = read_part(self._files, self._tier, job, held.step, held.rank)
        return not there.fault and there.saved == saved

    def _flush(self, job: str, held: Held, saved: Saved) -> None:
        missing = check_space(self._files, self._tier.root, saved.size, self._pen.headroom)
        if missing:
            raise OSError(28, missing)  # ENOSPC
        target = place_part(self._tier.root, job, held.step, held.rank)
        if self._files.make_folder(target.parent):
            self._files.sync_folder(target.parent.parent)
        sums = flush_part(self._files, held, target, self._pen)
        stored = sum(sums.expect_stored(name)[0] for name in sums.files)
        self.packed = (self.packed[0] + saved.size, self.packed[1] + stored)
        seal(self._files, held, sums, self._pen)

    def _distrust(self, job: str, held: Held) -> None:
        """A part that has just been replaced makes a manifest void that another vault wrote about the old one meanwhile."""
        whole = self._read_whole(job, held.step)
        sums = place_part(self._tier.root, job, held.step, held.rank) / SUMS_FILE
        if whole is not None and whole.parts.get(held.rank) != find_digest(self._files.read_record(sums)):
            self._files.remove(self._tier.root / job / name_step(held.step) / WHOLE_FILE)

    def _complete(self, job: str, parts: Sequence[Held]) -> list[Whole]:
        fresh: list[Whole] = []
        worlds = {one.step: one.saved.world for one in parts if one.saved is not None and one.step not in self._wholes[job]}
        for step, world in worlds.items():
            whole = complete_step(self._files, self._tier, job, step, world, self._pen, self._clock.wall())
            if whole is not None:
                self._wholes[job][step] = whole
                fresh.append(whole)
        return fresh

    def _clear(self, job: str) -> None:
        folder, wholes = self._tier.root / job, self._wholes[job]
        for step in list_removable(list_steps(self._files, folder), wholes, self._keep, self._keep_every):
            remove_step(self._files, folder, step, self._pen)
            wholes.pop(step, None)
        oldest = min(wholes, default=0)
        self._done = {key for key in self._done if key[0] != job or key[1] >= oldest}


def describe_tier(tier: Tier, error: OSError) -> str:
    """The trouble of a tier in one sentence."""
    words = error.strerror or str(error)
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{tier.root}: {where}{words}; the copy in shared memory stays, and this is tried again"

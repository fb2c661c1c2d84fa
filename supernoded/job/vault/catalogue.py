"""What lies in a tier: every part of a job, with what is wrong with it. Garbage is named and passed over, never an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from supernoded.errors import VaultError
from supernoded.job.vault.files import Files
from supernoded.job.vault.names import (
    RANK_FILE,
    SUMS_FILE,
    WHOLE_FILE,
    is_job,
    name_step,
    place_part,
    read_rank,
    read_step,
)
from supernoded.job.vault.records import Saved, Sums, Whole, decode_saved, decode_sums, decode_whole, find_digest


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """A place for checkpoints. On a committed one parts count only once a manifest says that their step is whole."""

    name: str  # shared, durable
    root: Path
    committed: bool


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """One rank's part in a tier. `fault` says why it does not count; its files have not been hashed to know that."""

    tier: str
    step: int
    rank: int
    folder: Path
    saved: Saved | None = None
    sums: Sums | None = None  # absent on shared memory until the vault has been there
    fault: str = ""


@dataclass
class Catalogue:
    """A job in a tier: its parts, its whole steps, and what was found beside."""

    parts: list[Held] = field(default_factory=list)
    wholes: dict[int, Whole] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def list_jobs(files: Files, root: Path) -> list[str]:
    """The jobs of a tier, by name."""
    return [name for name in files.list_names(root) if is_job(name) and files.is_folder(root / name)]


def list_steps(files: Files, folder: Path) -> list[int]:
    """The steps in a job's folder, the newest first."""
    return sorted((step for name in files.list_names(folder) if (step := read_step(name)) is not None), reverse=True)


def list_ranks(files: Files, folder: Path) -> list[int]:
    """The ranks in a step's folder."""
    return [rank for name in files.list_names(folder) if (rank := read_rank(name)) is not None]


def read_catalogue(files: Files, tier: Tier, job: str, steps: list[int] | None = None) -> Catalogue:
    """Everything of a job that a tier holds, or of some of its steps. Raises OSError when the tier cannot be read."""
    found = Catalogue()
    for step in list_steps(files, tier.root / job) if steps is None else steps:
        whole = _read_whole(files, tier, job, step, found) if tier.committed else None
        for rank in list_ranks(files, tier.root / job / name_step(step)):
            held = read_part(files, tier, job, step, rank)
            found.parts.append(_commit(held, whole, files) if tier.committed and not held.fault else held)
    return found


def read_whole(files: Files, tier: Tier, job: str, step: int) -> Whole | None:
    """The manifest of a step; None when it has none yet. Raises VaultError when it is damaged."""
    path = tier.root / job / name_step(step) / WHOLE_FILE
    if not files.is_there(path):
        return None
    try:
        return decode_whole(files.read_record(path), step)
    except FileNotFoundError:
        return None
    except VaultError as error:
        raise VaultError(f"{path} {error}") from error


def read_part(files: Files, tier: Tier, job: str, step: int, rank: int) -> Held:
    """One part with its records."""
    folder = place_part(tier.root, job, step, rank)
    held = Held(tier=tier.name, step=step, rank=rank, folder=folder)
    record = RANK_FILE
    try:
        saved = decode_saved(files.read_record(folder / RANK_FILE), step, rank)
        record = SUMS_FILE
        sums = None
        if tier.committed or files.is_there(folder / SUMS_FILE):
            sums = decode_sums(files.read_record(folder / SUMS_FILE), saved)
    except (VaultError, OSError) as error:
        text = (
            str(error) if isinstance(error, VaultError) else "is not there" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
        )
        return msgspec.structs.replace(held, fault=f"{folder / record} {text}")
    return msgspec.structs.replace(held, saved=saved, sums=sums)


def _read_whole(files: Files, tier: Tier, job: str, step: int, found: Catalogue) -> Whole | None:
    try:
        whole = read_whole(files, tier, job, step)
    except VaultError as error:
        found.faults.append(str(error))
        return None
    if whole is not None:
        found.wholes[step] = whole
    return whole


def _commit(held: Held, whole: Whole | None, files: Files) -> Held:
    """The part as the manifest of its step sees it."""
    if whole is None:
        return msgspec.structs.replace(held, fault=f"step {held.step} has no whole manifest on the tier {held.tier}")
    try:
        digest = find_digest(files.read_record(held.folder / SUMS_FILE))
    except FileNotFoundError:
        digest = ""
    if whole.parts.get(held.rank) != digest:
        return msgspec.structs.replace(held, fault=f"{held.folder} is not the part that the step's manifest names")
    return held

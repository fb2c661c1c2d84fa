"""Reading tiers by hand: what is there, whether it holds, and a step brought back, unpacked and hashed once more."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Catalogue, Held, Tier, read_catalogue
from supernoded.job.vault.choosing import Choice, choose
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import remove_quietly
from supernoded.job.vault.names import MARKER, RANK_FILE, name_draft, name_rank, name_step
from supernoded.job.vault.records import encode
from supernoded.job.vault.verifying import compare, verify_part


def gather(files: Files, tiers: Sequence[Tier], job: str) -> tuple[list[tuple[Tier, Catalogue]], list[str]]:
    """What each tier has of a job, and a sentence for each that cannot be read."""
    found: list[tuple[Tier, Catalogue]] = []
    passed: list[str] = []
    for tier in tiers:
        try:
            if tier.committed and not files.is_there(tier.root / MARKER):
                passed.append(f"the tier {tier.name} is passed over: {tier.root} has no {MARKER}, it is not mounted")
                continue
            found.append((tier, read_catalogue(files, tier, job)))
        except (OSError, VaultError) as error:
            passed.append(f"the tier {tier.name} is passed over: {tier.root} cannot be read: {error}")
    return found, passed


def choose_step(files: Files, tiers: Sequence[Tier], job: str, step: int | None = None, ranks: frozenset[int] | None = None) -> Choice:
    """The step that a restart takes now, every hash checked."""
    found, passed = gather(files, tiers, job)
    held = [one for _, catalogue in found for one in catalogue.parts]
    faults = [fault for _, catalogue in found for fault in catalogue.faults]
    names = [tier.name for tier in tiers]
    choice = choose(held, names, lambda one: verify_part(files, one), step=step, ranks=ranks)
    return Choice(step=choice.step, parts=choice.parts, passed=[*passed, *faults, *choice.passed])


def restore(files: Files, choice: Choice, to: Path) -> list[Path]:
    """Bring the parts into the folder `to`; what is there already is not touched. Raises VaultError, OSError."""
    made: list[Path] = []
    to.mkdir(parents=True, exist_ok=True)
    for rank, held in sorted(choice.parts.items()):
        target = to / name_rank(rank)
        if files.is_there(target):
            raise VaultError(f"{target} is there already; restore into another folder, or remove it")
        draft = to / name_draft(target.name, "restore", os.getpid())
        unpack_part(files, held, draft)
        files.rename(draft, target)
        files.sync_folder(to)
        made.append(target)
    return made


def list_steps(files: Files, tiers: Sequence[Tier], job: str) -> Iterator[str]:
    """A line for each step in each tier, the newest first."""
    found, passed = gather(files, tiers, job)
    for tier, catalogue in found:
        for step in sorted({one.step for one in catalogue.parts}, reverse=True):
            parts = [one for one in catalogue.parts if one.step == step]
            good = [one.saved for one in parts if one.saved is not None and not one.fault]
            world = max((saved.world for saved in good), default=0)
            size = sum(saved.size for saved in good)
            state = "whole" if good and len(good) == world else "not whole"
            yield f"{tier.name:8s} {name_step(step)}  {len(good)} of {world or '?'} parts  {size} bytes  {state}"
            yield from (f"         {one.fault}" for one in parts if one.fault)
        yield from catalogue.faults
    yield from passed


def verify_job(files: Files, tiers: Sequence[Tier], job: str) -> tuple[int, list[str]]:
    """How many parts hold, and a sentence for each that does not."""
    found, wrong = gather(files, tiers, job)
    good = 0
    for _, catalogue in found:
        wrong += catalogue.faults
        for held in catalogue.parts:
            fault = verify_part(files, held)
            good += not fault
            wrong += [fault] if fault else []
    return good, wrong


def unpack_part(files: Files, held: Held, draft: Path) -> None:
    """Copy a part into a new folder, unpacked and hashed; nothing is left of it when that fails. Raises VaultError, OSError."""
    files.remove(draft)
    files.make_folder(draft)
    try:
        _bring(files, held, draft)
    except (OSError, VaultError):
        remove_quietly(files, draft)
        raise


def _bring(files: Files, held: Held, draft: Path) -> None:
    if held.saved is None:
        raise VaultError(f"{held.folder} has no record")
    for name in held.saved.files:
        sums = held.sums
        stored = sums.name_stored(name) if sums is not None else name
        found = files.unpack(held.folder / stored, draft / name, sums is not None and sums.pack == "zstd")
        fault = compare(sums, name, found) if sums is not None else ""
        if fault:
            raise VaultError(f"{held.folder / stored} {fault}")
    files.write_record(draft / RANK_FILE, encode(held.saved))
    files.sync_folder(draft)

"""What `supernoded-vault` does beside running. Each gives its lines and its exit code: 0 well, 1 not."""

from __future__ import annotations

import os
import time
from pathlib import Path

from supernoded.errors import SettingsError, VaultError
from supernoded.job.vault import dsm
from supernoded.job.vault.building import MB, list_tiers
from supernoded.job.vault.catalogue import list_jobs
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.interval import find_interval
from supernoded.job.vault.names import MARKER, is_job
from supernoded.job.vault.restoring import choose_step, list_steps, restore, verify_job
from supernoded.job.vault.status import read_status, show_status
from supernoded.settings import Settings

Said = tuple[list[str], int]


def init(folder: Path) -> Said:
    """Give a mounted folder to the vault."""
    files = SystemFiles()
    if not folder.is_dir():
        raise VaultError(f"{folder} is no folder; mount the storage there first")
    if files.is_there(folder / MARKER):
        return [f"{folder} has been given to the vault before"], 0
    files.write_record(folder / MARKER, b"A durable tier of supernoded-vault. Without this file the folder counts as not mounted.\n")
    files.sync_folder(folder)
    return [f"{folder} is the vault's now"], 0


def status(settings: Settings) -> Said:
    """How the running vault is doing."""
    found = read_status(settings.vault.shared)
    return show_status(found, time.time()), 1 if found.troubles else 0


def show(settings: Settings, job: str) -> Said:
    """What each tier has; of all jobs when none is named."""
    files, tiers = SystemFiles(), list_tiers(settings)
    jobs = [_check_job(job)] if job else sorted({one for tier in tiers for one in list_jobs(files, tier.root)})
    lines = [f"{one}: {line}" for one in jobs for line in list_steps(files, tiers, one)]
    return lines or ["no checkpoint on any tier"], 0


def verify(settings: Settings, job: str) -> Said:
    """Hash everything of a job."""
    good, wrong = verify_job(SystemFiles(), list_tiers(settings), _check_job(job))
    return [*wrong, f"{good} parts hold, {len(wrong)} do not"], 1 if wrong or not good else 0


def bring(settings: Settings, job: str, step: int | None, to: Path) -> Said:
    """Restore the newest whole step, or the one that was asked for."""
    files = SystemFiles()
    choice = choose_step(files, list_tiers(settings), _check_job(job), step)
    if choice.step is None:
        return [*choice.passed, f"no whole step of {job} on any tier"], 1
    restore(files, choice, to)
    tiers = sorted({held.tier for held in choice.parts.values()})
    return [*choice.passed, f"step {choice.step} of {job}, {len(choice.parts)} parts from {' and '.join(tiers)}, is in {to}"], 0


def snapshot(settings: Settings, step: int) -> Said:
    """Take, verify and publish a snapshot of the memory pool."""
    root, now = settings.vault.durable, time.time()
    if root is None:
        raise SettingsError("vault.durable is not set: a snapshot is published there; name a folder on storage")
    taken = dsm.take_snapshot(dsm.run_tool, settings.vault.dsm, dsm.name_snapshot(step, now), step, now)
    pen = Pen(node=settings.node, pid=os.getpid(), level=None, headroom=settings.vault.headroom_mb * MB)
    path = dsm.publish(SystemFiles(), root, taken, pen)
    return [f"snapshot {taken.name} is whole, and published in {path}"], 0


def advise(settings: Settings, save_s: float, failures: int, hours: float) -> Said:
    """How often to save."""
    return [find_interval(save_s, failures, hours * 3600, settings.vault.interval).text], 0


def _check_job(job: str) -> str:
    if not is_job(job):
        raise VaultError(f"{job[:200]!r} is no name of a job: letters, digits and _.- are, at most 128")
    return job

"""What `supernoded-vault` does beside running. Each gives its lines and its exit code: 0 well, 1 not."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from supernoded.errors import SettingsError, VaultError
from supernoded.job.vault import dsm
from supernoded.job.vault.building import MB, list_tiers
from supernoded.job.vault.catalogue import list_jobs
from supernoded.job.vault.choosing import Choice
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.interval import find_interval
from supernoded.job.vault.names import MARKER, PEER, is_job
from supernoded.job.vault.peers.fetching import Fetcher
from supernoded.job.vault.pool import SystemPool
from supernoded.job.vault.restoring import choose_step, list_steps, restore, verify_job
from supernoded.job.vault.snapshots import describe_published
from supernoded.job.vault.status import read_status, show_status
from supernoded.settings import Settings, read_secret

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
    lines += [] if job else describe_published(files, settings.vault.durable)
    return lines or ["no checkpoint on any tier"], 0


def verify(settings: Settings, job: str) -> Said:
    """Hash everything of a job."""
    good, wrong = verify_job(SystemFiles(), list_tiers(settings), _check_job(job))
    return [*wrong, f"{good} parts hold, {len(wrong)} do not"], 1 if wrong or not good else 0


def bring(settings: Settings, job: str, step: int | None, to: Path) -> Said:
    """Restore the newest whole step, or the one that was asked for."""
    files, tiers = SystemFiles(), list_tiers(settings)
    choice = choose_step(files, tiers, _check_job(job), step)
    if settings.vault.peer.push and (step is None or choice.step is None):
        choice = asyncio.run(_ask_peers(settings, files, job, step, choice))
    if choice.step is None:
        snapshots = describe_published(files, settings.vault.durable)
        return [*choice.passed, *snapshots, f"no whole step of {job} on any tier"], 1
    restore(files, choice, to)
    names = sorted({held.tier for held in choice.parts.values()})
    return [*choice.passed, f"step {choice.step} of {job}, {len(choice.parts)} parts from {' and '.join(names)}, is in {to}"], 0


async def _ask_peers(settings: Settings, files: SystemFiles, job: str, step: int | None, choice: Choice) -> Choice:
    """What a restart takes when the peers help with a step that is newer than this node's own, or with the one that was asked for."""
    tiers, table = list_tiers(settings), settings.vault.peer
    if table.secret is None:
        return choice
    folder = next(tier for tier in tiers if tier.name == PEER)
    pen = Pen(node=settings.node, pid=os.getpid(), level=None, headroom=0)
    fetcher = Fetcher(files, tiers, folder, job, pen, read_secret(table.secret), settings.vault.hang_s)
    await fetcher.ask(table.push)
    newer = fetcher.list_steps(-1 if choice.step is None else choice.step)
    for number in newer if step is None else [step] if step in newer else []:
        await fetcher.fetch(number)
        better = choose_step(files, tiers, job, number)
        if better.step is not None:
            return Choice(step=number, parts=better.parts, passed=[*fetcher.passed, *better.passed])
    return Choice(step=choice.step, parts=choice.parts, passed=[*fetcher.passed, *choice.passed])


def snapshot(settings: Settings, step: int) -> Said:
    """Take, verify and publish a snapshot of the memory pool."""
    root, now = settings.vault.durable, time.time()
    if root is None:
        raise SettingsError("vault.durable is not set: a snapshot is published there; name a folder on storage")
    pool, files, table = SystemPool(), SystemFiles(), settings.vault.dsm
    pen = Pen(node=settings.node, pid=os.getpid(), level=None, headroom=settings.vault.headroom_mb * MB)

    async def take() -> Said:
        taken = await dsm.take_snapshot(pool, table, dsm.name_snapshot(step, now), step, now)
        path = dsm.publish(files, root, taken, pen)
        for old in dsm.withdraw_old(files, root, table.keep):
            await dsm.remove_snapshot(pool, table, old)
        return [f"snapshot {taken.name} is whole, and published in {path}"], 0

    return asyncio.run(take())


def advise(settings: Settings, save_s: float, failures: int, hours: float) -> Said:
    """How often to save."""
    return [find_interval(save_s, failures, hours * 3600, settings.vault.interval).text], 0


def _check_job(job: str) -> str:
    if not is_job(job):
        raise VaultError(f"{job[:200]!r} is no name of a job: letters, digits and _.- are, at most 128")
    return job

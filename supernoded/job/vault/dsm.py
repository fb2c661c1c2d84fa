"""Snapshots of the memory pool: bring the cards' memory in, take it atomically, verify it, and only then publish it (C9, C10, C11)."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from supernoded.errors import VaultError
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, put_record
from supernoded.job.vault.names import MARKER
from supernoded.job.vault.pool import Pool
from supernoded.job.vault.records import decode, encode
from supernoded.settings.vault import Dsm

FOLDER = "snapshots"
MOST_SHOWN = 300  # characters of a tool's words in an error
REMEDY = "switch the kernel parameter dsm_snapshot_atomic on"

_ON = frozenset({"1", "y", "yes", "on"})  # as the kernel's boolean parameters read

# The tool warns and goes on where the kernel's parameter is off: its snapshot is torn, and only its words say so (C9).
_NOT_ATOMIC = re.compile(
    r"dsm_snapshot_atomic\s*(?:is|=|:)?\s*(?:0|off|no|false|disabled)\b|--atomic\s+has\s+no\s+effect|\b(?:not|non)[\s-]+atomic",
    re.IGNORECASE,
)


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`snapshots/<name>.json`: published, so it is whole."""

    v: int
    name: str
    step: int
    taken: float
    verified: str  # the tool's words
    job: str = ""  # whose step it is; empty = taken by hand


def name_snapshot(step: int, at: float) -> str:
    """`ckpt_20310412T101500_step1200`. A day alone, as in the document, is one name for many."""
    return f"ckpt_{time.strftime('%Y%m%dT%H%M%S', time.gmtime(at))}_step{step}"


async def take_snapshot(pool: Pool, settings: Dsm, name: str, step: int, at: float) -> Snapshot:
    """All but the publishing. Raises VaultError that names the step of it that failed; no later one is then tried.

    What is not known counts as off: the kernel's parameter decides where it is shown, before and behind the taking, and else the tool
    has to say something of which nothing denies it; and nothing is verified without the words for it.
    """
    shown = _check_kernel(pool, settings, name)
    await _do(pool, "the sync of the cards' memory", settings.sync, name, settings.sync_s)
    taken = await _do(pool, "the snapshot", settings.take, name, settings.take_s)
    _check_kernel(pool, settings, name)
    refused = _NOT_ATOMIC.search(taken)
    if refused is not None:
        raise VaultError(f"the snapshot {name} is refused, it is not atomic: the tool says {refused[0]!r}; {REMEDY} (C9)")
    if not shown and not taken.strip():
        unknown = f"its tool says nothing, and there is no {settings.atomic}"
        raise VaultError(f"the snapshot {name} is refused, whether it is atomic is not known: {unknown} (C9)")
    verified = (await _do(pool, "the verification", settings.verify, name, settings.verify_s)).strip()
    if settings.verified.casefold() not in verified.casefold():
        said = " ".join(verified.split())[:MOST_SHOWN] or "nothing"
        wanted = f"and not {settings.verified!r} (vault.dsm.verified)"
        raise VaultError(f"the verification failed: {settings.verify[0]} said {said} {wanted}, so the snapshot {name} is not verified")
    return Snapshot(v=1, name=name, step=step, taken=at, verified=verified[:MOST_SHOWN])


def publish(files: Files, root: Path, snapshot: Snapshot, pen: Pen) -> Path:
    """Write its manifest on the durable tier. Raises VaultError, OSError."""
    if not files.is_there(root / MARKER):
        raise VaultError(f"the snapshot {snapshot.name} is whole and not published: {root} has no {MARKER}, it is not mounted")
    if files.make_folder(root / FOLDER):
        files.sync_folder(root)
    path = root / FOLDER / f"{snapshot.name}.json"
    put_record(files, path, encode(snapshot), pen)
    return path


def list_published(files: Files, root: Path) -> list[Snapshot]:
    """What is published, the newest first; a record that is none is passed over. Raises OSError."""
    found: list[Snapshot] = []
    for name in files.list_names(root / FOLDER):
        with contextlib.suppress(VaultError, FileNotFoundError):
            found.append(decode(Snapshot, files.read_record(root / FOLDER / name)))
    return sorted(found, key=lambda one: (one.taken, one.name), reverse=True)


def withdraw_old(files: Files, root: Path, keep: int) -> list[str]:
    """The names of all but the newest `keep`, whose manifests are gone first, so that nobody counts on them. Raises OSError."""
    old = [one.name for one in list_published(files, root)[keep:]]
    for name in old:
        files.remove(root / FOLDER / f"{name}.json")
    if old:
        files.sync_folder(root / FOLDER)
    return old


async def remove_snapshot(pool: Pool, settings: Dsm, name: str) -> None:
    """From the pool, where the settings say how. Raises VaultError that names it: nothing will try it again."""
    if settings.remove:
        await _do(pool, f"the removal of the old snapshot {name}", settings.remove, name, settings.sync_s)


def _check_kernel(pool: Pool, settings: Dsm, name: str) -> bool:
    """Whether the kernel shows that snapshots are atomic; False where it shows nothing of it. Raises VaultError when it shows otherwise."""
    try:
        text = pool.read_atomic(settings.atomic)
    except OSError as error:
        raise VaultError(f"the snapshot {name} is refused, {settings.atomic} cannot be read: {error.strerror} (C9)") from error
    if text is None:
        return False
    if text.strip().casefold() not in _ON:
        shown = " ".join(text.split())[:MOST_SHOWN]
        raise VaultError(f"the snapshot {name} is refused, it would not be atomic: {settings.atomic} is {shown!r}; {REMEDY} (C9)")
    return True


async def _do(pool: Pool, what: str, argv: Sequence[str], name: str, seconds: float) -> str:
    words = [word.replace("{name}", name) for word in argv]
    try:
        told = await pool.run(words, seconds)
    except VaultError as error:
        raise VaultError(f"{what} failed: {error}") from error
    if told.code != 0:
        text = " ".join(told.text.split())[:MOST_SHOWN] or "nothing"
        raise VaultError(f"{what} failed: {words[0]} ended with {told.code} and said {text}")
    return told.text

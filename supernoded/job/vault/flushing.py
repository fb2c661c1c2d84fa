"""One part becomes durable: a draft is written, synced, read back and renamed. Stopped anywhere, it leaves a draft and nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held
from supernoded.job.vault.files import Files
from supernoded.job.vault.names import RANK_FILE, SUMS_FILE, name_draft, name_rank
from supernoded.job.vault.records import Saved, Sum, Sums, decode_saved, encode
from supernoded.job.vault.verifying import verify_part


class Pen(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes and how. `level` is of zstd; None = plain."""

    node: str
    pid: int
    level: int | None
    headroom: int  # bytes that stay free on the tier


def check_space(files: Files, root: Path, needed: int, headroom: int) -> str:
    """Why so many bytes do not go there; empty when they do."""
    free, _ = files.find_space(root)
    missing = needed + headroom - free
    if missing <= 0:
        return ""
    return f"{root} has {free} bytes free and {needed} are needed beside a head-room of {headroom}: {missing} bytes are missing"


def flush_part(files: Files, held: Held, target: Path, pen: Pen) -> Sums:
    """Copy a part of shared memory into the folder `target` of a durable tier, whose parent is there.

    A part that is there already under this name is replaced: the caller knows that its step was not whole.
    Raises OSError for the storage and VaultError for what is wrong with the part itself.
    """
    saved = held.saved
    if saved is None:
        raise VaultError(held.fault or f"{held.folder} has no record")
    draft = target.parent / name_draft(name_rank(held.rank), pen.node, pen.pid)
    files.remove(draft)
    files.make_folder(draft)
    try:
        sums = _write_draft(files, held, saved, draft, pen)
        _check_source(files, held, saved)
        _check_draft(files, held, saved, sums, draft)
        put_folder(files, draft, target, pen)
    except (OSError, VaultError):
        remove_quietly(files, draft)
        raise
    return sums


def hash_part(files: Files, held: Held) -> Sums:
    """The hashes of a part where it lies. Raises VaultError when a size is not what its rank said."""
    saved = held.saved
    if saved is None:
        raise VaultError(held.fault or f"{held.folder} has no record")
    found = {name: files.hash_back(held.folder / name) for name in saved.files}
    sums = Sums(v=1, pack="none", files={name: Sum(size=size, sha256=digest) for name, (size, digest) in found.items()})
    _check_sizes(held, saved, sums)
    return sums


def seal(files: Files, held: Held, sums: Sums, pen: Pen) -> None:
    """Leave the hashes beside the part in shared memory, so that a restore from there is checked too. Raises OSError, VaultError.

    Should its rank have saved anew in this very moment, the hashes are of the part before, and are taken away again.
    """
    plain = Sums(v=1, pack="none", files={name: Sum(size=one.size, sha256=one.sha256) for name, one in sums.files.items()})
    if held.saved is None or held.sums == plain:
        return
    put_record(files, held.folder / SUMS_FILE, encode(plain), pen)
    try:
        _check_source(files, held, held.saved)
    except VaultError:
        files.remove(held.folder / SUMS_FILE)
        raise


def put_record(files: Files, path: Path, data: bytes, pen: Pen) -> None:
    """Write a record under its name at once; one that is there is replaced. Raises OSError."""
    draft = path.parent / name_draft(path.name, pen.node, pen.pid)
    files.remove(draft)
    files.write_record(draft, data)
    files.rename(draft, path)
    files.sync_folder(path.parent)


def put_folder(files: Files, draft: Path, target: Path, pen: Pen) -> None:
    """Give a draft its name; what had it goes first, aside and then away."""
    if files.is_there(target):
        aside = target.parent / name_draft(f"{target.name}.old", pen.node, pen.pid)
        files.remove(aside)
        files.rename(target, aside)
        files.remove(aside)
    files.rename(draft, target)
    files.sync_folder(target.parent)


def remove_quietly(files: Files, path: Path) -> None:
    """Remove a draft after a failure, which is the one to tell: a draft that stays is cleared up later."""
    try:
        files.remove(path)
    except OSError:
        return


def _write_draft(files: Files, held: Held, saved: Saved, draft: Path, pen: Pen) -> Sums:
    empty = Sums(v=1, pack="none" if pen.level is None else "zstd", files={})
    found = {name: files.copy(held.folder / name, draft / empty.name_stored(name), pen.level) for name in saved.files}
    sums = msgspec.structs.replace(empty, files=found)
    _check_sizes(held, saved, sums)
    files.write_record(draft / RANK_FILE, encode(saved))
    files.write_record(draft / SUMS_FILE, encode(sums))
    files.sync_folder(draft)
    return sums


def _check_sizes(held: Held, saved: Saved, sums: Sums) -> None:
    for name, size in saved.files.items():
        if sums.files[name].size != size:
            raise VaultError(f"{held.folder / name} has {sums.files[name].size} bytes, and its rank said {size}")


def _check_source(files: Files, held: Held, saved: Saved) -> None:
    """The part that was copied is still the one that was read about."""
    if decode_saved(files.read_record(held.folder / RANK_FILE), held.step, held.rank) != saved:
        raise VaultError(f"{held.folder} was saved anew while it was copied")


def _check_draft(files: Files, held: Held, saved: Saved, sums: Sums, draft: Path) -> None:
    """Read back what the storage has."""
    copied = Held(tier="draft", step=held.step, rank=held.rank, folder=draft, saved=saved, sums=sums)
    fault = verify_part(files, copied)
    if fault:
        raise OSError(5, f"what was written is not what the storage has: {fault}")

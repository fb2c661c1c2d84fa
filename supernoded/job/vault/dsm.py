"""Snapshots of the memory pool: bring the cards' memory in, take it atomically, verify it, and only then publish it (C9, C10, C11)."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from supernoded.errors import VaultError
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, put_record
from supernoded.job.vault.names import MARKER
from supernoded.job.vault.records import encode
from supernoded.settings.vault import Dsm

FOLDER = "snapshots"
MOST_SHOWN = 300  # characters of a tool's words in an error

# The tool warns and goes on where the kernel's parameter is off: its snapshot is torn, and only its words say so (C9).
_NOT_ATOMIC = re.compile(
    r"dsm_snapshot_atomic\s*(?:is|=|:)?\s*(?:0|off|no|false|disabled)\b|--atomic\s+has\s+no\s+effect|\b(?:not|non)[\s-]+atomic",
    re.IGNORECASE,
)


class Told(msgspec.Struct, frozen=True):
    """A tool's end: code, and all its words."""

    code: int
    text: str


Run = Callable[[Sequence[str], float], Told]  # argv, seconds; raises VaultError when it cannot be run or does not end


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`snapshots/<name>.json`: published, so it is whole."""

    v: int
    name: str
    step: int
    taken: float
    verified: str  # the tool's words


def name_snapshot(step: int, at: float) -> str:
    """`ckpt_20310412T101500_step1200`. A day alone, as in the document, is one name for many."""
    return f"ckpt_{time.strftime('%Y%m%dT%H%M%S', time.gmtime(at))}_step{step}"


def take_snapshot(run: Run, settings: Dsm, name: str, step: int, at: float) -> Snapshot:
    """All but the publishing. Raises VaultError that names the step of it that failed; no later one is then tried."""
    _do(run, "the sync of the cards' memory", settings.sync, name, settings.sync_s)
    taken = _do(run, "the snapshot", settings.take, name, settings.take_s)
    refused = _NOT_ATOMIC.search(taken)
    if refused is not None:
        remedy = "switch the kernel parameter dsm_snapshot_atomic on"
        raise VaultError(f"the snapshot {name} is refused, it is not atomic: the tool says {refused[0]!r}; {remedy} (C9)")
    verified = _do(run, "the verification", settings.verify, name, settings.verify_s)
    return Snapshot(v=1, name=name, step=step, taken=at, verified=verified.strip()[:MOST_SHOWN])


def publish(files: Files, root: Path, snapshot: Snapshot, pen: Pen) -> Path:
    """Write its manifest on the durable tier. Raises VaultError, OSError."""
    if not files.is_there(root / MARKER):
        raise VaultError(f"the snapshot {snapshot.name} is whole and not published: {root} has no {MARKER}, it is not mounted")
    if files.make_folder(root / FOLDER):
        files.sync_folder(root)
    path = root / FOLDER / f"{snapshot.name}.json"
    put_record(files, path, encode(snapshot), pen)
    return path


def run_tool(argv: Sequence[str], seconds: float) -> Told:
    """The real thing. Raises VaultError."""
    try:
        done = subprocess.run(  # noqa: S603 - the settings name it
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise VaultError(f"{argv[0]} did not end within {seconds:g} s and was ended") from error
    except OSError as error:
        raise VaultError(f"{argv[0]} cannot be run: {error.strerror}") from error
    return Told(done.returncode, done.stdout.decode(errors="replace"))


def _do(run: Run, what: str, argv: Sequence[str], name: str, seconds: float) -> str:
    words = [word.replace("{name}", name) for word in argv]
    try:
        told = run(words, seconds)
    except VaultError as error:
        raise VaultError(f"{what} failed: {error}") from error
    if told.code != 0:
        text = " ".join(told.text.split())[:MOST_SHOWN] or "nothing"
        raise VaultError(f"{what} failed: {words[0]} ended with {told.code} and said {text}")
    return told.text

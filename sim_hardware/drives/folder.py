"""The folder of a served rack: one rack at a time, and nothing in it that is somebody else's."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from sim_hardware.devices.tools.logs import LOGS
from supernoded.errors import SupernodedError

LOCK = ".supernode-sim"  # also says that the folder is one of ours
ENDPOINTS, CONTROL = "endpoints.json", "control.sock"
TREE, TOOLS, SOCKET = "sys", "bin", "tools.sock"  # of a node
BMC_LOGIN = "bmc-password"  # the file with what lets daemons into the BMCs
API_LOGIN = "kubernetes-token"  # and into the API server
KEYS = "keys"  # the folder of the nodes' keys and certificates
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
LONGEST = 107  # bytes of a socket's path; unix(7)


class ServeError(SupernodedError):
    """The rack cannot be served there."""


@contextmanager
def occupy(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Make the folder ours until the context is left, clear away what a run that died has left, and give its absolute path.

    `names` get a folder, or the path of a line, of their own there. Logs and daemons' own files (their journals) stay when it is left.
    Raises ServeError when another run has it, and when it is not one of ours.
    """
    folder = folder.absolute()
    _check_names(folder, names)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (folder / LOCK).exists() and any(folder.iterdir()):
            raise ServeError(f"{folder}: is not empty, and no rack was served there before; name a new folder with --dir")
        if folder.stat().st_uid != os.getuid():
            raise ServeError(f"{folder}: belongs to user {folder.stat().st_uid}; name a folder of your own with --dir")
        lock = (folder / LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        raise ServeError(f"{folder}: {error.strerror}; name a folder of your own with --dir") from error
    with lock:
        _take(lock, folder)
        _clear(folder)
        for log in (log for name in LOGS for log in folder.glob(f"*/{name}")):
            log.unlink()
        try:
            yield folder
        finally:
            _clear(folder)


def write_whole(path: Path, text: str) -> None:
    """A file that is there whole, or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _check_names(folder: Path, names: Sequence[str]) -> None:
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise ServeError(f"{wrong!r}: cannot be the name of a folder; use letters, digits, dots, dashes and underscores")
    longest = max((str(folder / name / SOCKET) for name in names), key=len)
    if len(os.fsencode(longest)) > LONGEST:
        raise ServeError(f"{folder}: too long, {longest} would have more than the {LONGEST} bytes of a socket's path; name a shorter one")


def _take(lock: TextIO, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        owner = lock.read().strip() or "?"
        raise ServeError(f"{folder}: a rack is served there by process {owner}; end that one, or name another folder with --dir") from error
    lock.seek(0)
    lock.truncate()
    lock.write(f"{os.getpid()}\n")
    lock.flush()


def _clear(folder: Path) -> None:
    for name in (ENDPOINTS, CONTROL, BMC_LOGIN, API_LOGIN):
        (folder / name).unlink(missing_ok=True)
    for tree in (*folder.glob(KEYS), *folder.glob(f"*/{TREE}"), *folder.glob(f"*/{TOOLS}")):
        shutil.rmtree(tree)
    for left in folder.glob(f"*/{SOCKET}"):
        left.unlink()

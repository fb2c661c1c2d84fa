"""Files that are written whole or not at all, readable to whom they are meant for; one `supernodectl pki` at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from supernoded.errors import PkiError

SECRET, PUBLIC = 0o600, 0o644
CLOSED = 0o700  # of folders


def make_folder(path: Path) -> None:
    """A folder that nobody else may enter, with its parents. Raises PkiError."""
    try:
        path.mkdir(mode=CLOSED, parents=True, exist_ok=True)
        path.chmod(CLOSED)
    except OSError as error:
        raise PkiError(f"{path}: cannot be made, {error.strerror}") from error


def write_file(path: Path, text: str, mode: int = PUBLIC) -> None:
    """Replace a file in one step. Raises PkiError; then the old one stands."""
    draft = path.with_name(path.name + ".new")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise PkiError(f"{path}: cannot be written, {error.strerror}; what was there before stands") from error


def read_file(path: Path, what: str) -> bytes:
    """What a file of an authority holds. Raises PkiError."""
    try:
        return path.read_bytes()
    except OSError as error:
        remedy = "name the folder of an authority by --dir, or make one with `supernodectl pki init DIR`"
        raise PkiError(f"{path}: {what} cannot be read, {error.strerror}; {remedy}") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else changes the folder meanwhile. Raises PkiError."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise PkiError(f"{folder}: {error.strerror}; make an authority with `supernodectl pki init {folder}`") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise PkiError(f"{folder}: another supernodectl is at work on it; wait until it has ended") from error
    finally:
        os.close(handle)

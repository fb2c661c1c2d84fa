"""Bytes in and out of files: only of regular ones, all of them, and on the storage before anyone is told."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import zstandard

from supernoded.errors import VaultError

CHUNK = 4 << 20  # bytes; ours: large enough for a disk, small enough that progress shows


@contextmanager
def open_regular(path: Path) -> Iterator[FileIO]:
    """A file to read that is one, and lies where its name says: a job that puts a link there gets nothing copied. Raises VaultError."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise VaultError(f"{path} is a link, and only files are copied") from error
        raise
    with os.fdopen(number, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise VaultError(f"{path} is no regular file")
        real = Path(f"/proc/self/fd/{number}").readlink()
        if real != path.absolute():  # a folder on the way was a link, or has been renamed just now
            raise VaultError(f"{path} is not what was opened, but {real}")
        yield file


def unpack_stream(reader: FileIO) -> Iterator[bytes]:
    """The plain bytes of a packed file. Raises VaultError when it is none."""
    try:
        yield from zstandard.ZstdDecompressor().read_to_iter(reader, read_size=CHUNK, write_size=CHUNK)
    except zstandard.ZstdError as error:
        raise VaultError(f"{reader.name} is not packed with zstd: {error}") from error


def pass_on(writer: FileIO, found: hashlib._Hash, data: bytes) -> int:
    """Write and hash packed bytes; how many there were."""
    found.update(data)
    write_all(writer, memoryview(data))
    return len(data)


def write_all(writer: FileIO, data: memoryview | bytes) -> None:
    """All of it: a file without a buffer may take less at a time."""
    view = memoryview(data)
    while view:
        view = view[writer.write(view) :]


def sync_file(file: FileIO) -> None:
    """Return when the storage has it."""
    file.flush()
    os.fsync(file.fileno())

"""A small preallocated file that takes sentences while the database takes none.

Its room is written in advance, so that a full disk cannot refuse it. Records lie one after another, each `length, CRC-32, payload`;
the first one that is not whole ends the file, and everything behind the last whole one is zero before anything is appended.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

from supernoded.errors import JournalError

ROOM = 1 << 20  # bytes; about 1,000 intents with their outcomes
_HEAD = struct.Struct("<II")


class Spill:
    """Records on disk, and how many bytes they take. Not for two threads at once."""

    def __init__(self, path: Path, room: int = ROOM) -> None:
        self.path, self._room = path, room
        self._file: int | None = None
        self._used = 0

    def open(self) -> list[bytes]:
        """Make the file if it is not there, and return the whole records it holds. Raises JournalError."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            content = _read(self._file, self._room)
            records, self._used = parse(content)
            rest = self._room - self._used
            if len(content) < self._room or any(content[self._used :]):
                _write(self._file, bytes(rest), self._used)
                _make_durable(self._file, self.path.parent)
        except OSError as error:
            self.close()
            raise self._trouble("opened", error) from error
        return records

    def append(self, payload: bytes) -> None:
        """Make one more record durable. Raises JournalError when there is no room or the disk fails; then nothing was acknowledged."""
        record = _HEAD.pack(len(payload), zlib.crc32(payload)) + payload
        if self._file is None or self._is_elsewhere():
            self.close()
            raise JournalError(f"the spill file {self.path} was not open or has been removed")
        if self._used + len(record) > self._room:
            raise JournalError(
                f"the spill file {self.path} is full: {self._used} of {self._room} bytes are used and {len(record)} were asked for; "
                "make the database take writes again"
            )
        try:
            _write(self._file, record, self._used)
            os.fdatasync(self._file)
        except OSError as error:
            raise self._trouble("written", error) from error
        self._used += len(record)

    def clear(self) -> None:
        """Forget all records, which must be in the database by now. Raises JournalError."""
        if self._file is None or not self._used:
            return
        try:
            _write(self._file, bytes(self._used), 0)
            os.fdatasync(self._file)
        except OSError as error:
            raise self._trouble("cleared", error) from error
        self._used = 0

    def close(self) -> None:
        """Close the file; what it holds stays."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @property
    def is_open(self) -> bool:
        """Whether it can be appended to, as far as is known."""
        return self._file is not None

    def _is_elsewhere(self) -> bool:
        """Whether the path no longer leads to the open file."""
        try:
            there, here = self.path.stat(), os.fstat(self._file if self._file is not None else -1)
        except OSError:
            return True
        return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)

    def _trouble(self, what: str, error: OSError) -> JournalError:
        return JournalError(f"the spill file {self.path} could not be {what}: {error.strerror or error}; free space and check the disk")


def parse(content: bytes) -> tuple[list[bytes], int]:
    """The whole records at the start of `content`, and how many bytes they take."""
    records: list[bytes] = []
    used = 0
    while used + _HEAD.size <= len(content):
        length, checksum = _HEAD.unpack_from(content, used)
        payload = content[used + _HEAD.size : used + _HEAD.size + length]
        if length == 0 or len(payload) < length or zlib.crc32(payload) != checksum:
            break
        records.append(payload)
        used += _HEAD.size + length
    return records, used


def _read(file: int, most: int) -> bytes:
    parts = []
    offset = 0
    while offset < most and (part := os.pread(file, most - offset, offset)):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def _write(file: int, content: bytes, offset: int) -> None:
    while content:
        written = os.pwrite(file, content, offset)
        content, offset = content[written:], offset + written


def _make_durable(file: int, folder: Path) -> None:
    """The file and its entry in the folder."""
    os.fsync(file)
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)

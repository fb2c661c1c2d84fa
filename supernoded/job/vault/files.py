"""The file port: everything the vault does to a file system, one atomic operation a method, so that a test can stop it between any two."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Protocol

import zstandard

from supernoded.errors import VaultError
from supernoded.job.vault.records import MOST_RECORD, Sum
from supernoded.job.vault.streams import CHUNK, open_regular, pass_on, sync_file, unpack_stream, write_all

SYNC_EVERY = 256 << 20  # bytes; ours: memory that waits for the storage stays small, and so does the last sync


class Files(Protocol):
    """A file system. Every method raises OSError; what writes is durable on return, but for the name: that takes `sync_folder`."""

    def list_names(self, folder: Path) -> list[str]:
        """The names in a folder; none when it is not there or is no folder."""
        ...

    def is_there(self, path: Path) -> bool:
        """Whether there is something of this name."""
        ...

    def is_folder(self, path: Path) -> bool:
        """Whether it is a folder, and no link to one."""
        ...

    def find_age(self, path: Path) -> float:
        """Seconds since it last changed; 0 when it is not there."""
        ...

    def measure(self, path: Path) -> int:
        """Bytes of a file, or of all files in a folder."""
        ...

    def lives(self, pid: int) -> bool:
        """Whether a process of this machine has this number."""
        ...

    def read_record(self, path: Path) -> bytes:
        """A small file. Raises VaultError when it is no regular file or too long."""
        ...

    def write_record(self, path: Path, data: bytes) -> None:
        """A new small file."""
        ...

    def copy(self, source: Path, target: Path, level: int | None) -> Sum:
        """Copy into a new file, packed at a level of zstd or plain, and hash on the way. Raises VaultError when the source is no file."""
        ...

    def hash_back(self, path: Path) -> tuple[int, str]:
        """Size and SHA-256 of what the storage has: read from it where the system lets us, not from the page cache."""
        ...

    def unpack(self, source: Path, target: Path, packed: bool) -> tuple[int, str]:
        """Copy out of a tier into a new file; size and SHA-256 of what was written."""
        ...

    def make_folder(self, path: Path) -> bool:
        """Make a folder whose parent is there; whether it is new."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Atomic; a file of the new name is replaced, a folder only when it is empty."""
        ...

    def sync_folder(self, folder: Path) -> None:
        """Make the names in it durable."""
        ...

    def remove(self, path: Path) -> None:
        """A file, or a folder with all that is in it; nothing when it is not there."""
        ...

    def remove_empty(self, folder: Path) -> None:
        """A folder in which nothing is; one that has something, or is not there, is left alone."""
        ...

    def find_space(self, folder: Path) -> tuple[int, int]:
        """Bytes that may still be written there, and bytes of the whole file system."""
        ...


class SystemFiles:
    """The machine's. `moved` is the time of the last sign of life, so that another thread sees when a mount hangs."""

    def __init__(self) -> None:
        self.moved = time.monotonic()
        self.cpu_s, self.copy_s = 0.0, 0.0  # what copying took of a core, and in all

    def list_names(self, folder: Path) -> list[str]:
        """See `Files.list_names`."""
        self._move()
        try:
            return sorted(one.name for one in folder.iterdir()) if stat.S_ISDIR(os.lstat(folder).st_mode) else []
        except (FileNotFoundError, NotADirectoryError):
            return []

    def is_there(self, path: Path) -> bool:
        """See `Files.is_there`."""
        self._move()
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def is_folder(self, path: Path) -> bool:
        """See `Files.is_folder`."""
        self._move()
        try:
            return stat.S_ISDIR(os.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def find_age(self, path: Path) -> float:
        """See `Files.find_age`."""
        try:
            return max(0.0, time.time() - os.lstat(path).st_mtime)
        except (FileNotFoundError, NotADirectoryError):
            return 0.0

    def measure(self, path: Path) -> int:
        """See `Files.measure`. It follows no link."""
        self._move()
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return 0
        if not stat.S_ISDIR(found.st_mode):
            return found.st_size
        return sum(self.measure(path / name) for name in self.list_names(path))

    def lives(self, pid: int) -> bool:
        """See `Files.lives`."""
        return Path(f"/proc/{pid}").exists()

    def read_record(self, path: Path) -> bytes:
        """See `Files.read_record`."""
        self._move()
        with open_regular(path) as file:
            data = file.read(MOST_RECORD + 1)
        if len(data) > MOST_RECORD:
            raise VaultError(f"{path} has more than {MOST_RECORD} bytes, which is no record")
        return data

    def write_record(self, path: Path, data: bytes) -> None:
        """See `Files.write_record`."""
        self._move()
        with self._make_file(path) as file:
            write_all(file, data)
            sync_file(file)

    def copy(self, source: Path, target: Path, level: int | None) -> Sum:
        """See `Files.copy`."""
        began, cpu = time.monotonic(), time.thread_time()
        plain, stored, size, stored_size = hashlib.sha256(), hashlib.sha256(), 0, 0
        packer = None if level is None else zstandard.ZstdCompressor(level=level).compressobj()
        with open_regular(source) as reader, self._make_file(target) as writer:
            for chunk in self._read(reader):
                plain.update(chunk)
                size += len(chunk)
                if size % SYNC_EVERY < len(chunk):
                    os.fdatasync(writer.fileno())
                if packer is None:
                    write_all(writer, chunk)
                    continue
                stored_size += pass_on(writer, stored, packer.compress(bytes(chunk)))
            if packer is not None:
                stored_size += pass_on(writer, stored, packer.flush())
            sync_file(writer)
        self.copy_s += time.monotonic() - began
        self.cpu_s += time.thread_time() - cpu
        if packer is None:
            return Sum(size=size, sha256=plain.hexdigest())
        return Sum(size=size, sha256=plain.hexdigest(), stored_size=stored_size, stored_sha256=stored.hexdigest())

    def hash_back(self, path: Path) -> tuple[int, str]:
        """See `Files.hash_back`."""
        found, size = hashlib.sha256(), 0
        with open_regular(path) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            for chunk in self._read(file):
                found.update(chunk)
                size += len(chunk)
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # the job wants the memory more than we do
        return size, found.hexdigest()

    def unpack(self, source: Path, target: Path, packed: bool) -> tuple[int, str]:
        """See `Files.unpack`. Raises VaultError when it is not packed as it says."""
        found, size = hashlib.sha256(), 0
        with open_regular(source) as reader, self._make_file(target) as writer:
            chunks = unpack_stream(reader) if packed else self._read(reader)
            for chunk in chunks:
                self._move()
                found.update(chunk)
                size += len(chunk)
                write_all(writer, chunk)
            sync_file(writer)
        return size, found.hexdigest()

    def make_folder(self, path: Path) -> bool:
        """See `Files.make_folder`."""
        self._move()
        try:
            path.mkdir(mode=0o770)
        except FileExistsError:
            return False
        return True

    def rename(self, old: Path, new: Path) -> None:
        """See `Files.rename`."""
        self._move()
        old.rename(new)

    def sync_folder(self, folder: Path) -> None:
        """See `Files.sync_folder`."""
        self._move()
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)

    def remove(self, path: Path) -> None:
        """See `Files.remove`. It follows no link."""
        self._move()
        try:
            if stat.S_ISDIR(os.lstat(path).st_mode):
                shutil.rmtree(path)
            else:
                path.unlink()
        except FileNotFoundError:
            return  # another vault was faster

    def remove_empty(self, folder: Path) -> None:
        """See `Files.remove_empty`."""
        self._move()
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
                raise

    def find_space(self, folder: Path) -> tuple[int, int]:
        """See `Files.find_space`."""
        self._move()
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize

    def _make_file(self, path: Path) -> FileIO:
        """A new file to write to; a simulated machine's disk may be full."""
        return path.open("xb", buffering=0)

    def _move(self) -> None:
        self.moved = time.monotonic()

    def _read(self, file: FileIO) -> Iterator[memoryview]:
        """Chunks, in one buffer: each is void when the next is taken."""
        buffer = bytearray(CHUNK)
        view = memoryview(buffer)
        while count := file.readinto(buffer):
            self._move()
            yield view[:count]

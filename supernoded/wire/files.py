"""Single files, read and written whole: the blocking part of a tree, run in a thread."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from supernoded.errors import WireError

MOST_BYTES = 64 * 1024  # of one file; a sysfs attribute is at most one page of 4 KiB
ATTRIBUTES = frozenset({"sysfs", "proc", "configfs", "debugfs", "tracefs", "cgroup", "cgroup2"})  # file systems without rename

Ask = Callable[[], None]  # asks the pen; raises NotHeldError


def describe(path: Path | str, error: OSError) -> WireError:
    """What could not be done to a file, and the system's reason."""
    return WireError(f"{path}: {error.strerror or error}")


def read_text(path: Path) -> str:
    """One regular file, stripped. Raises WireError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer must not hang the open
        try:
            return _read_whole(path, handle)
        finally:
            os.close(handle)
    except WireError:
        raise
    except OSError as error:
        raise describe(path, error) from error


def _read_whole(path: Path, handle: int) -> str:
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise WireError(f"{path}: not a regular file")
    found = bytearray()
    while chunk := os.read(handle, MOST_BYTES + 1 - len(found)):
        found += chunk
        if len(found) > MOST_BYTES:
            raise WireError(f"{path}: larger than {MOST_BYTES} bytes, which is no attribute or state file")
    return found.decode(errors="replace").strip()


def list_names(folder: Path) -> list[str]:
    """The names in a folder, sorted; none when there is no such folder. Raises WireError."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names, not paths
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise describe(folder, error) from error


def read_link(path: Path) -> str:
    """Where a link leads, as it is written; empty for what is no link. Raises WireError."""
    try:
        return str(path.readlink())
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
            return ""
        raise describe(path, error) from error


def write_text(path: Path, text: str, ask: Ask) -> None:
    """One file, in place when it is an attribute of the kernel, else whole. Raises WireError, and what `ask` raises."""
    try:
        if path.exists() and file_system(path) in ATTRIBUTES:
            _write_attribute(path, text.encode(), ask)
        else:
            _write_whole(path, text.encode(), ask)
    except WireError:
        raise
    except OSError as error:
        raise describe(path, error) from error


def _write_attribute(path: Path, data: bytes, ask: Ask) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        ask()
        if (written := os.write(handle, data)) != len(data):
            raise WireError(f"{path}: took {written} of {len(data)} bytes")
    finally:
        os.close(handle)


def _write_whole(path: Path, data: bytes, ask: Ask) -> None:
    ask()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        ask()  # a slow disk may have outlived the lease: the rename is what others see
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_system(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """The type of the file system a path is on, such as `sysfs`; empty when the mount table does not tell."""
    device = path.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    with suppress(OSError):
        for line in mounts.read_text(errors="replace").splitlines():
            before, _, after = line.partition(" - ")
            if before.split()[2:3] == [number]:
                return after.split()[0]
    return ""


def remove_oldest(folder: Path, most: int, ask: Ask) -> None:
    """Keep the newest `most` regular files of a folder, by time of change. Raises WireError, and what `ask` raises."""
    try:
        if len(list_names(folder)) <= most:
            return
        ages = sorted((entry.stat().st_mtime_ns, entry.name) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
        ask()
        for _, name in ages[: max(len(ages) - most, 0)]:
            (folder / name).unlink(missing_ok=True)
    except WireError:
        raise
    except OSError as error:
        raise describe(folder, error) from error

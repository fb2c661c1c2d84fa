"""Make the admin socket: reachable by its group from the first moment, never taken from a daemon that still answers."""

from __future__ import annotations

import asyncio
import fcntl
import grp
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

from supernoded.errors import SettingsError

Accept = Callable[[], asyncio.Protocol]
Listen = Callable[[Accept], AbstractAsyncContextManager[None]]

SOCKET_MODE = 0o660
FOLDER_MODE = 0o755
BACKLOG = 64
LONGEST_PATH = 107  # bytes, sun_path of unix(7)


@asynccontextmanager
async def listen_unix(path: Path, group: str, log: logging.Logger, accept: Accept) -> AsyncIterator[None]:
    """Listen on a socket file that belongs to `group` (empty = the daemon's own). Raises SettingsError."""
    line = await asyncio.to_thread(open_socket, path, group, log)
    made = await asyncio.to_thread(path.lstat)
    server = await asyncio.get_running_loop().create_unix_server(accept, sock=line)
    try:
        yield
    finally:
        server.close()
        _remove(path, made.st_ino)


@asynccontextmanager
async def listen_simulated(path: Path, accept: Accept) -> AsyncIterator[None]:
    """Listen on the running loop's own network, where there are no files and no modes."""
    server = await asyncio.get_running_loop().create_unix_server(accept, path=str(path))
    try:
        yield
    finally:
        server.close()


def open_socket(path: Path, group: str, log: logging.Logger) -> socket.socket:
    """A listening socket at `path`, mode 0660, or 0600 when `group` cannot have it, which is logged. Raises SettingsError."""
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise SettingsError(
            f"admin socket {path}: the path has {len(os.fsencode(path))} bytes, a socket's may have {LONGEST_PATH}; choose a shorter one"
        )
    try:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        with _alone_in(path.parent):
            _remove_stale(path)
            return _bind(path, group, log)
    except OSError as error:
        raise SettingsError(f"admin socket {path}: {error.strerror or error}; choose a place that this user may write to") from error


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, so that of two daemons that start at once the second finds the first one's socket answering."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise SettingsError(f"admin socket in {folder}: another daemon is starting there; wait for it or choose another path") from error
    finally:
        os.close(handle)


def _remove_stale(path: Path) -> None:
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise SettingsError(f"admin socket {path}: there is something else than a socket; move it away or choose another path")
    if _is_answered(path):
        raise SettingsError(f"admin socket {path}: another daemon answers there; stop it or choose another path")
    path.unlink()


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        except BlockingIOError:  # its queue is full: somebody has it, however slow
            return True
        return True


def _bind(path: Path, group: str, log: logging.Logger) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # On Linux bind() gives the file the mode of the unbound socket: closed to others at once, without touching the process's umask.
        os.fchmod(line.fileno(), 0o600)
        line.bind(str(path))
        why_not = _give_to(path, group) if group else ""
        if why_not:
            alone = f"uid {os.getuid()} and root" if os.getuid() else "root"
            log.warning("admin socket %s: only %s can reach it: %s", path, alone, why_not)
        else:
            path.chmod(SOCKET_MODE)
        line.listen(BACKLOG)
        line.setblocking(False)
    except BaseException:
        line.close()
        raise
    return line


def _give_to(path: Path, group: str) -> str:
    """Why the group cannot have the file, with the remedy; empty when it has it."""
    try:
        os.chown(path, -1, grp.getgrnam(group).gr_gid)
    except KeyError:
        return f"there is no group {group!r} on this machine; make it with `sudo groupadd --system {group}` and restart the daemon"
    except PermissionError:
        return f"the daemon's user is not in the group {group!r}; `sudo usermod -aG {group} USER`, and restart the daemon in a new login"
    return ""


def _remove(path: Path, inode: int) -> None:
    """Remove our own socket file, not one that somebody has put in its place."""
    try:
        if path.lstat().st_ino == inode:
            path.unlink()
    except FileNotFoundError:
        return

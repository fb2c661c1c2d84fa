"""The socket of the jobs. Ranks of other users and of containers reach it by its group."""

from __future__ import annotations

import asyncio
import grp
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from supernoded.errors import SettingsError

CLOSED, OPEN_TO_GROUP = 0o600, 0o660


@asynccontextmanager
async def listen(path: Path, group: str, log: logging.Logger, accept: Callable[[], asyncio.Protocol]) -> AsyncIterator[None]:
    """Listen on the running loop's own sockets, which in a simulation are no files. Raises SettingsError."""
    before = _look(path)
    mask = os.umask(0o777 - CLOSED)  # closed to others from its first moment; nothing else runs until it is bound
    try:
        server = await asyncio.get_running_loop().create_unix_server(accept, path=str(path))
    except OSError as error:
        raise SettingsError(f"job socket {path}: {error.strerror or error}; choose a place that this user may write to") from error
    finally:
        os.umask(mask)
    made = _look(path)
    is_ours = made is not None and made != before  # a simulated one leaves alone what a daemon of this machine may have there
    if is_ours and group:
        _open_to(path, group, log)
    try:
        yield
    finally:
        server.close()
        if made is not None and is_ours:
            _remove(path, made[0])


def _open_to(path: Path, group: str, log: logging.Logger) -> None:
    try:
        os.chown(path, -1, grp.getgrnam(group).gr_gid)
        path.chmod(OPEN_TO_GROUP)
    except KeyError:
        log.warning("job socket %s: no job of another user can reach it: there is no group %r; make it, or set [job] group", path, group)
    except OSError as error:
        log.warning("job socket %s: no job of another user can reach it: group %r: %s", path, group, error.strerror or error)


def _look(path: Path) -> tuple[int, int] | None:
    """Which file it is, and when it was made; None when there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


def _remove(path: Path, inode: int) -> None:
    """Our own file, not one that somebody has put in its place."""
    found = _look(path)
    if found is not None and found[0] == inode:
        path.unlink(missing_ok=True)

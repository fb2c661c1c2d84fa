"""Two daemons on one journal would both perform what is open in it: the second is kept out."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from supernoded.errors import SettingsError

LOCK = "lock"


@asynccontextmanager
async def occupy(state: Path, log: logging.Logger) -> AsyncIterator[None]:
    """Keep other daemons off a state folder for as long as this one works on it. Raises SettingsError."""
    handle = await asyncio.to_thread(take_lock, state, log)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def take_lock(state: Path, log: logging.Logger) -> int | None:
    """The open lock; None on a disk that takes none: the judging goes on without. Raises SettingsError."""
    try:
        state.mkdir(parents=True, exist_ok=True)
        handle = os.open(state / LOCK, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        log.warning("state folder %s: other daemons cannot be kept off it: %s", state, error.strerror or error)
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise SettingsError(f"state folder {state}: another daemon works on it; stop it, or set another state") from error
    return handle

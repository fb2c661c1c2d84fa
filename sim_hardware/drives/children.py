"""Child processes that do not outlive us."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


async def start_child(argv: Sequence[str], log: Path, environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Process:
    """Start a program whose output goes to the end of `log`. Where `setpriv` is there, it gets SIGTERM when we die. Raises OSError."""
    setpriv = shutil.which("setpriv")
    bound = (setpriv, "--pdeathsig", "TERM", *argv) if setpriv else argv
    with log.open("ab") as output:
        return await asyncio.create_subprocess_exec(*bound, stdin=DEVNULL, stdout=output, stderr=output, env=environment, cwd=folder)


async def end_child(process: Process, within: float) -> int:
    """Ask it to end, kill it when it does not within so many seconds, and give its exit code."""
    _send(process, signal.SIGTERM)
    try:
        async with asyncio.timeout(within):
            return await process.wait()
    except TimeoutError:
        _send(process, signal.SIGKILL)
        return await process.wait()


def _send(process: Process, number: signal.Signals) -> None:
    """`Process.send_signal` looks first whether it has ended, and would take the exit code away from the loop's own watcher."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def read_tail(log: Path, most: int = 2000) -> str:
    """The last bytes of a log, as text."""
    try:
        return log.read_bytes()[-most:].decode(errors="replace").strip()
    except OSError:
        return ""

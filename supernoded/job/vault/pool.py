"""The memory pool as this node has it: its vendor's tools, and the kernel parameter that allows atomic snapshots."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from supernoded.errors import VaultError

MOST_OUTPUT = 65_536  # bytes of a tool's words that are looked at


class Told(msgspec.Struct, frozen=True):
    """A tool's end: code, and all its words."""

    code: int
    text: str


class Pool(Protocol):
    """What a snapshot asks of the machine, so that it runs on a simulated one too."""

    async def run(self, argv: Sequence[str], seconds: float) -> Told:
        """Run a tool. Raises VaultError when it cannot be run or does not end within `seconds`."""
        ...

    def read_atomic(self, path: Path) -> str | None:
        """What the kernel shows of its parameter; None where there is no such file. Raises OSError when it cannot be read."""
        ...


class SystemPool:
    """The machine's."""

    async def run(self, argv: Sequence[str], seconds: float) -> Told:
        """See `Pool.run`. Whatever the tool has started ends with it."""
        pipe, both = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=both, start_new_session=True
            )
        except OSError as error:
            raise VaultError(f"{argv[0]} cannot be run: {error.strerror}") from error
        try:
            async with asyncio.timeout(seconds):
                out, _ = await process.communicate()
        except TimeoutError as error:
            raise VaultError(f"{argv[0]} did not end within {seconds:g} s and was ended") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return Told(process.returncode or 0, out[:MOST_OUTPUT].decode(errors="replace"))

    def read_atomic(self, path: Path) -> str | None:
        """See `Pool.read_atomic`."""
        try:
            with path.open("rb") as file:
                return file.read(MOST_OUTPUT).decode(errors="replace")
        except FileNotFoundError:
            return None

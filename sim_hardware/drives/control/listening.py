"""The control socket itself."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import msgspec

from sim_hardware.drives.control.desk import Desk

LONGEST = 2**20  # bytes of a request


@asynccontextmanager
async def serve_control(desk: Desk, path: Path) -> AsyncIterator[None]:
    """Let its owner ask at the socket until the context is left. Raises OSError."""
    callers: set[asyncio.Task[None]] = set()

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            callers.add(task)
            task.add_done_callback(callers.discard)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):  # the caller, or we, have enough
                await _attend(desk, reader, writer)
        finally:
            writer.close()

    with _bind(path) as line:
        server = await asyncio.start_unix_server(attend, sock=line, limit=LONGEST)
        try:
            yield
        finally:
            server.close()
            desk.faults.close()
            for task in tuple(callers):
                task.cancel()
            await asyncio.gather(*callers, return_exceptions=True)


@contextmanager
def _bind(path: Path) -> Iterator[socket.socket]:
    """A socket that nobody else may use from the first moment on: it does not listen yet."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.bind(str(path))
        path.chmod(0o600)
        yield line
    finally:
        line.close()
        path.unlink(missing_ok=True)


async def _attend(desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            writer.write(_encode({"ok": False, "error": f"a request has at most {LONGEST} bytes"}))
            return
        if not line:
            return
        async for answer in desk.answer(line):
            writer.write(_encode(answer))
            await writer.drain()


def _encode(answer: dict[str, object]) -> bytes:
    return msgspec.json.encode(answer) + b"\n"

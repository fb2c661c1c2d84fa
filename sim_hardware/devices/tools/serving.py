"""Tools over a unix socket, for executables that only pass on what they were asked.

A request is the number of its fields and a line end, and then the fields, each ended by a zero byte: tool, node, arguments. An answer is
a line `<code> <bytes of output> <bytes of errors>` and both texts. It comes after as many seconds as the tool takes; who hangs up before
that has killed the tool.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.running import run_tool
from sim_hardware.devices.tools.words import ToolState

MOST_FIELDS = 1000


@asynccontextmanager
async def serve_tools(panel: Panel, path: Path, state: ToolState | None = None) -> AsyncIterator[ToolState]:
    """Answer on the socket until the context ends. Works on the real loop and on `SimLoop`. Raises OSError."""
    tools = state or ToolState()
    lines: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append(writer)
        try:
            if server.is_serving():
                await _answer(reader, writer, panel, tools)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            writer.close()  # hung up, or no shim of ours: there is nobody to tell
        finally:
            writer.close()
            lines.remove(writer)

    server = await asyncio.start_unix_server(answer, path=str(path))
    try:
        yield tools
    finally:
        server.close()
        for writer in lines:
            writer.close()  # who waits there sees an end of the line, and ends too
        await server.wait_closed()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, panel: Panel, state: ToolState) -> None:
    count = int(await reader.readline())
    if not 2 <= count <= MOST_FIELDS:
        raise ValueError(f"{count} fields where 2 to {MOST_FIELDS} are due")
    fields = [(await reader.readuntil(b"\0"))[:-1].decode(errors="replace") for _ in range(count)]
    run = run_tool(fields[0], fields[2:], panel, fields[1], state)
    if not await _outlast(reader, run.seconds):
        return
    out, err = run.out.encode(), run.err.encode()
    writer.write(f"{run.rc} {len(out)} {len(err)}\n".encode() + out + err)
    await writer.drain()


async def _outlast(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Wait for so long; False as soon as the other end is gone."""
    try:
        await asyncio.wait_for(reader.read(1), None if seconds == math.inf else seconds)
    except TimeoutError:
        return True
    return False

"""Real daemon processes, one a node of a served rack."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from sim_hardware.drives.children import end_child, read_tail, start_child
from sim_hardware.drives.folder import TOOLS
from sim_hardware.drives.serving import SETTINGS
from supernoded.errors import ChaosError

READY_WITHIN = 120.0  # s; many of them start at once, and an interpreter takes a second
ENDS_WITHIN = 8.0  # s; the daemon promises 5
LOG, NOTIFY = "daemon.log", "notify.sock"
KEPT_OUT = ("WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "STATE_DIRECTORY", "RUNTIME_DIRECTORY")  # our own service manager's


@asynccontextmanager
async def run_daemons(homes: Sequence[Path], died: list[str]) -> AsyncIterator[None]:
    """Let a daemon run in each folder, from READY until the context is left; `died` gets a sentence for each that ends otherwise than told.

    Raises ChaosError when one does not become READY.
    """
    ready = [asyncio.Event() for _ in homes]
    running = [asyncio.create_task(_live(home, event, died)) for home, event in zip(homes, ready, strict=True)]
    waiting = asyncio.create_task(_wait_for(ready))
    try:
        await asyncio.wait([waiting, *running], timeout=READY_WITHIN, return_when=asyncio.FIRST_COMPLETED)
        late = [home.name for home, event in zip(homes, ready, strict=True) if not event.is_set()]
        if late:
            raise ChaosError("; ".join(died) or f"the daemons of {', '.join(late)} are not READY after {READY_WITHIN:g} s")
        yield
    finally:
        for task in (waiting, *running):
            task.cancel()
        await asyncio.gather(waiting, *running, return_exceptions=True)


async def _wait_for(events: Sequence[asyncio.Event]) -> None:
    for event in events:
        await event.wait()


async def _live(home: Path, ready: asyncio.Event, died: list[str]) -> None:
    """One daemon, until it dies or we are cancelled. Raises OSError when it cannot be started."""
    command = (sys.executable, "-m", "supernoded", "--config", str(home / SETTINGS))
    environment = {name: value for name, value in os.environ.items() if name not in KEPT_OUT}
    environment |= {"NOTIFY_SOCKET": str(home / NOTIFY), "PATH": f"{home / TOOLS}:{os.environ.get('PATH', os.defpath)}"}
    with _hear_ready(home / NOTIFY, ready):
        process = await start_child(command, home / LOG, environment)
        told = "by itself"
        try:
            await process.wait()
        except asyncio.CancelledError:
            told = "when it was told to stop"
            raise
        finally:
            code = await end_child(process, ENDS_WITHIN)
            if code != 0 or told == "by itself":
                said = read_tail(home / LOG, 500).replace("\n", " | ") or "without a word"
                died.append(f"the daemon of {home.name} ended {told} with code {code}: {said}")


@contextmanager
def _hear_ready(path: Path, ready: asyncio.Event) -> Iterator[None]:
    """Set the event when a daemon tells that it is READY, as it tells systemd."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    line.setblocking(False)

    def hear() -> None:
        if "READY=1" in line.recv(4096).decode(errors="replace").splitlines():
            ready.set()

    loop = asyncio.get_running_loop()
    try:
        line.bind(str(path))
        loop.add_reader(line, hear)
        yield
    finally:
        loop.remove_reader(line)
        line.close()
        path.unlink(missing_ok=True)

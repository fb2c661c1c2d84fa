"""The one broker of a served rack: mosquitto where it is installed, else the daemon's embedded one."""

from __future__ import annotations

import asyncio
import logging
import os
import pwd
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from sim_hardware.drives.children import end_child, read_tail, start_child
from sim_hardware.drives.folder import ServeError
from sim_hardware.drives.venues import LOOPBACK
from supernoded.cluster.link.broker import BrokerError, EmbeddedBroker

STARTS_WITHIN, ENDS_WITHIN = 10.0, 3.0  # s
AGAIN = 1.0  # s until one that has ended is started again
LOOK = 0.02  # s between two looks whether it listens
CONFIG = """\
listener {port} {host}
allow_anonymous true
set_tcp_nodelay true
user {user}
"""  # without TCP_NODELAY the second small message of two waits for an acknowledgement, 40 ms

_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def serve_broker(folder: Path) -> AsyncIterator[int]:
    """Run it on a free port of loopback, which stays the same when it is started again. Raises ServeError when it does not listen."""
    port, program = _find_free_port(), _find_mosquitto()
    run = partial(_run_mosquitto, program, folder, port) if program else EmbeddedBroker(folder, _LOG, port).run
    keeping = asyncio.create_task(_keep(run))
    try:
        await _wait_until_open(port, folder)
        yield port
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


async def _keep(run: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await run()
        except BrokerError as error:
            _LOG.warning("%s; it is started again", error)
        await asyncio.sleep(AGAIN)


async def _run_mosquitto(program: str, folder: Path, port: int) -> None:
    """Until cancelled. Raises BrokerError when it ends."""
    config, log = folder / "mosquitto.conf", folder / "mosquitto.log"
    config.write_text(CONFIG.format(host=LOOPBACK, port=port, user=pwd.getpwuid(os.getuid()).pw_name), encoding="utf-8")
    process = await start_child((program, "-c", str(config)), log)
    try:
        code = await process.wait()
    finally:
        await end_child(process, ENDS_WITHIN)
    raise BrokerError(f"mosquitto on port {port} has ended with code {code}: {read_tail(log, 300)}")


async def _wait_until_open(port: int, folder: Path) -> None:
    for _ in range(int(STARTS_WITHIN / LOOK)):
        with suppress(OSError):
            _, writer = await asyncio.open_connection(LOOPBACK, port)
            writer.close()
            return
        await asyncio.sleep(LOOK)
    said = read_tail(folder / "mosquitto.log", 300)
    raise ServeError(f"the broker does not listen on {LOOPBACK}:{port} after {STARTS_WITHIN:g} s: {said or 'it says nothing'}")


def _find_mosquitto() -> str | None:
    """Debian puts it where only root looks."""
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


def _find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        return int(listener.getsockname()[1])

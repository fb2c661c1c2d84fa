"""The broker of a node that has none: rumqttd in a child process, on loopback only.

rumqttd cannot be stopped within a process, so it gets one of its own; that also ends when ours does, for whatever reason, since
it watches the pipe from us. It knows no access lists: whoever is on this machine can speak to it (docs/decisions/0021).
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from contextlib import suppress
from pathlib import Path

from supernoded.cluster.topics import MAX_PAYLOAD
from supernoded.errors import SessionError

HOST = "127.0.0.1"  # rumqttd's own default is 0.0.0.0
CHILD = Path(__file__).with_name("rumqttd.py")
START = 10.0  # seconds until it must listen
LOOK = 0.02  # seconds between two looks
STOP = 2.0  # seconds from asking it to end to killing it
TAIL = 2000  # bytes of its last words that are kept

# Bounds its memory: 4 segments of 256 KiB per topic, and what waits for 64 clients. 64 KiB more than our largest payload fit a packet.
CONFIG = """\
id = 0
[router]
id = 0
max_connections = 64
max_outgoing_packet_count = 200
max_segment_size = 262144
max_segment_count = 4
[v5.1]
name = "v5"
listen = "{host}:{port}"
next_connection_delay_ms = 1
[v5.1.connections]
connection_timeout_ms = 5000
max_payload_size = {payload}
max_inflight_count = 100
dynamic_filters = true
"""


class BrokerError(SessionError):
    """The embedded broker did not start, or has ended."""


class EmbeddedBroker:
    """One broker on `HOST` at `port`, which stays the same over restarts."""

    def __init__(self, folder: Path, log: logging.Logger, port: int = 0) -> None:
        self._config, self._log = folder / "broker.toml", log
        self.port = port or _free_port()
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Run the broker until cancelled. Raises BrokerError when it does not start or ends; its caller starts it again."""
        await asyncio.to_thread(self._write_config)
        if await _accepts(self.port):
            raise BrokerError(
                f"embedded broker: {HOST}:{self.port} is taken by another program: set another mqtt.port, or name that broker"
            )
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", str(CHILD), str(self._config)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            await self._serve(process)
        finally:
            self.listening.clear()
            await _end(process)

    async def _serve(self, process: asyncio.subprocess.Process) -> None:
        words = asyncio.create_task(_last_words(process))
        ready = asyncio.create_task(_wait_until_open(self.port))
        try:
            await asyncio.wait([words, ready], return_when=asyncio.FIRST_COMPLETED)
            if not words.done():
                await ready
                self.listening.set()
                self._log.info("embedded broker listens on %s:%d", HOST, self.port)
            text = await words
        finally:
            words.cancel()
            ready.cancel()
        said = " ".join(text.split()) or "without a word"
        raise BrokerError(f"embedded broker: it ended with code {await process.wait()}: {said}")

    def _write_config(self) -> None:
        self._config.parent.mkdir(parents=True, exist_ok=True)
        self._config.write_text(CONFIG.format(host=HOST, port=self.port, payload=2 * MAX_PAYLOAD), encoding="utf-8")


async def _last_words(process: asyncio.subprocess.Process) -> str:
    """Read its stderr to the end, which is its own end, and keep the last TAIL bytes."""
    tail = b""
    while process.stderr is not None and (chunk := await process.stderr.read(4096)):
        tail = (tail + chunk)[-TAIL:]
    return tail.decode(errors="replace").strip()


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _wait_until_open(port: int) -> None:
    for _ in range(int(START / LOOK)):
        if await _accepts(port):
            return
        await asyncio.sleep(LOOK)
    raise BrokerError(f"embedded broker: it does not listen on {HOST}:{port} after {START:g} s")


async def _accepts(port: int) -> bool:
    try:
        async with asyncio.timeout(1.0):
            _, writer = await asyncio.open_connection(HOST, port)
    except OSError:  # TimeoutError is one
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        port: int = sock.getsockname()[1]
        return port

"""The job's simulated processes on their nodes: each has a connection to its own node's daemon, and makes it anew when it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from sim_hardware.devices.job import Crew, Peer

PERIOD = 0.25  # s between two looks at the job; a step takes longer
SOCKET = "job.sock"  # in a daemon's runtime folder


def find_socket(folder: Path, node: str) -> Path:
    """Where the daemon of a node listens for ranks."""
    return folder / node / "run" / SOCKET


class Line(asyncio.Protocol):
    """The connection of one process."""

    def __init__(self, crew: Crew, peer: Peer) -> None:
        self._crew, self._peer = crew, peer
        self.lost = False
        self.transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say hello."""
        if isinstance(transport, asyncio.WriteTransport):
            self.transport = transport
            transport.write(self._peer.greet())

    def data_received(self, data: bytes) -> None:
        """The daemon speaks."""
        self._crew.hear(self._peer, data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The daemon, or the process itself, is gone."""
        del exc
        self.lost, self._peer.welcome = True, False


async def look_after(crew: Crew) -> None:
    """Let the crew look at its job until cancelled."""
    while True:
        crew.look()
        await asyncio.sleep(PERIOD)


async def speak_for(crew: Crew, node: str, path: Path, is_there: Callable[[], bool] = lambda: True) -> None:
    """Keep the connections of the processes on a node until cancelled, while `is_there` a daemon. `look_after` looks at the job."""
    lines: dict[Peer, Line] = {}
    while True:
        if is_there():
            crew.present.add(node)
            await _take_turn(crew, node, path, lines)
        else:
            crew.present.discard(node)
        await asyncio.sleep(PERIOD)


async def _take_turn(crew: Crew, node: str, path: Path, lines: dict[Peer, Line]) -> None:
    here = [peer for peer in crew.peers if peer.node == node]
    for peer in [peer for peer in lines if peer not in here or lines[peer].lost]:
        _hang_up(lines.pop(peer))
    for peer in here:
        if peer.alive and peer not in lines:
            await _connect(crew, peer, path, lines)
        if peer in lines:
            _speak(peer, lines[peer])


async def _connect(crew: Crew, peer: Peer, path: Path, lines: dict[Peer, Line]) -> None:
    """One that finds no daemon tries again at its next turn."""
    try:
        _, lines[peer] = await asyncio.get_running_loop().create_unix_connection(lambda: Line(crew, peer), str(path))
    except OSError:
        return


def _speak(peer: Peer, line: Line) -> None:
    if line.transport is None:
        return
    line.transport.write(peer.take())
    if not peer.alive:  # what it said last is still sent
        _hang_up(line)


def _hang_up(line: Line) -> None:
    line.lost = True
    if line.transport is not None:
        line.transport.close()

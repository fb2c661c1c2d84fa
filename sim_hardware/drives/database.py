"""The site's database: one SQLite file, which a daemon reaches only while the host `database` is up and the network lets it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from sim_hardware.loop import Process, SimLoop
from sim_hardware.net import Net
from supernoded.clock import Clock
from supernoded.errors import JournalError
from supernoded.journal.leases import SERVER_TIME
from supernoded.journal.sqlite import SQLite
from supernoded.journal.store import Store
from supernoded.journal.writer import Journal

T = TypeVar("T")

PATIENCE = 3.0  # virtual seconds after which a client gives up a server that says nothing, as with PostgreSQL
PORT = 5432


class SimDatabase:
    """What is written survives `stop`, as on a disk.

    `stalled` = connections stand, and no statement ends; `lag` = seconds by which every answer comes late, though all was done.
    """

    def __init__(self, net: Net, *, host: str = "database") -> None:
        self.net, self.host = net, host
        self.process: Process | None = None
        self.stalled = False
        self.lag = 0.0

    def start(self) -> Process:
        """Start the server. Raises ValueError while it runs."""
        self.process = self.net.loop.spawn(self.host, self._serve)
        return self.process

    def stop(self) -> None:
        """Kill it: who is connected is told, and nobody can connect."""
        if self.process is not None:
            self.net.loop.kill(self.process)

    async def _serve(self) -> None:
        async with await self.net.loop.create_server(asyncio.Protocol, None, PORT) as server:
            await server.serve_forever()

    def open(self, node: str, file: Path, clock: Clock, log: logging.Logger) -> Journal:
        """A journal on it, as a daemon on the host `node` has one. `file` has the server's content, the same for all."""
        way = Way(self, node)
        journal = Journal(Store(_Remote(file, clock, way), None, clock, log), clock, way.carry, log)
        self.net.loop.on_close.append(journal.abandon)
        return journal


class Way:
    """The way from one host to the server."""

    def __init__(self, server: SimDatabase, node: str) -> None:
        self._server, self._node = server, node

    @property
    def loop(self) -> SimLoop:
        """The world's."""
        return self._server.net.loop

    def find_trouble(self) -> str:
        """Why nothing comes through now; empty = it does."""
        server = self._server
        if server.net.apart(self._node, server.host) or server.stalled:
            return f"{server.host} has not answered within {PATIENCE:g} s"
        if server.process is None or server.process.dead or server.process.paused:
            return f"connection to {server.host}:{PORT} refused: is the server running?"
        return ""

    def is_silent(self) -> bool:
        """Whether packets vanish, or the server never answers; one that is down refuses at once."""
        server = self._server
        paused = server.process is not None and server.process.paused
        return server.net.apart(self._node, server.host) or server.stalled or paused

    async def carry(self, work: Callable[[], T]) -> T:
        """Do the work on the server and bring its answer back. One that is lost on its way back has been done all the same."""
        await asyncio.sleep(PATIENCE if self.is_silent() else self._server.net.way())
        result = work()
        if self.is_silent():
            await asyncio.sleep(PATIENCE)
        await asyncio.sleep(self._server.lag + self._server.net.way())
        if trouble := self.find_trouble():
            raise JournalError(f"the answer was lost: {trouble}")
        return result


class _Remote(SQLite):
    """The server's file, as far as one host reaches it."""

    def __init__(self, path: Path, clock: Clock, way: Way) -> None:
        super().__init__(path, clock)
        self._way = way

    def connect(self) -> Connection:
        """See `Database.connect`."""
        self._refuse()
        connection = super().connect()
        connection.info[SERVER_TIME] = self._way.loop.wall
        return connection

    def start(self, connection: Connection, *, writing: bool, patient: bool = True) -> None:
        """See `Database.start`."""
        self._refuse()
        super().start(connection, writing=writing, patient=patient)

    def _refuse(self) -> None:
        if trouble := self._way.find_trouble():
            raise JournalError(trouble)

"""The daemon's side of jobs in memory: peers that say lines and keep what they are told."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import Any

from supernoded.job.protocol import FromDaemon, FromPeer, Hello, decode_daemon, encode
from supernoded.job.server import Server, Terms
from supernoded.testing import ManualClock

TERMS = Terms(node="n0", tokens={"secret": "s3cret"}, tiers=("/shm", "/disk"), silent_s=15.0, most_peers=8, lines_per_s=20)


class Wire(asyncio.Transport):
    """What a peer's socket would be."""

    def __init__(self) -> None:
        super().__init__()
        self.sent, self.unread, self.closed = b"", 0, False

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def get_write_buffer_size(self) -> int:
        return self.unread

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True


class Caller:
    """One connection to a server."""

    def __init__(self, server: Server) -> None:
        self.wire, self.peer = Wire(), server.accept()
        self.peer.connection_made(self.wire)

    def say(self, *messages: FromPeer) -> None:
        for message in messages:
            self.peer.data_received(encode(message))

    def hears(self) -> list[FromDaemon]:
        lines, self.wire.sent = self.wire.sent.splitlines(), b""
        return [decode_daemon(line) for line in lines]

    def hang_up(self) -> None:
        self.peer.connection_lost(None)


class Side:
    """A server with its clock, and what it said is news."""

    def __init__(self, **terms: Any) -> None:
        self.clock, self.news = ManualClock(), list[str]()
        self.server = Server(dataclasses.replace(TERMS, **terms), self.clock, logging.getLogger("test"), self.news.append)

    def dial(self) -> Caller:
        return Caller(self.server)

    def start_rank(self, rank: int, world: int = 2, job: str = "train", **more: Any) -> Caller:
        caller = self.dial()
        caller.say(Hello(v=1, job=job, kind="rank", rank=rank, world=world, **more))
        return caller

    def start_other(self, kind: Any, job: str = "train") -> Caller:
        caller = self.dial()
        caller.say(Hello(v=1, job=job, kind=kind))
        return caller

"""A few nodes that command each other, on the broker in memory and in virtual time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from sqlalchemy import select

from sim_hardware.fabric import Broker
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.net import Net
from supernoded import settings
from supernoded.cluster import topics
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.keyring import Keyring
from supernoded.cluster.commands.sealing import seal
from supernoded.cluster.commands.words import Command, Reply, answer_to
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session
from supernoded.errors import RefusedError, WireError
from supernoded.journal.rows import Question
from supernoded.journal.tables import requests as table
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import NODE
from supernoded.supervisor import Health
from tests.unit.cluster.fakes import MemoryStore
from tests.unit.cluster.nodekeys import make_issuer, make_seal_key, write_keys

LOG = logging.getLogger("supernoded.cluster.link.session")


@dataclass
class KnownRoles:
    """What a node knows of roles."""

    held: list[str] = field(default_factory=list)
    roles: Mapping[str, str] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)

    def epoch(self, role: str) -> int:
        return self.epochs.get(role, 0)

    def is_vacant(self, role: str) -> bool:
        return role not in self.held


class Life:
    """One life of one node's commander and session."""

    def __init__(self, site: Site, node: str, life: str, table: settings.Keys) -> None:
        self.node, self.clock = node, site.clocks.setdefault(node, SimClock(site.loop, node))
        self.journal: Journal = open_journal(site.folder / f"{node}.db", self.clock)
        site.loop.on_close.append(self.journal.abandon)
        self.session = Session(site.broker, node, "c0", life, self.clock, Outbox(MemoryStore(), self.clock, LOG), LOG)
        self.roles, self.health = KnownRoles(), Health(self.clock, LOG)
        self.keyring = Keyring(table, node, self.clock, self.health)
        who = Speaker(node, "c0", life)
        self.commander = Commander(who, self.keyring, self.session, self.journal, self.clock, self.roles, LOG)
        self.done: list[Command] = []
        self.hold_up = asyncio.Event()  # for `wait`
        self.commander.serve("do", self.do)
        self.commander.serve("look", self.do, changes=False)
        self.commander.serve("wait", self.wait)
        self.commander.serve("fail", self.fail)
        self.process = site.loop.spawn(node, self.run)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for work in (self.session.run, self.commander.run, self.journal.run):
                group.create_task(work())

    async def do(self, command: Command) -> Reply:
        self.done.append(command)
        return answer_to(command, f"done for {command.sender}")

    async def wait(self, command: Command) -> Reply:
        self.done.append(command)
        await self.hold_up.wait()
        return answer_to(command)

    async def fail(self, command: Command) -> Reply:
        raise {"refuse": RefusedError("the hold is missing"), "break": WireError("the line is cut")}.get(
            command.details["how"], ValueError("a slip of the hand")
        )

    async def requests(self) -> list[tuple[str, str]]:
        """Verb and answer of all that its journal has of commands."""
        await self.journal.flush()
        rows = select(table.c.verb, table.c.answer).order_by(table.c.id)
        return await self.journal.ask(Question(lambda connection: [(row.verb, row.answer) for row in connection.execute(rows)]))


class Site:
    """A broker and nodes with keys of one authority."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.loop, self.folder = SimLoop(seed), folder
        self.loop.leave_out(str(folder))
        self.broker = Broker(Net(self.loop))
        self.clocks: dict[str, SimClock] = {}
        self.issuer = make_issuer(now=self.loop.wall())

    def start(self, node: str, life: str = "life1", table: settings.Keys | None = None) -> Life:
        return Life(self, node, life, write_keys(self.folder, node, self.issuer, self.loop.wall()) if table is None else table)

    async def up(self, *lives: Life) -> None:
        while not all(life.session.state.connected for life in lives):
            await asyncio.sleep(0.1)

    def restart(self, old: Life, life: str = "life2", table: settings.Keys | None = None) -> Life:
        """Kill it, and start the node's next life."""
        self.loop.kill(old.process)
        return self.start(old.node, life, table)

    def command(self, *, to: str, response_topic: str, cluster: str = "c0", number: int = 0, sender: str = "n0") -> Message:
        """What a node may have signed, as somebody else has got hold of it."""
        now = self.loop.wall()
        said = Command(
            id=f"n0/{number}",
            cluster=cluster,
            sender=sender,
            life="life1",
            number=number,
            to=to,
            issued=now,
            expires=now + 3.0,
            scope=NODE,
            epoch=0,
            verb="do",
        )
        sealed = seal(msgspec.json.encode(said).decode(), make_seal_key(sender, self.issuer, now), "life1", now)
        return Message(topic=topics.command("c0", to), payload=topics.encode(sealed), response_topic=response_topic)

    async def tap(self, topic: str, heard: list[Message]) -> None:
        """An eavesdropper on the broker, until cancelled."""
        async with self.broker.connect("tap", Message(topic="tap", payload=b"")) as link:
            await link.subscribe([topic])
            async for message in link.messages():
                heard += [message]

    async def inject(self, *messages: Message) -> None:
        """Somebody whom the broker lets in says this."""
        async with self.broker.connect("thief", Message(topic="thief", payload=b"")) as link:
            for message in messages:
                await link.publish(message)


async def until(holds: Callable[[], object], seconds: float = 60.0, pause: float = 0.05) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(pause)

"""The side that is asked: what comes is opened, judged, numbered, done, and answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.commands.admission import Admission, No, Roles
from supernoded.cluster.commands.flood import PER_SECOND, Flood
from supernoded.cluster.commands.keyring import Keyring
from supernoded.cluster.commands.sealing import open_seal
from supernoded.cluster.commands.words import Command, Reply, read_command, shift
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import PayloadError, Sealed
from supernoded.errors import JournalError, RefusedError, SealError, WireError
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.supervisor import bounded

WAITING = 256  # commands that may wait to be looked at (ours)
AT_WORK = 128  # commands that are worked on at once: more are refused (ours)
ANOTHER = -1  # uid in the journal's requests: not a user of this machine, but another node

Serve = Callable[[Command], Awaitable[Reply]]
Answer = Callable[[Command, Reply, str, bytes], None]


class Asked(NamedTuple):
    """A command whose seal is good, and where its answer goes."""

    command: Command
    key: str  # whose numbers these are: sender and fingerprint
    topic: str
    correlation: bytes


class Desk:
    """Takes commands to one node. `answer` says what came of one."""

    def __init__(
        self, who: Speaker, keyring: Keyring, journal: Journal, clock: Clock, roles: Roles, log: logging.Logger, answer: Answer
    ) -> None:
        self._who, self._keyring, self._journal, self._clock = who, keyring, journal, clock
        self._answer, self._log = answer, log
        self._flooding: set[str] = set()  # who is told of already
        self.handlers: dict[str, tuple[Serve, bool]] = {}
        self._admission, self._flood = Admission(who, journal, clock, roles), Flood()
        self._inbox: asyncio.Queue[Asked] = asyncio.Queue(WAITING)
        self._at_work = 0

    def hear(self, message: Message) -> None:
        """Take in one message; it is worked on by `run`. Raises PayloadError for what no node of ours has sealed."""
        authority = self._keyring.keys.authority
        if authority is None:
            raise PayloadError("commands of other nodes are not taken: keys.ca_file is not set")
        try:
            sender, body = open_seal(topics.decode(message.payload, Sealed), authority, self._clock.wall())
            command = read_command(body, sender.name)
        except SealError as error:
            if error.sender and self._let_in(error.sender):
                self._record(error.sender, "?", "", f"refused: {error}")
            raise PayloadError(f"not a command: {error}") from error
        if not self._let_in(sender.name):
            return
        if message.response_topic == topics.answer(self._who.cluster, sender.name):
            self._queue(Asked(command, f"{sender.name} {sender.fingerprint}", message.response_topic, message.correlation))
        else:
            self._record(sender.name, command.verb, command.id, f"refused: its answer is to go to {message.response_topic[:200]!r}")

    def _let_in(self, sender: str) -> bool:
        well = self._flood.let_in(sender, self._clock.now())
        if well and self._flood.is_calm(sender):
            self._flooding.discard(sender)
        elif not well and sender not in self._flooding:
            self._flooding.add(sender)
            text = f"{sender} sends more than {PER_SECOND:g} commands a second: some are dropped"
            self._log.error("%s", text)
            self._record(sender, "?", "", f"refused: {text}")
        return well

    def _queue(self, asked: Asked) -> None:
        try:
            self._inbox.put_nowait(asked)
        except asyncio.QueueFull:
            self._turn_away(asked, No(f"{WAITING} commands wait here already"))

    async def run(self) -> None:
        """Work on what has come, each command in a task of its own, until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                asked = await self._inbox.get()
                if await self._may_begin(asked):
                    self._at_work += 1
                    group.create_task(self._work(asked), name=f"command {asked.command.id}")

    async def _may_begin(self, asked: Asked) -> bool:
        """In the order in which they came."""
        command = asked.command
        if self._admission.is_repeated(command, asked.key):
            return False
        changes = self.handlers.get(command.verb, (None, False))[1]
        no = await self._admission.judge(command, asked.key, changes=changes)
        if no is None and command.verb not in self.handlers:
            no = No(f"this daemon knows no command `{command.verb[:80]}`: run one version on all nodes")
        if no is None and self._at_work >= AT_WORK:
            no = No(f"{AT_WORK} commands are worked on here already")
        if no is not None:
            self._turn_away(asked, no)
        return no is None

    async def _work(self, asked: Asked) -> None:
        command = asked.command
        try:
            serve, changes = self.handlers[command.verb]
            if changes:
                try:
                    await self._admission.keep(command, asked.key)
                except JournalError as error:
                    self._turn_away(asked, No(f"its number cannot be kept, so that it might be taken twice: {error}", failed=True))
                    return
            left = max(command.expires - self._clock.wall(), 0.1)
            reply = await self._serve(serve, command, left)
            if changes:
                answer = "done" if reply.ok else reply.text
                self._record(command.sender, command.verb, describe(command), answer + self._admission.say_unknown(command.scope))
            self._answer(command, reply, asked.topic, asked.correlation)
        finally:
            self._at_work -= 1

    async def serve_here(self, command: Command, within: float) -> Reply:
        """What this node asks itself."""
        if command.verb not in self.handlers:
            return Reply(command=command.id, node=self._who.node, ok=False, text=f"this daemon knows no command `{command.verb}`")
        return await self._serve(self.handlers[command.verb][0], command, within)

    async def _serve(self, serve: Serve, command: Command, within: float) -> Reply:
        """By the handler, with times on our own scale."""
        ours = msgspec.structs.replace(command, action=shift(command.action, self._clock.now() - self._clock.wall()))
        try:
            return await bounded(_call(serve, ours), within, f"`{command.verb}` on {self._who.node}")
        except RefusedError as error:
            return Reply(command=command.id, node=self._who.node, ok=False, text=str(error))
        except WireError as error:
            return Reply(command=command.id, node=self._who.node, ok=False, failed=True, text=str(error))

    # What is not done --------------------------------------------------------------------------------------------------------------

    def _turn_away(self, asked: Asked, no: No) -> None:
        command = asked.command
        self._record(command.sender, command.verb, describe(command), f"refused: {no.text}")
        reply = Reply(command=command.id, node=self._who.node, ok=False, failed=no.failed, text=no.text)
        self._answer(command, reply, asked.topic, asked.correlation)

    def _record(self, sender: str, verb: str, detail: str, answer: str) -> None:
        self._journal.post(entries.record_request(self._clock.now(), ANOTHER, 0, f"command {verb[:80]} of {sender}", detail, answer))


async def _call(serve: Serve, command: Command) -> Reply:
    return await serve(command)


def describe(command: Command) -> str:
    """What it is about, in a few words for the journal."""
    step = command.action.step if command.action is not None else None
    what = (
        [f"{step.kind} on {step.target}: {step.reason}"]
        if step is not None
        else [f"{key}={value}" for key, value in command.details.items()]
    )
    return f"{command.id} for {command.scope} at epoch {command.epoch}; {', '.join(what)[:400]}"

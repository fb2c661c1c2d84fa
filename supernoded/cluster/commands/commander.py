"""Ask other nodes to do something and serve what they ask: signed, expiring, each command taken once."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping

import msgspec

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.commands.admission import Roles
from supernoded.cluster.commands.keyring import Keyring
from supernoded.cluster.commands.numbers import Numbers
from supernoded.cluster.commands.sealing import SealKey, open_seal, seal
from supernoded.cluster.commands.serving import Desk, Serve
from supernoded.cluster.commands.words import Command, Reply, read_reply, shift
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.session import Session
from supernoded.cluster.topics import PayloadError, Sealed
from supernoded.errors import JournalError, RefusedError, SealError, UnansweredError, WireError
from supernoded.journal.writer import Journal
from supernoded.model import NODE, Action, Word

WITHIN = 3.0  # seconds for an answer
MOST_TEXT = 1_000  # characters of another's sentence that go into ours


class Commander:
    """Both sides of one node. `run` serves; `ask` works without it."""

    def __init__(
        self, who: Speaker, keyring: Keyring, session: Session, journal: Journal, clock: Clock, roles: Roles, log: logging.Logger
    ) -> None:
        self.node = who.node
        self._who, self._keyring, self._session, self._clock = who, keyring, session, clock
        self._numbers = Numbers(journal, clock)
        self._desk = Desk(who, keyring, journal, clock, roles, log, self._answer)
        self._waiting: dict[str, tuple[str, asyncio.Future[Reply]]] = {}  # command id -> who was asked, and what is awaited
        self.late = 0  # answers that nobody waits for any more
        session.on(topics.command(who.cluster, who.node), self._desk.hear)
        session.on(topics.answer(who.cluster, who.node), self._hear_answer)

    def serve(self, verb: str, handler: Serve, *, changes: bool = True) -> None:
        """Answer `verb` by `handler`; with `changes` the command's number is durable before it is called.

        It raises RefusedError for what is not done, another WireError for what may have been done, or answers with a Reply of its own
        making (`answer_to`). It is bounded by the command's expiry.
        """
        self._desk.handlers[verb] = (handler, changes)

    async def run(self) -> None:
        """Serve what the others ask, until cancelled."""
        await self._desk.run()

    async def ask(
        self,
        node: str,
        verb: str,
        *,
        action: Action | None = None,
        details: Mapping[str, str] | None = None,
        scope: str = NODE,
        epoch: int = 0,
        within: float = WITHIN,
    ) -> Reply:
        """The answer of `node`, within so many seconds; times of an action are on this node's `Clock.now`.

        Raises RefusedError when it says no, and WireError when there is no key, no link or no answer, or it may have been done by half.
        What a node asks itself takes neither key nor broker.
        """
        own = self._keyring.keys.own
        if own is None and node != self.node:
            raise WireError(
                f"{node} cannot be asked: this node has no key to sign with; `supernodectl pki issue {self.node}`, then set [keys]"
            )
        number = await self._find_number(own) if own is not None and node != self.node else 0
        now = self._clock.wall()
        command = Command(
            id=f"{self.node}/{number}",
            cluster=self._who.cluster,
            sender=self.node,
            life=self._who.life,
            number=number,
            to=node,
            issued=now,
            expires=now + within,
            scope=scope,
            epoch=epoch,
            verb=verb,
            action=shift(action, now - self._clock.now()),
            details=details or {},
        )
        reply = await (
            self._send(command, own, within) if own is not None and node != self.node else self._desk.serve_here(command, within)
        )
        if not reply.ok:
            raise (WireError if reply.failed else RefusedError)(f"{node}: {reply.text[:MOST_TEXT]}")
        return reply

    async def _find_number(self, own: SealKey) -> int:
        try:
            return await self._numbers.next(f"{own.identity.name} {own.identity.fingerprint}")
        except JournalError as error:
            raise WireError(f"no command can be numbered, so none is sent: {error}") from error

    async def _send(self, command: Command, own: SealKey, within: float) -> Reply:
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[command.id] = command.to, answer
        try:
            sent = self._session.publish(
                topics.command(self._who.cluster, command.to),
                self._seal(command, own),
                qos=1,
                expiry=math.ceil(within),
                response_topic=topics.answer(self._who.cluster, self.node),
                correlation=command.id.encode(),
            )
            if not sent:
                state = self._session.state
                why = "more waits for the broker than it takes" if state.connected else f"no link to the broker, {state.text}"
                raise WireError(f"{command.to} cannot be asked: {why}")
            async with asyncio.timeout(within):
                return await answer
        except TimeoutError as error:
            raise UnansweredError(f"{command.to} has not answered `{command.verb}` within {within:g} s") from error
        finally:
            del self._waiting[command.id]

    def _seal(self, word: Word, own: SealKey) -> bytes:
        try:
            body = msgspec.json.encode(word).decode()
            return topics.encode(seal(body, own, self._who.life, self._clock.wall()))
        except (PayloadError, UnicodeEncodeError) as error:
            raise WireError(f"it cannot be sent: {error}") from error

    def _answer(self, command: Command, reply: Reply, topic: str, correlation: bytes) -> None:
        """Say what came of a command; a key that is gone by now leaves its sender waiting."""
        own = self._keyring.keys.own
        if own is not None:
            try:
                data = self._seal(reply, own)
            except WireError as error:
                data = self._seal(Reply(command=reply.command, node=reply.node, ok=False, failed=True, text=str(error)), own)
            expiry = max(math.ceil(command.expires - self._clock.wall()), 1)
            self._session.publish(topic, data, qos=1, expiry=expiry, correlation=correlation)

    def _hear_answer(self, message: Message) -> None:
        """Raises PayloadError for what no node of ours has sealed."""
        authority = self._keyring.keys.authority
        if authority is None:
            raise PayloadError("an answer cannot be checked: keys.ca_file is not set")
        try:
            sender, body = open_seal(topics.decode(message.payload, Sealed), authority, self._clock.wall())
            reply = read_reply(body, sender.name)
        except SealError as error:
            raise PayloadError(f"not an answer: {error}") from error
        asked, answer = self._waiting.get(reply.command, ("", None))
        if answer is None or answer.done():
            self.late += 1
        elif asked == reply.node:
            answer.set_result(reply)
        else:
            raise PayloadError(f"{reply.node} answers what {asked} was asked")

"""What a vault does for its peers: takes their parts into its memory, says what it has, and gives it back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held, Tier, read_catalogue, read_part
from supernoded.job.vault.files import Files
from supernoded.job.vault.peers.carrying import receive_part, send_part
from supernoded.job.vault.peers.channel import Channel, split_address
from supernoded.job.vault.peers.store import Store
from supernoded.job.vault.peers.words import MOST_LINE, Ask, Known, Parts, Push, Ready, Refused, Stored, Want, Word, encode
from supernoded.job.vault.records import Saved, check_saved

IDLE_S = 300.0  # seconds after which a peer that says nothing is left; it dials again when there is something (ours)
RETRY_S = 15.0  # seconds before an address that could not be bound is tried again (ours)


class Service:
    """The listening side. `trouble` says why nobody can reach it; empty when all is well."""

    def __init__(
        self, store: Store, files: Files, shared: Tier, secret: str, address: str, most: int, patience: float, log: logging.Logger
    ) -> None:
        self._store, self._files, self._shared, self._secret, self._address = store, files, shared, secret, address
        self._most, self._patience, self._log = most, patience, log
        self._writers: set[asyncio.StreamWriter] = set()
        self._strangers: dict[str, None] = {}  # hosts that were turned away: told once each
        self.trouble = ""

    async def run(self) -> None:
        """For ever."""
        host, port = split_address(self._address)
        while True:
            try:
                self._store.open()
                server = await asyncio.start_server(self._serve, host, port, limit=MOST_LINE)
            except OSError as error:
                self.trouble = f"no peer can reach this vault at {self._address}: {error.strerror or error}"
                await asyncio.sleep(RETRY_S)
                continue
            self.trouble = ""
            bound = server.sockets[0].getsockname()
            self._log.info("listens for peers at %s:%d, their parts go to %s", bound[0], bound[1], self._store.tier.root)
            try:
                await asyncio.Event().wait()
            finally:
                server.close()
                for writer in tuple(self._writers):
                    writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection. Whatever ends it, the others go on."""
        host = str(writer.get_extra_info("peername", ("?",))[0])
        channel = Channel(reader, writer, self._patience)
        self._writers.add(writer)
        try:
            if len(self._writers) > self._most:
                await channel.say(Refused(why=f"{self._most} peers are connected, the limit of vault.peer.most_connections"))
                return
            if await self._welcome(channel, host):
                await self._listen(channel, host)
        except (OSError, VaultError) as error:
            self._log.debug("peer %s: %s", host, error)
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _welcome(self, channel: Channel, host: str) -> bool:
        """Whether it has the secret."""
        try:
            await channel.welcome(self._secret)
        except VaultError as error:
            if host not in self._strangers:
                self._log.warning("%s is turned away: %s", host, error)
                self._strangers = dict.fromkeys([*self._strangers, host][-self._most :])
            await channel.say(Refused(why=str(error)))
            return False
        if self._strangers.pop(host, self) is None:
            self._log.info("%s is taken in now", host)
        return True

    async def _listen(self, channel: Channel, host: str) -> None:
        while True:
            word: Word = await channel.hear_any(within=IDLE_S)
            match word:
                case Push():
                    await self._take(channel, word, host)
                case Ask(job=job):
                    await channel.say(Parts(parts=tuple(_fit(self._find(job)))))
                case Want():
                    await self._give(channel, word)
                case _:
                    raise VaultError(f"{type(word).__name__} is nothing to begin with")

    async def _take(self, channel: Channel, push: Push, host: str) -> None:
        """A part is offered. A refusal is an answer; what breaks in the middle of its files ends the connection."""
        try:
            saved = check_saved(push.saved, push.saved.step, push.saved.rank)
            if self._store.has(push.job, saved):
                await channel.say(Known())
                return
            with self._store.expect(push.job, saved) as target:
                await channel.say(Ready())
                await receive_part(channel, self._files, target, saved, self._store.pen)
        except VaultError as error:
            await channel.say(Refused(why=str(error)))
            return
        except OSError as error:
            if error.filename is None:
                raise  # of the connection
            await channel.say(Refused(why=f"{error.filename}: {error.strerror}"))
            raise
        await channel.say(Stored())
        self._log.info("rank %d of step %d of %s is in memory here, from %s", saved.rank, saved.step, push.job, host)

    async def _give(self, channel: Channel, want: Want) -> None:
        for tier in (self._shared, self._store.tier):
            held = read_part(self._files, tier, want.job, want.step, want.rank)
            if held.saved is not None and not held.fault:
                await channel.say(Ready(saved=held.saved))
                await send_part(channel, self._files, held, held.saved)
                return
        await channel.say(Refused(why=f"rank {want.rank} of step {want.step} of {want.job} is not here"))

    def _find(self, job: str) -> Sequence[Held]:
        """Good parts here, of peers and of this node's own ranks, the newest first."""
        own = [one for one in read_catalogue(self._files, self._shared, job).parts if one.saved is not None and not one.fault]
        return sorted([*own, *self._store.find(job)], key=lambda one: -one.step)


def _fit(parts: Sequence[Held]) -> Iterator[Saved]:
    """As many records as go into one answer."""
    left = MOST_LINE // 2
    for saved in [one.saved for one in parts if one.saved is not None]:
        left -= len(encode(Ready(saved=saved)))
        if left < 0:
            return
        yield saved

"""One connection between two vaults: lines that carry a proof of who said them and in which order, and bytes. Every wait is bounded.

Both sides show that they have the secret before anything else is said. Lines are authenticated from then on, files by the hashes in the
line that follows them. Nothing is encrypted: the tier is for the network between the nodes.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from supernoded.errors import VaultError
from supernoded.job.vault.peers.words import MOST_LINE, VERSION, Challenge, Hello, Proof, Refused, W, Word, decode, encode

MARK = 64  # characters of a line's proof, with a space after them
GREET_WITHIN = 5.0  # seconds for each step of the greeting (ours)
LONGEST_GREETING = 1000  # bytes of a line before the other has shown who it is
CLIENT, SERVER = b"client", b"server"


class Channel:
    """One side of a connection. Raises OSError when it breaks or is silent, VaultError for what should not have been said."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float) -> None:
        self._reader, self._writer, self._patience = reader, writer, patience
        self._key = b""
        self._ours, self._theirs = CLIENT, SERVER
        self._said = self._heard = 0

    async def greet(self, node: str, secret: str) -> None:
        """The side that dials. Raises VaultError when the other refuses, or has not the secret."""
        mine = secrets.token_hex(32)
        await self.say(Hello(v=VERSION, node=node, nonce=mine))
        theirs = (await self.hear(Challenge, within=GREET_WITHIN)).nonce
        await self.say(Proof(proof=_prove(secret, CLIENT, mine, theirs)))
        told = await self.hear(Proof, within=GREET_WITHIN)
        if not hmac.compare_digest(told.proof, _prove(secret, SERVER, mine, theirs)):
            raise VaultError("it has not our secret; give both vaults the same file in vault.peer.secret")
        self._key = _derive(secret, mine, theirs)

    async def welcome(self, secret: str) -> str:
        """The side that listens; the name of the node that dialled. Raises VaultError when it has not the secret."""
        self._ours, self._theirs = SERVER, CLIENT
        hello = await self.hear(Hello, within=GREET_WITHIN, most=LONGEST_GREETING)
        if hello.v != VERSION:
            raise VaultError(f"it speaks version {hello.v}, and we {VERSION}")
        mine = secrets.token_hex(32)
        await self.say(Challenge(nonce=mine))
        told = await self.hear(Proof, within=GREET_WITHIN, most=LONGEST_GREETING)
        if not hmac.compare_digest(told.proof, _prove(secret, CLIENT, hello.nonce, mine)):
            raise VaultError("it has not our secret; give both vaults the same file in vault.peer.secret")
        await self.say(Proof(proof=_prove(secret, SERVER, hello.nonce, mine)))
        self._key = _derive(secret, hello.nonce, mine)
        return hello.node

    async def say(self, word: Word) -> None:
        """One line."""
        body = encode(word)
        mark = self._mark(self._ours, self._said, body)
        self._said += bool(self._key)
        self._writer.write(mark + body + b"\n")
        await self._drain()

    async def hear(self, kind: type[W], *, within: float | None = None, most: int = MOST_LINE) -> W:
        """One line, which must be of this kind. Raises VaultError for any other, with the other's words where it refuses."""
        word = await self.hear_any(within=within, most=most)
        if isinstance(word, Refused):
            raise VaultError(word.why[:500])
        if not isinstance(word, kind):
            raise VaultError(f"{kind.__name__} is due, and {type(word).__name__} came")
        return word

    async def hear_any(self, *, within: float | None = None, most: int = MOST_LINE) -> Word:
        """One line."""
        try:
            async with asyncio.timeout(self._patience if within is None else within):
                line = (await self._reader.readuntil(b"\n"))[:-1]
        except TimeoutError as error:
            raise TimeoutError("it does not answer") from error
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("it has hung up") from error
        except asyncio.LimitOverrunError as error:
            raise VaultError(f"a line of more than {MOST_LINE} bytes") from error
        if len(line) > most:
            raise VaultError(f"a line of {len(line)} bytes, and {most} are taken")
        if not self._key:
            return decode(line)
        mark, body = line[: MARK + 1], line[MARK + 1 :]
        if not hmac.compare_digest(mark, self._mark(self._theirs, self._heard, body)):
            raise VaultError("a line that was not said by the one we greeted")
        self._heard += 1
        return decode(body)

    async def send(self, data: bytes) -> None:
        """Bytes of a file."""
        self._writer.write(data)
        await self._drain()

    async def receive(self, most: int) -> bytes:
        """At least one byte of a file, and at most so many."""
        try:
            async with asyncio.timeout(self._patience):
                data = await self._reader.read(most)
        except TimeoutError as error:
            raise TimeoutError("it sends nothing more") from error
        if not data:
            raise ConnectionResetError("it has hung up in the middle of a file")
        return data

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._writer.drain()
        except TimeoutError as error:
            raise TimeoutError("it takes nothing more") from error

    def _mark(self, side: bytes, number: int, body: bytes) -> bytes:
        if not self._key:
            return b""
        return hmac.digest(self._key, b"%s %d %s" % (side, number, body), "sha256").hex().encode() + b" "


@asynccontextmanager
async def dial(address: str, node: str, secret: str, patience: float) -> AsyncIterator[Channel]:
    """A greeted channel to a peer. Raises OSError, VaultError."""
    host, port = split_address(address)
    try:
        async with asyncio.timeout(GREET_WITHIN):
            reader, writer = await asyncio.open_connection(host, port, limit=MOST_LINE)
    except TimeoutError as error:
        raise TimeoutError("it does not answer") from error
    try:
        channel = Channel(reader, writer, patience)
        await channel.greet(node, secret)
        yield channel
    finally:
        writer.close()


def split_address(address: str) -> tuple[str, int]:
    """`10.0.0.2:7474`, `[fd00::2]:7474`."""
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _prove(secret: str, side: bytes, client: str, server: str) -> str:
    return hmac.digest(secret.encode(), b"supernoded-vault %d %s %s %s" % (VERSION, side, client.encode(), server.encode()), "sha256").hex()


def _derive(secret: str, client: str, server: str) -> bytes:
    return bytes.fromhex(_prove(secret, b"key", client, server))

"""What two vaults say to each other over TCP: one JSON object a line, told apart by `t`, and after some of them the bytes of files.

client            server
hello        ->
             <-   challenge
proof        ->
             <-   proof
push         ->                      a part is offered
             <-   ready | known | refused
files, hashes ->
             <-   stored | refused
ask          ->                      which parts of a job are there
             <-   parts
want         ->                      one of them
             <-   ready, files, hashes | refused
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from supernoded.errors import VaultError
from supernoded.job.protocol import Name, RankNumber, Step
from supernoded.job.vault.records import Saved

VERSION = 1
MOST_LINE = 1_000_000  # bytes of one message; ours: a rank with 10,000 files of long names

Nonce = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Word(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="t"):
    """What all share."""


class Hello(Word, frozen=True, kw_only=True, tag="hello"):
    """Who dials, and what the other is to prove itself by."""

    v: int
    node: Name
    nonce: Nonce


class Challenge(Word, frozen=True, kw_only=True, tag="challenge"):
    """What the one that dials is to prove itself by."""

    nonce: Nonce


class Proof(Word, frozen=True, kw_only=True, tag="proof"):
    """HMAC-SHA256 by the shared secret over both nonces and the side that speaks. The server says its own only after a good one."""

    proof: Nonce


class Push(Word, frozen=True, kw_only=True, tag="push"):
    """A part that is whole in shared memory."""

    job: Name
    saved: Saved


class Ask(Word, frozen=True, kw_only=True, tag="ask"):
    """Which parts of a job are there."""

    job: Name


class Want(Word, frozen=True, kw_only=True, tag="want"):
    """One of them."""

    job: Name
    step: Step
    rank: RankNumber


class Parts(Word, frozen=True, kw_only=True, tag="parts"):
    """The newest first, of one job."""

    parts: tuple[Saved, ...] = ()


class Ready(Word, frozen=True, kw_only=True, tag="ready"):
    """To a push: send the files, in the order of the record. To a want: here they come, of this record."""

    saved: Saved | None = None


class Hashes(Word, frozen=True, kw_only=True, tag="hashes"):
    """After the files: the SHA-256 of each as it was read; `why` = the part is void, it has changed meanwhile."""

    files: dict[str, Nonce] = {}
    why: str = ""


class Known(Word, frozen=True, kw_only=True, tag="known"):
    """This very part is there already."""


class Stored(Word, frozen=True, kw_only=True, tag="stored"):
    """It has its name now, and every hash held."""


class Refused(Word, frozen=True, kw_only=True, tag="refused"):
    """It is not taken, or not there. The connection goes on, unless it was refused itself."""

    why: str


Words = Hello | Challenge | Proof | Push | Ask | Want | Parts | Ready | Hashes | Known | Stored | Refused
W = TypeVar("W", bound=Word)

_DECODE = msgspec.json.Decoder(Words)
_ENCODE = msgspec.json.Encoder()


def encode(word: Word) -> bytes:
    """Without its line end."""
    return _ENCODE.encode(word)


def decode(line: bytes) -> Words:
    """Raises VaultError for anything else."""
    try:
        return _DECODE.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise VaultError(f"a peer said what is not understood: {str(error)[:200]}") from error

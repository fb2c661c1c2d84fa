"""The small JSON files beside the data: what the rank says, the hashes, what a node has made durable, and that a step is whole."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Literal, TypeVar

import msgspec

from supernoded.errors import VaultError
from supernoded.job.vault.names import MOST_RANK, MOST_STEP, is_content

MOST_RECORD = 16_000_000  # bytes of one; a whole manifest of 100,000 ranks has 8 MB
LATEST = 1e11  # seconds since 1970: year 5138, so that no sum of times overflows

T = TypeVar("T", bound=msgspec.Struct)


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """`rank.json`, by the rank. `run` tells one start of the job from the next, where it says so: parts of two runs make no step."""

    rank: int
    world: int
    step: int
    taken: float  # Unix seconds
    files: dict[str, int]  # name -> bytes
    node: str = ""
    run: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())


class Sum(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file: its size and hash, and where it is packed those of what is stored."""

    size: int
    sha256: str
    stored_size: int = -1
    stored_sha256: str = ""


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """`sums.json`, by the vault. A file that is packed has `.zst` after its name."""

    v: int
    pack: Literal["none", "zstd"]
    files: dict[str, Sum]

    def name_stored(self, name: str) -> str:
        """What the file is called on this tier."""
        return f"{name}.zst" if self.pack == "zstd" else name

    def expect_stored(self, name: str) -> tuple[int, str]:
        """Size and hash of what lies on this tier."""
        one = self.files[name]
        return (one.stored_size, one.stored_sha256) if self.pack == "zstd" else (one.size, one.sha256)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A durable part in a manifest; `digest` is the SHA-256 of its `sums.json`, which has the hashes of its files."""

    digest: str
    world: int
    run: str
    taken: float
    size: int  # bytes before packing


class NodeManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`node-<name>.json`: the parts of a step that this node's vault has made durable."""

    v: int
    step: int
    node: str
    parts: dict[int, Entry]


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """`whole.json`: every rank's part of a step is durable. `by` is the node that saw it first, at `at`."""

    v: int
    step: int
    world: int
    run: str
    taken: float  # when the last rank saved
    size: int
    parts: dict[int, str]  # rank -> digest
    by: str
    at: float


def encode(record: msgspec.Struct) -> bytes:
    """As it stands in its file."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def decode(kind: type[T], data: bytes) -> T:
    """Raises VaultError for anything that is not one."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise VaultError(f"is no {kind.__name__} record: {error}") from error


def find_digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def decode_saved(data: bytes, step: int, rank: int) -> Saved:
    """A rank's record, which must be of this step and rank. Raises VaultError that says what is wrong."""
    return check_saved(decode(Saved, data), step, rank)


def check_saved(saved: Saved, step: int, rank: int) -> Saved:
    """The same record, when it can be one of this step and rank. Raises VaultError."""
    if (saved.step, saved.rank) != (step, rank):
        raise VaultError(f"is of step {saved.step} and rank {saved.rank}, and lies in the folder of step {step} and rank {rank}")
    if not 0 <= saved.rank < saved.world <= MOST_RANK + 1 or not 0 <= saved.step <= MOST_STEP:
        raise VaultError(f"has step {saved.step} and rank {saved.rank} of a world of {saved.world}")
    if not (math.isfinite(saved.taken) and 0 <= saved.taken <= LATEST):
        raise VaultError(f"was taken at {saved.taken}, which is no time")
    for name, size in saved.files.items():
        if not is_content(name) or size < 0:
            raise VaultError(f"lists {name[:80]!r} with {size} bytes, which is no file of a checkpoint")
    if not saved.files:
        raise VaultError("lists no file")
    return saved


def decode_sums(data: bytes, saved: Saved) -> Sums:
    """The hashes of a part, which must be of the files that its rank saved. Raises VaultError."""
    sums = decode(Sums, data)
    sizes = {name: one.size for name, one in sums.files.items()}
    if sizes != saved.files:
        raise VaultError("has other files or sizes than rank.json")
    return sums


def decode_whole(data: bytes, step: int) -> Whole:
    """A step's manifest. Raises VaultError."""
    whole = decode(Whole, data)
    if whole.step != step:
        raise VaultError(f"is of step {whole.step}")
    if not 0 < whole.world <= MOST_RANK + 1 or set(whole.parts) != set(range(whole.world)):
        raise VaultError(f"has {len(whole.parts)} parts for a world of {whole.world}")
    return whole


def make_entry(saved: Saved, sums: bytes) -> Entry:
    """The line of a part in a manifest; `sums` is its `sums.json`."""
    return Entry(digest=find_digest(sums), world=saved.world, run=saved.run, taken=saved.taken, size=saved.size)


def agree(parts: Mapping[int, Entry]) -> str:
    """Why these parts make no whole step; empty when they do."""
    worlds, runs = {one.world for one in parts.values()}, {one.run for one in parts.values()}
    if len(worlds) > 1 or len(runs) > 1:
        return f"its parts are of {len(worlds)} worlds and {len(runs)} runs"
    world = next(iter(worlds), 0)
    lost = [rank for rank in range(world) if rank not in parts]
    if lost or not parts:
        return f"{len(lost)} of {world} parts are not there, the first is rank {lost[0]}" if lost else "it has no part"
    return ""

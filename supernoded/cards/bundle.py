"""A bundle of evidence as bytes: members, an archive of them, and a manifest with the hash of each. Pure."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping

import msgspec
import zstandard

from supernoded.errors import WireError
from supernoded.journal.rows import to_body

MOST_ARCHIVE = 4_000_000  # bytes (ours)
MOST_MEMBER = 2_000_000  # bytes of one before it is packed (ours)
LEVEL = 3  # of zstd


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a bundle. `cut` = bytes that were left away, from the older end."""

    name: str
    size: int
    sha256: str
    cut: int = 0


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a bundle, why it was made, and what is missing in it, a sentence each. `at` in Unix seconds."""

    schema: int = 1
    incident: str
    subject: str
    serial: str
    node: str
    at: float
    reason: str
    archive: str  # its file name
    size: int
    sha256: str
    members: tuple[Member, ...]
    missing: tuple[str, ...] = ()


def to_lines(words: Iterable[msgspec.Struct]) -> bytes:
    """JSON lines."""
    return b"".join(to_body(word).encode() + b"\n" for word in words)


def cut_to(data: bytes, most: int) -> bytes:
    """The newest lines of `data` that fit: what is older stands first, and goes."""
    if len(data) <= most:
        return data
    kept = data[len(data) - most :]
    return kept[kept.find(b"\n") + 1 :] if b"\n" in kept else b""


def pack(files: Mapping[str, bytes], at: float, most: int = MOST_ARCHIVE) -> tuple[bytes, tuple[Member, ...]]:
    """The archive and what is in it. Raises WireError when even little of it does not fit, which no text does."""
    bound = MOST_MEMBER
    while bound:
        cut = {name: cut_to(data, bound) for name, data in sorted(files.items())}
        archive = zstandard.ZstdCompressor(level=LEVEL).compress(_make_tar(cut, at))
        if len(archive) <= most:
            return archive, tuple(_describe(name, data, len(files[name])) for name, data in cut.items())
        bound //= 2
    raise WireError(f"the evidence does not fit into {most:,} bytes")


def _describe(name: str, data: bytes, whole: int) -> Member:
    return Member(name=name, size=len(data), sha256=hash_bytes(data), cut=whole - len(data))


def _make_tar(files: Mapping[str, bytes], at: float) -> bytes:
    page = io.BytesIO()
    with tarfile.open(fileobj=page, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), int(at), 0o600
            tar.addfile(entry, io.BytesIO(data))
    return page.getvalue()


def hash_bytes(data: bytes) -> str:
    """SHA-256 as hex digits."""
    return hashlib.sha256(data).hexdigest()

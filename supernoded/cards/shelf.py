"""Where bundles of evidence lie: one folder an incident, in the state folder; the oldest go when there are too many."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from supernoded.cards.bundle import MOST_ARCHIVE, Manifest, hash_bytes
from supernoded.errors import WireError
from supernoded.wire.hop import Hop

MOST_BUNDLES = 50  # ours
MOST_BYTES = 200_000_000  # ours
MOST_MANIFEST = 1_000_000  # bytes; ours are some kB
WITHIN = 1.5  # seconds for one hop to the file system (ours)
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def name_bundle(subject: str) -> str:
    """How the files of a subject are named: `n0-card3`."""
    return _ODD.sub("-", subject).strip(".-") or "subject"


@dataclass(frozen=True)
class _Kept:
    manifest: Path
    archive: Path
    size: int
    changed: float


class Shelf:
    """The folder. Every wait ends after WITHIN seconds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hop = Hop()

    async def put(self, manifest: Manifest, archive: bytes) -> Path:
        """Write a bundle whole, the manifest last, and let old ones go. Raises WireError naming the file and the reason."""
        return await self._hop.run(str(self.folder), lambda: self._put(manifest, archive), WITHIN)

    async def find(self, incident: str, subject: str) -> Manifest | None:
        """The manifest of a bundle that is there and whole; None when there is none. Raises WireError for one that is not whole."""
        return await self._hop.run(str(self.folder), lambda: self._find(incident, subject), WITHIN)

    def place(self, incident: str, subject: str) -> tuple[Path, Path]:
        """Manifest and archive of a subject."""
        folder, name = self.folder / name_bundle(incident), name_bundle(subject)
        return folder / f"{name}.manifest.json", folder / f"{name}.tar.zst"

    def _put(self, manifest: Manifest, archive: bytes) -> Path:
        listed, packed = self.place(manifest.incident, manifest.subject)
        try:
            packed.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            listed.unlink(missing_ok=True)  # what is replaced is no bundle until its manifest says so
            _write(packed, archive)
            _write(listed, msgspec.json.format(msgspec.json.encode(manifest)))
            self._trim(listed)
        except OSError as error:
            raise WireError(
                f"{error.filename or packed}: the evidence is not kept: {error.strerror or error}; make room in {self.folder}"
            ) from error
        return packed

    def _find(self, incident: str, subject: str) -> Manifest | None:
        listed, packed = self.place(incident, subject)
        try:
            manifest = msgspec.json.decode(_read(listed, MOST_MANIFEST), type=Manifest)
            found = hash_bytes(_read(packed, MOST_ARCHIVE))
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise WireError(f"{listed}: the bundle cannot be read: {error}") from error
        if found != manifest.sha256:
            raise WireError(f"{packed}: the bundle is not what its manifest says: it has SHA-256 {found[:12]}, not {manifest.sha256[:12]}")
        return manifest

    def _trim(self, newest: Path) -> None:
        kept = sorted(self._list(), key=lambda one: (one.changed, one.manifest), reverse=True)
        size = 0
        for number, one in enumerate(kept):
            size += one.size
            if one.manifest != newest and (number >= MOST_BUNDLES or size > MOST_BYTES):
                one.manifest.unlink(missing_ok=True)
                one.archive.unlink(missing_ok=True)
                if not any(one.manifest.parent.iterdir()):
                    one.manifest.parent.rmdir()

    def _list(self) -> list[_Kept]:
        found = []
        for manifest in self.folder.glob("*/*.manifest.json"):
            archive = manifest.with_name(manifest.name.removesuffix(".manifest.json") + ".tar.zst")
            size = sum(file.stat().st_size for file in (manifest, archive) if file.exists())
            found.append(_Kept(manifest, archive, size, manifest.stat().st_mtime))
        return found


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most + 1)


def _write(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)

"""Whether a part's files are what its records say."""

from __future__ import annotations

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held
from supernoded.job.vault.files import Files
from supernoded.job.vault.records import Sums


def verify_part(files: Files, held: Held) -> str:
    """Hash its files as they are stored. What is wrong in one sentence; empty when every hash holds, or, without hashes, every size."""
    if held.fault or held.saved is None:
        return held.fault or f"{held.folder} has no record"
    sums = held.sums
    for name, size in held.saved.files.items():
        stored = held.folder / (sums.name_stored(name) if sums is not None else name)
        expected = sums.expect_stored(name) if sums is not None else (size, "")
        try:
            found = files.hash_back(stored)
        except (OSError, VaultError) as error:
            return f"{stored} cannot be read: {error}"
        if found[0] != expected[0]:
            return f"{stored} has {found[0]} bytes, and should have {expected[0]}"
        if sums is not None and found[1] != expected[1]:
            return f"{stored} has the SHA-256 {found[1][:12]}.., and should have {expected[1][:12]}.."
    return ""


def compare(sums: Sums, name: str, found: tuple[int, str]) -> str:
    """Why what was unpacked is not the file; empty when it is."""
    one = sums.files[name]
    if found != (one.size, one.sha256):
        return f"unpacks to {found[0]} bytes with SHA-256 {found[1][:12]}.., and should give {one.size} with {one.sha256[:12]}.."
    return ""

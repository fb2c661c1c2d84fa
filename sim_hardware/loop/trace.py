"""What happened in a run, as lines to read and as one hash to compare."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from dataclasses import dataclass

KEPT = 100_000  # entries; the hash covers those before as well
_SIGNATURE = re.compile(rb'"signature":"[^"]*"')  # of a command whose text may name a file: it follows from what is counted anyway


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened, at `at` virtual seconds."""

    at: float
    who: str
    what: str

    def __str__(self) -> str:
        return f"{self.at:.6f} {self.who} {self.what}"


class Trace:
    """The newest entries, and a running hash over all of them and over all bytes on the network."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=KEPT)
        self._hash = hashlib.sha256()
        self.folder = b""  # of the run's files: its name is another in every run, and counts for nothing

    def add(self, entry: Entry) -> None:
        """Keep an entry and count it into the hash."""
        self.entries.append(entry)
        self.count(str(entry).encode())

    def count(self, data: bytes) -> None:
        """Count something into the hash that is not worth an entry."""
        if self.folder:
            data = _SIGNATURE.sub(b'"signature":"~"', data.replace(self.folder, b"~"))
        self._hash.update(len(data).to_bytes(8))
        self._hash.update(data)

    def digest(self, rest: str) -> str:
        """The hash so far, together with `rest`, as 16 hexadecimal digits."""
        whole = self._hash.copy()
        whole.update(rest.encode())
        return whole.hexdigest()[:16]

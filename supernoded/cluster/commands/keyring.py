"""The keys of one daemon's life: read at the start, and again when a file has changed, so that a renewal needs no restart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from supernoded import settings
from supernoded.clock import Clock
from supernoded.cluster.commands.keys import Keys, list_files, read_keys
from supernoded.errors import SettingsError
from supernoded.supervisor import Health

LOOK_EVERY = 60.0  # seconds between two looks at whether a file has changed (ours)
KEYS = "keys"  # the name under which Health knows them

Stamp = Sequence[tuple[int, int] | None]


class Keyring:
    """`keys` are those that count now. When a file cannot be used the last good ones stay, and at the start there are none.

    That is a trouble and no end: a node whose list of what was revoked was copied by half must not be left without its daemon.
    """

    def __init__(self, table: settings.Keys, node: str, clock: Clock, health: Health, *, alone: bool = False) -> None:
        self._table, self._node, self._clock, self._health, self._alone = table, node, clock, health, alone
        self._files = list_files(table)
        self._stamp: Stamp = ()
        self._keys, self._fault = Keys(), ""
        self._looked_at = clock.now()
        self._refresh()
        self._report()

    @property
    def keys(self) -> Keys:
        """Looks at the files first, at most once a minute."""
        if self._clock.now() - self._looked_at >= LOOK_EVERY:
            self._looked_at = self._clock.now()
            self._refresh()
            self._report()
        return self._keys

    def _refresh(self) -> None:
        stamp = self._look()
        if stamp == self._stamp and not self._fault:
            return
        try:
            self._keys, self._stamp, self._fault = read_keys(self._table, self._node), stamp, ""
        except SettingsError as error:  # key and certificate may be copied by half: the next look finds both
            none = "until then no command goes between this node and the others"
            self._fault = f"{error}; {none if self._keys == Keys() else 'those of before count on'}"

    def _report(self) -> None:
        self._health.report(KEYS, self._fault or self._keys.find_trouble(self._clock.wall()) or self._find_lack())

    def _find_lack(self) -> str:
        """A site of one node needs none."""
        lacks = [name for name, there in (("key_file", self._keys.own), ("ca_file", self._keys.authority)) if there is None]
        if self._alone or not lacks:
            return ""
        missing = " and ".join(f"keys.{name}" for name in lacks)
        remedy = f"`supernodectl pki issue {self._node}` makes all files"
        return f"{missing} not set: this node and the others do not take each other's commands; {remedy}"

    def _look(self) -> Stamp:
        return [_stamp(file) for file in self._files]


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns  # the second turns with its mode and its inode too

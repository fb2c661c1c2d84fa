"""A real folder that is kept as a node's trees are, for daemons with a real file system.

A file that cannot be read is a link to the process's own memory, whose first byte is not mapped: reading it fails with EIO.
Files that the plant's drivers can write are looked at first: what somebody wrote is an order. They are changed in place, since a
writer may have them open; all others are replaced whole, and only when their text is another.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sim_hardware.devices.sysfs.tree import SysfsTree

_UNREADABLE = "/proc/self/mem"
_LOG = logging.getLogger(__name__)


class SysfsFolder:
    """One node's trees below `root`, which stands for `/sys/class`."""

    def __init__(self, tree: SysfsTree, root: Path) -> None:
        self._tree, self._root = tree, root
        self._kept: dict[str, str | None] = {}  # what stands in each file; None: it cannot be read

    def refresh(self) -> dict[str, OSError]:
        """Take in what was written, and show what is. Gives the writes that were refused. Raises OSError of the file system."""
        refused, changed = self.look()
        self.show(changed)
        return refused

    def look(self) -> tuple[dict[str, OSError], dict[str, str | None]]:
        """The first half of `refresh`, which asks the plant: the writes that were refused, and what is left to show.

        What can be written is shown at once, so that nobody writes in between.
        """
        refused = self._take_orders()
        rendered = self._tree.render()
        for path in [path for path in self._kept if path not in rendered]:
            (self._root / path).unlink(missing_ok=True)
            del self._kept[path]
        shown = {path: None if isinstance(text, OSError) else text for path, text in rendered.items()}
        changed = {path: text for path, text in shown.items() if path not in self._kept or self._kept[path] != text or path in refused}
        for path in [path for path in changed if self._tree.is_writable(path)]:
            self._show(path, changed.pop(path))
        return refused, changed

    def show(self, changed: Mapping[str, str | None]) -> None:
        """The second half, which only touches files, so that it can be done in a thread."""
        for path, text in changed.items():
            self._show(path, text)

    async def keep(self, period: float) -> None:
        """Refresh every `period` seconds, for ever."""
        while True:
            for path, error in self.refresh().items():
                _LOG.warning("%s: what was written there is refused: %s", self._root / path, error.strerror)
            await asyncio.sleep(period)

    def _take_orders(self) -> dict[str, OSError]:
        """What was written since, as orders."""
        refused: dict[str, OSError] = {}
        for path in [path for path in self._kept if self._tree.is_writable(path)]:
            text = self._read(path)
            if text is None or text == self._kept[path]:
                continue
            try:
                self._tree.write(path, text)
            except OSError as error:
                refused[path] = error
            self._kept[path] = text
        return refused

    def _read(self, path: str) -> str | None:
        with suppress(OSError):
            return (self._root / path).read_text(errors="replace")
        return None

    def _show(self, path: str, text: str | None) -> None:
        place = self._root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is not None and self._kept.get(path) is not None and self._tree.is_writable(path):
            _write_in_place(place, text.encode())
        else:
            _replace(place, text)
        self._kept[path] = text


def _write_in_place(place: Path, data: bytes) -> None:
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.pwrite(handle, data, 0)
        os.ftruncate(handle, len(data))
    finally:
        os.close(handle)


def _replace(place: Path, text: str | None) -> None:
    beside = place.with_name(f".{place.name}.new")
    if text is None:
        beside.unlink(missing_ok=True)
        beside.symlink_to(_UNREADABLE)
    else:
        beside.write_text(text)
    beside.replace(place)

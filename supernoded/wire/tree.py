"""A tree of small text files: sysfs, a made copy of it, or a folder of our own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from supernoded.errors import WireError
from supernoded.wire.files import list_names, read_link, read_text, remove_oldest, write_text
from supernoded.wire.hop import Hop
from supernoded.wire.pen import Pen

MOST_FILES = 8192  # of one read_all; 16 HCAs of 4 ports have some 4,000 files
MAGIC = frozenset("*?[")


class FileTree:
    """A `Tree` over a folder. Every wait ends after `timeout` seconds."""

    def __init__(self, root: Path, pen: Pen, timeout: float) -> None:
        self.root = root
        self._pen, self._timeout, self._hop = pen, timeout, Hop()

    async def read(self, path: str) -> str:
        """See `Tree.read`."""
        full = self._place(path)
        return await self._hop.run(str(full), lambda: read_text(full), self._timeout)

    async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
        """See `Tree.read_all`; also a folder that cannot be listed is its WireError. Raises WireError over `MOST_FILES` files."""
        for pattern in patterns:
            self._place(pattern)
        return await self._hop.run(str(self.root), lambda: read_matching(self.root, patterns), self._timeout)

    async def names(self, path: str = "") -> Sequence[str]:
        """See `Tree.names`."""
        full = self._place(path)
        return await self._hop.run(str(full), lambda: list_names(full), self._timeout)

    async def link(self, path: str) -> str:
        """See `Tree.link`."""
        full = self._place(path)
        return await self._hop.run(str(full), lambda: read_link(full), self._timeout)

    async def order(self, scope: str, path: str, text: str) -> None:
        """See `Tree.order`. An attribute of the kernel is written in place, with one write."""
        full = self._place(path)
        await self._hop.run(str(full), lambda: write_text(full, text, lambda: self._pen.ask(scope)), self._timeout)

    async def trim(self, scope: str, path: str, most: int) -> None:
        """See `Tree.trim`."""
        full = self._place(path)
        await self._hop.run(str(full), lambda: remove_oldest(full, most, lambda: self._pen.ask(scope)), self._timeout)

    def _place(self, path: str) -> Path:
        if path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise WireError(f"{path!r} leads out of {self.root}; give a path below it")
        return self.root / path


def read_matching(root: Path, patterns: Sequence[str]) -> dict[str, str | WireError]:
    """Every file below `root` that matches, sorted by path."""
    found: dict[str, str | WireError] = {}
    for pattern in patterns:
        for path, trouble in _match(root, "", pattern.split("/")):
            text = trouble or _read_if_there(root / path)
            if text is not None:
                found[path] = text
            if len(found) > MOST_FILES:
                raise WireError(f"{root}: more than {MOST_FILES} files match {', '.join(patterns)}; name them more closely")
    return dict(sorted(found.items()))


def _read_if_there(path: Path) -> str | WireError | None:
    """None when there is no such file, or it is a folder."""
    try:
        return read_text(path)
    except WireError as error:
        return None if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError | IsADirectoryError) else error


def _match(root: Path, base: str, parts: Sequence[str]) -> Iterator[tuple[str, WireError | None]]:
    """What may be a file, and folders that cannot be listed with the reason. Follows links, as sysfs is made of them."""
    first, *rest = parts
    for name in _fitting(root / base, first):
        if isinstance(name, WireError):
            yield base or ".", name
            continue
        path = f"{base}/{name}" if base else name
        if rest:
            yield from _match(root, path, rest)
        else:
            yield path, None


def _fitting(folder: Path, pattern: str) -> Iterable[str | WireError]:
    if not MAGIC.intersection(pattern):
        return [pattern]
    try:
        return sorted(name for name in list_names(folder) if fnmatchcase(name, pattern))
    except WireError as error:
        return [error]

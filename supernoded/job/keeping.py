"""What is known of jobs, in one small file a job in the state folder, so that a daemon that starts in mid-checkpoint knows of it."""

from __future__ import annotations

import logging

import msgspec

from supernoded.errors import WireError
from supernoded.job.training import Kept
from supernoded.model import NODE
from supernoded.wire.ports import Tree

FOLDER = "jobs"
MOST_FILES = 256
MOST_WRITTEN = 4  # requests of a job, the newest: a file of the state folder has at most 64 KiB
MOST_ORDERS = 16  # to its launcher, the same


class Keeping:
    """The files. `tree` is the state folder; without its disk the jobs go on, and what is lost the ranks say again."""

    def __init__(self, tree: Tree, log: logging.Logger) -> None:
        self._tree, self._log = tree, log
        self._written: dict[str, Kept] = {}
        self._trouble = ""

    async def read(self) -> dict[str, Kept]:
        """By name. A file that cannot be read is named and left out."""
        found: dict[str, Kept] = {}
        try:
            files = await self._tree.read_all([f"{FOLDER}/*.json"])
        except WireError as error:
            self._report(str(error))
            return found
        for path, text in files.items():
            try:
                found[path.rpartition("/")[2].removesuffix(".json")] = msgspec.json.decode(_check(text), type=Kept)
            except (WireError, msgspec.DecodeError) as error:
                self._log.warning("%s is left out: %s", path, error)
        self._written = dict(found)
        return found

    async def write(self, name: str, kept: Kept) -> None:
        """Whole or not at all; nothing when it is as it was written."""
        kept = msgspec.structs.replace(kept, requests=kept.requests[-MOST_WRITTEN:], orders=kept.orders[-MOST_ORDERS:])
        if self._written.get(name) == kept:
            return
        try:
            await self._tree.order(NODE, f"{FOLDER}/{name}.json", msgspec.json.encode(kept).decode())
            if name not in self._written:
                await self._tree.trim(NODE, FOLDER, MOST_FILES)
        except WireError as error:
            self._report(str(error))
            return
        self._written[name] = kept
        self._report("")

    def _report(self, trouble: str) -> None:
        if trouble and not self._trouble:
            self._log.warning("jobs are not written down, a restart will ask their ranks: %s", trouble)
        elif self._trouble and not trouble:
            self._log.info("jobs are written down again")
        self._trouble = trouble


def _check(text: str | WireError) -> str:
    if isinstance(text, WireError):
        raise text
    return text

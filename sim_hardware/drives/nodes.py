"""What a served rack keeps for each node on disk: its `/sys/class`, its tools, its logs and its daemon's settings."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from sim_hardware.devices.sysfs import SysfsFolder
from sim_hardware.devices.tools.logs import LOGS
from sim_hardware.devices.tools.serving import serve_tools
from sim_hardware.devices.tools.shim import write_shims
from sim_hardware.drives.folder import SOCKET, TOOLS, TREE
from sim_hardware.rig import Rig

_LOG = logging.getLogger(__name__)

PERIOD = 0.25  # s between two refreshings of a tree
FEW = 8  # nodes whose trees are all kept at that period


class Trees:
    """The nodes' trees as real folders.

    With more than `FEW` nodes those that have a daemon (its `run` folder is there) come first; of the others one a period has its turn, and
    its tree is made then. At most half of the time goes into this.
    """

    def __init__(self, rig: Rig, folder: Path) -> None:
        self._folder = folder
        self._trees = {name: SysfsFolder(tree, folder / name / TREE) for name, tree in rig.trees.items()}
        self._turns = itertools.cycle(self._trees)

    def make_first(self) -> None:
        """Make the trees of the first nodes. Raises OSError."""
        for name in itertools.islice(self._trees, FEW):
            self._trees[name].refresh()

    async def keep(self) -> None:
        """Refresh until cancelled. Raises OSError of the file system."""
        while True:
            begun = time.perf_counter()
            for name in self._list_due():
                refused, changed = self._trees[name].look()
                for path, error in refused.items():
                    _LOG.warning("%s/%s/%s/%s: what was written there is refused: %s", self._folder, name, TREE, path, error.strerror)
                await _in_thread(partial(self._trees[name].show, changed))  # some file systems take a millisecond a file
            spent = time.perf_counter() - begun
            await asyncio.sleep(max(PERIOD - spent, spent))

    def _list_due(self) -> Iterator[str]:
        if len(self._trees) <= FEW:
            yield from self._trees
            return
        yield from [name for name in self._trees if (self._folder / name / "run").exists()]
        yield next(self._turns)


async def _in_thread(work: Callable[[], None]) -> None:
    """Do it in a thread, to its end also when we are cancelled: nobody else may have the files before that."""
    working = asyncio.create_task(asyncio.to_thread(work))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await working
        raise


def append_line(folder: Path, node: str, name: str, line: str) -> None:
    """Write a new line of a node's log into its file; a full disk must not stop the plant."""
    file = folder / node / name
    try:
        with file.open("a", encoding="utf-8") as log:
            log.write(line)
    except OSError as error:
        _LOG.warning("%s: cannot be written: %s", file, error.strerror)


async def serve_nodes(stack: AsyncExitStack, rig: Rig, folder: Path) -> dict[str, str]:
    """Make the nodes' folders and tools, keep their logs, and give the URLs. Raises OSError."""
    epoch = time.time() - rig.world.now()
    for name, tools in rig.tools.items():
        home = folder / name
        home.mkdir(exist_ok=True)
        for log in LOGS:
            (home / log).touch()
        tools.epoch = epoch
        await stack.enter_async_context(serve_tools(rig.world, home / SOCKET, tools))
        write_shims(home / TOOLS, home / SOCKET, name)
    rig.logs.epoch = epoch
    rig.logs.followers.append(partial(append_line, folder))
    places = {"sysfs": TREE, "tools": TOOLS, "log": "hccl.log", "train_log": "train.log"}
    return {f"{name}/{what}": f"file://{folder / name / place}" for name in rig.tools for what, place in places.items()}

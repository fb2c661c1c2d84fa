"""What a served rack keeps for each node on disk: its `/sys/class`, its tools, its `hccl.log` and its daemon's settings."""

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
from sim_hardware.devices.tools.hccl_log import write_log
from sim_hardware.devices.tools.serving import serve_tools
from sim_hardware.devices.tools.shim import write_shims
from sim_hardware.drives.folder import LOG, SOCKET, TOOLS, TREE
from sim_hardware.plant.words import Happening
from sim_hardware.rack import Rack
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


class Logs:
    """Each node's `hccl.log`: what befalls it, and what befalls no node in particular."""

    def __init__(self, rack: Rack, folder: Path, epoch: float) -> None:
        self._files = {node.name: folder / node.name / LOG for node in rack.nodes}
        self._rings = {f"ring/{ring.name}": {place.partition("/")[0] for place in ring.order} for ring in rack.rings}
        self._epoch = epoch

    def note(self, happening: Happening) -> None:
        """Append it; a full disk must not stop the plant."""
        lines = "".join(f"{line}\n" for line in write_log([happening], self._epoch))
        if lines:
            for file in self._find_files(happening.subject):
                try:
                    with file.open("a", encoding="utf-8") as log:
                        log.write(lines)
                except OSError as error:
                    _LOG.warning("%s: cannot be written: %s", file, error.strerror)

    def _find_files(self, subject: str) -> list[Path]:
        nodes = self._rings.get(subject) or {subject.partition("/")[0]}
        return [file for node, file in self._files.items() if node in nodes] or list(self._files.values())


async def serve_nodes(stack: AsyncExitStack, rig: Rig, folder: Path) -> dict[str, str]:
    """Make the nodes' folders and tools, keep their logs, and give the URLs. Raises OSError."""
    epoch = time.time() - rig.world.now()
    for name, tools in rig.tools.items():
        home = folder / name
        home.mkdir(exist_ok=True)
        (home / LOG).touch()
        tools.epoch = epoch
        await stack.enter_async_context(serve_tools(rig.world, home / SOCKET, tools))
        write_shims(home / TOOLS, home / SOCKET, name)
    rig.world.watches.append(Logs(rig.world.rack, folder, epoch).note)
    places = {"sysfs": TREE, "tools": TOOLS, "log": LOG}
    return {f"{name}/{what}": f"file://{folder / name / place}" for name in rig.tools for what, place in places.items()}

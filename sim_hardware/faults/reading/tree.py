"""Files of a node's `/sys/class`."""

from __future__ import annotations

import asyncio

from sim_hardware.faults.reading.problems import LIMIT, NoAnswerError, ReadingError, RefusedError
from sim_hardware.rig import Rig


async def read_tree(rig: Rig, node: str, path: str) -> str:
    """The text of a file without its newline. Raises ReadingError."""
    tree = rig.trees.get(node)
    if tree is None:
        raise ReadingError(f"{node}: has no trees here")
    if tree.impairment.silent or tree.impairment.delay_s > LIMIT:  # a driver that does not return
        await asyncio.sleep(LIMIT)
        raise NoAnswerError(f"{node}: {path}: no answer within {LIMIT:g} s")
    await asyncio.sleep(tree.impairment.delay_s)
    try:
        return tree.read(path).rstrip("\n")
    except OSError as error:
        raise RefusedError(f"{node}: {path}: {error.strerror}") from error

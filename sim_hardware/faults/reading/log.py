"""Logs that the programs of a node write."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sim_hardware.faults.reading.problems import ReadingError
from sim_hardware.rig import Rig


async def read_log(rig: Rig, node: str, name: str) -> Sequence[str]:
    """The newest lines of a log, without their ends. Raises ReadingError."""
    await asyncio.sleep(0.0)
    try:
        return rig.logs.read(node, name).splitlines()
    except FileNotFoundError as error:
        raise ReadingError(f"{error}") from error

"""What a node's programs print."""

from __future__ import annotations

import asyncio

from sim_hardware.devices import tools
from sim_hardware.devices.tools.words import Run
from sim_hardware.faults.reading.problems import NoAnswerError, ReadingError
from sim_hardware.rig import Rig

TOOL_LIMIT = 2.0  # s; the slowest quick one, hccl_ring_latency, takes 1.2 s


async def run_tool(rig: Rig, node: str, tool: str, *arguments: str) -> Run:
    """Run it to its end. Raises NoAnswerError when it does not come to one in time."""
    state = rig.tools.get(node)
    if state is None:
        raise ReadingError(f"{node}: has no programs here")
    run = tools.run_tool(tool, arguments, rig.world, node, state)
    await asyncio.sleep(min(run.seconds, TOOL_LIMIT))
    if run.seconds > TOOL_LIMIT:
        raise NoAnswerError(f"{node}: {tool} {' '.join(arguments)}: no end within {TOOL_LIMIT:g} s")
    return run

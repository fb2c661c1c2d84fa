"""The memory pool as a simulated node's vault has it."""

from __future__ import annotations

import asyncio
import errno
import math
from collections.abc import Sequence
from pathlib import Path

from sim_hardware.devices.tools import run_tool
from sim_hardware.drives.wires import SYSFS
from sim_hardware.rig import Rig
from supernoded.errors import VaultError
from supernoded.job.vault.pool import Told


class SimPool:
    """See `supernoded.job.vault.pool.Pool`."""

    def __init__(self, rig: Rig, node: str) -> None:
        self._rig, self._node = rig, node

    async def run(self, argv: Sequence[str], seconds: float) -> Told:
        """See `Pool.run`."""
        tool, *arguments = argv
        run = run_tool(tool, arguments, self._rig.world, self._node, self._rig.tools[self._node])
        await asyncio.sleep(min(run.seconds, seconds))
        if run.seconds > seconds or run.seconds == math.inf:
            raise VaultError(f"{tool} did not end within {seconds:g} s and was ended")
        return Told(run.rc, run.out + run.err)

    def read_atomic(self, path: Path) -> str | None:
        """See `Pool.read_atomic`."""
        if not path.is_relative_to(SYSFS):
            return None
        try:
            return self._rig.trees[self._node].read(str(path.relative_to(SYSFS)))
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            raise

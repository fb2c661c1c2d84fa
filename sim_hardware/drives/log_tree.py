"""A simulated node's folder of logs, as a daemon's tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from sim_hardware.devices.tools.logs import PROGRAMS, NodeLogs
from supernoded.errors import WireError
from supernoded.wire import Pen

FOLDER = "/var/log/hccl"


class LogTree:
    """See `supernoded.wire.Tree`: the newest lines of the logs of a node's programs, which nobody else writes."""

    def __init__(self, logs: NodeLogs, node: str, pen: Pen) -> None:
        self._logs, self._node, self._pen = logs, node, pen

    async def read(self, path: str) -> str:
        """See `Tree.read`."""
        if path not in PROGRAMS:
            raise WireError(f"{FOLDER}/{path}: no such log; there are {', '.join(PROGRAMS)}")
        return self._logs.read(self._node, path).strip()

    async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
        """See `Tree.read_all`."""
        return {name: await self.read(name) for name in sorted(PROGRAMS) if any(fnmatchcase(name, pattern) for pattern in patterns)}

    async def names(self, path: str = "") -> Sequence[str]:
        """See `Tree.names`."""
        return [] if path.strip("/.") else sorted(PROGRAMS)

    async def link(self, path: str) -> str:
        """See `Tree.link`: there are none."""
        del path
        return ""

    async def order(self, scope: str, path: str, text: str) -> None:
        """See `Tree.order`: refused."""
        self._refuse(scope, f"{FOLDER}/{path}: cannot be written, least of all {len(text)} characters")

    async def trim(self, scope: str, path: str, most: int) -> None:
        """See `Tree.trim`: refused."""
        self._refuse(scope, f"{FOLDER}/{path}: cannot be removed, not even to keep {most}")

    def _refuse(self, scope: str, what: str) -> None:
        self._pen.ask(scope)
        raise WireError(f"{what}; the programs of the node alone write their logs")

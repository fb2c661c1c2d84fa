"""The kernel log: how many errors, and the lines that speak of links and cards."""

from __future__ import annotations

import re
from collections.abc import Sequence

from supernoded.plugin import NODE, Clock, Host, Reading
from supernoded_host.sensors import make_reading

ERROR = 3  # syslog level; 0 to 3 are errors and worse
MOST_LINES = 50  # link lines of one read that are handed on; a flood is counted, not carried
LINE = "x.linux.link_line"

# mlx5: cable, module and firmware trouble; NVRM: Xid and a card off the bus; hns3, hinic, mlx4, bnxt, ice: other network cards.
ABOUT_LINKS = re.compile(
    r"\b(mlx[45]_|hns3|hinic|bnxt_|ice |i40e)|\bNVRM\b|link (is )?(down|up)|lost carrier|fallen off the bus|AER:|PCIe Bus Error",
    re.IGNORECASE,
)


class KernelSensor:
    """Counts error lines since the daemon started, and hands on every line about a link or card."""

    name, scope, timeout = "host.kernel", NODE, 6.0

    def __init__(self, node: str, host: Host, clock: Clock, period: float) -> None:
        self._node, self._host, self._clock, self.period = node, host, clock, period
        self._errors = 0
        self._last_line = ""

    async def read(self) -> Sequence[Reading]:
        """Take in what the kernel has said since the last read."""
        lines = await self._host.kernel_lines(self.name)
        at = self._clock.now()
        self._errors += sum(is_error(line) for line in lines)
        about = [line.partition(">")[2] for line in lines if ABOUT_LINKS.search(line)][-MOST_LINES:]
        self._last_line = about[-1] if about else self._last_line
        if not about and self._last_line:
            about = [self._last_line]  # a line does not become untrue because no new one followed
        return [
            make_reading(self._node, "host.kernel_errors", float(self._errors), "1", at),
            *(make_reading(self._node, LINE, line, "text", at) for line in about),
        ]


def is_error(line: str) -> bool:
    """Whether a line `<level>text` is of level error or worse."""
    level = line[1 : line.find(">")]
    return line.startswith("<") and level.isascii() and level.isdigit() and int(level) <= ERROR

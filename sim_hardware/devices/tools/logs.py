"""The logs that a node's programs and its kernel write, in memory: the newest lines of each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from sim_hardware.devices.tools.hccl_log import write_log
from sim_hardware.devices.tools.job_log import write_job_log
from sim_hardware.devices.tools.kernel_log import write_kernel_log
from sim_hardware.devices.tools.words import EPOCH
from sim_hardware.plant.words import Happening
from sim_hardware.rack import Rack

Write = Callable[[Iterable[Happening], float], Iterator[str]]  # what happened, and the time of day at the plant's 0
Follow = Callable[[str, str, str], None]  # a node, the name of a log, and what is new in it

KERNEL = "kernel.log"
PROGRAMS: Mapping[str, Write] = MappingProxyType({"hccl.log": write_log, "train.log": write_job_log})
LOGS = (*PROGRAMS, KERNEL)
KEPT = 2000  # lines of a log (ours)


class NodeLogs:
    """Each node's logs: what befalls the node or a ring that it is in, and what befalls no node in particular.

    `followers` are told each new line. `epoch` is the time of day at the plant's 0, s since 1970.
    """

    def __init__(self, rack: Rack) -> None:
        self.epoch = EPOCH
        self.followers: list[Follow] = []
        self._writers: Mapping[str, Write] = {**PROGRAMS, KERNEL: partial(write_kernel_log, rack.sim.node.chip)}
        self._lines = {node.name: {name: deque[str](maxlen=KEPT) for name in LOGS} for node in rack.nodes}
        self._rings = {f"ring/{ring.name}": tuple(dict.fromkeys(place.partition("/")[0] for place in ring.order)) for ring in rack.rings}

    def note(self, happening: Happening) -> None:
        """Write it where it belongs. To be called for all that happens."""
        for name, write in self._writers.items():
            for line in write((happening,), self.epoch):
                for node in self._find_nodes(happening.subject):
                    self._lines[node][name].append(f"{line}\n")
                    for follow in self.followers:
                        follow(node, name, f"{line}\n")

    def read(self, node: str, name: str) -> str:
        """The newest `KEPT` lines. Raises FileNotFoundError when there is no such node or log."""
        log = self._lines.get(node, {}).get(name)
        if log is None:
            raise FileNotFoundError(f"{node}/{name}: no such log; there are {', '.join(LOGS)} of {', '.join(list(self._lines)[:4])} ...")
        return "".join(log)

    def _find_nodes(self, subject: str) -> Iterable[str]:
        nodes = [node for node in self._rings.get(subject, (subject.partition("/")[0],)) if node in self._lines]
        return nodes or self._lines

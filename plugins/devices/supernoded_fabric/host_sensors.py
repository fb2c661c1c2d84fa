"""What tells of all links at once: the LLDP daemon, and the kernel's log."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import NODE, Command, Node, Reading, WireError, make_reading, name_neighbour, quote
from supernoded_fabric.adapters import LOOK, Adapters
from supernoded_fabric.asking import run
from supernoded_fabric.kernel_lines import read_line
from supernoded_fabric.kernel_state import KernelState
from supernoded_fabric.lldp import list_neighbours, parse_neighbours
from supernoded_fabric.settings import FabricSettings

QUESTION = ("-f", "json", "show", "neighbors")
GRACE = 1.0  # seconds that a killed program is given to end
LOG = 6.0  # seconds; the host port gives up after 5


class NeighbourSensor:
    """Who is at the other end of each interface. Where there is no interface, nobody is asked."""

    name, scope = "fabric.lldp", NODE

    def __init__(self, adapters: Adapters, command: Command, node: Node, settings: FabricSettings) -> None:
        self._adapters, self._command, self._clock, self._node = adapters, command, node.clock, node.name
        self._within, self.period, self.timeout = settings.within_s, settings.lldp_s, LOOK + settings.within_s + GRACE
        self._name = name_neighbour(node.topology, settings.neighbours)
        self._is_known = False  # whether the tool ever answered

    async def read(self) -> Sequence[Reading]:
        """One run. Raises WireError when a tool that answered before does not; one that never did is told of in one reading."""
        if not await self._adapters.look():
            return []
        try:
            text = await run(self._command, *QUESTION, within=self._within)
        except WireError as error:
            if self._is_known:
                raise
            return [make_reading(self._node, f"x.{self.name}", None, "text", self._clock.now(), str(error))]
        if not text.lstrip().startswith("{"):
            raise WireError(f"{' '.join(QUESTION)}: no JSON: {quote(text.strip())}")
        self._is_known = True
        places = self._adapters.places
        found = [one for one in parse_neighbours(text) if places.is_wanted(one.interface)]
        return list(list_neighbours(found, self._name, places.subject, self._clock.now()))


class KernelSensor:
    """What the kernel has said of links and adapters since the daemon started. Where there are none, its log is left alone."""

    name, scope, timeout = "fabric.kernel", NODE, LOOK + LOG

    def __init__(self, adapters: Adapters, node: Node, settings: FabricSettings) -> None:
        self._adapters, self._host, self._clock = adapters, node.host, node.clock
        self.period = settings.kernel_s
        self._state = KernelState(adapters.places.subject)

    async def read(self) -> Sequence[Reading]:
        """Take in what is new. Raises WireError when the log must not be read."""
        if not await self._adapters.look():
            return []
        self._state.expect(self._adapters.places.subjects())
        lines = await self._host.kernel_lines(self.name)
        at = self._clock.now()
        for line in lines:
            said = read_line(line)
            if said is not None:
                self._state.take(said, at)
        self._state.expire(at)
        return list(self._state.show(at))

"""The library's log, followed."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import NODE, Command, Node, Reading, Tree, WireError, make_reading
from supernoded_ascend.asking import ask
from supernoded_ascend.hccl_log import Told, name_rings, take_in
from supernoded_ascend.questions import SLACK
from supernoded_ascend.settings import AscendSettings
from supernoded_ascend.tail import Known, follow, split_end

TREE_S = 3.0  # seconds for which a tree may wait


class LogSensor:
    """Counts time-outs from what stands in the log at first sight on, and keeps the last error. Raises WireError while there is no log."""

    name, scope = "ascend.log", NODE

    def __init__(self, tree: Tree, tail: Command | None, node: Node, settings: AscendSettings) -> None:
        self.period, self.timeout = settings.log_s, TREE_S + settings.timeout_s + SLACK
        self._tree, self._tail, self._node, self._settings = tree, tail, node, settings
        self._rings = {ring.name for ring in node.topology.rings}
        self._own = find_own_ring(node)
        self._known, self._told = Known(), Told()

    async def read(self) -> Sequence[Reading]:
        """Take in what is new."""
        lines = split_end(await self._read_end())
        self._known, news = follow(self._known, lines)
        self._told = take_in(self._told, news)
        return list_told(take_in(self._told, lines[-1:]), self._node.clock.now(), self._node.name, self._own, self._rings)

    async def _read_end(self) -> str:
        """The whole of a short log, the end of a long one, which the tree refuses."""
        try:
            return await self._tree.read(self._settings.log_name)
        except WireError as refusal:
            if self._tail is None or isinstance(refusal.__cause__, FileNotFoundError):
                raise
            path = f"{self._settings.log_folder.rstrip('/')}/{self._settings.log_name}"
            try:
                text = await ask(self._tail, path, within=self._settings.timeout_s)
            except WireError:
                raise refusal from None
            return text.partition("\n")[2]  # its first line is begun somewhere


def find_own_ring(node: Node) -> str:
    """The ring that the library means when it names none: the one between nodes, else the only one of this node; else none."""
    mine = [ring for ring in node.topology.rings if any(member.partition("/")[0] == node.name for member in ring.order)]
    wide = [ring for ring in mine if node.name in ring.order] or mine
    return wide[0].name if len(wide) == 1 else ""


def list_told(told: Told, at: float, node: str, own: str, rings: set[str]) -> list[Reading]:
    """What the lines have told, as readings."""
    readings = [make_reading(node, "comm.timeouts", float(told.timeouts), "1", at)]
    if told.last_error:
        readings.append(make_reading(node, "comm.last_error", told.last_error, "text", at))
    readings += [make_reading(f"ring/{ring}", "ring.mode", mode, "text", at) for ring, mode in name_rings(told, rings, own)]
    return readings

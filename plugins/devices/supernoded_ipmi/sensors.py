"""Asking the two tools. Both are only run, never ordered: nothing here writes to a BMC."""

from __future__ import annotations

import re
from collections.abc import Sequence

from supernoded.plugin import NODE, Node, PluginError, Reading, Sensor, WireError, quote
from supernoded_ipmi.log import read_log
from supernoded_ipmi.rows import parse_rows
from supernoded_ipmi.settings import IpmiSettings
from supernoded_ipmi.supplies import read_supplies

SLACK = 2.0  # seconds; a killed program is given one to end
_CLEARS = re.compile(r"-{0,2}(?:post-)?(?:clear|delete)\b.*", re.IGNORECASE)


class SupplySensor:
    """The power supplies of this node."""

    name, scope = "ipmi.supplies", NODE

    def __init__(self, node: Node, settings: IpmiSettings) -> None:
        self.period, self.timeout = settings.period_s, settings.within_s + SLACK
        self._node, self._set = node, settings

    async def read(self) -> Sequence[Reading]:
        """All of them. Raises WireError: half an output may hide the half that is well."""
        out, cut = await _run(self._node, self._set.ipmi_sensors, self._set.within_s)
        if cut:
            raise WireError(f"{self._set.ipmi_sensors[0]}: printed more than is taken, {len(out)} characters and no end")
        return list(read_supplies(list(parse_rows(out)), self._node.name, self._node.clock.now()))


class LogSensor:
    """The event log of this node's BMC."""

    name, scope = "ipmi.log", NODE

    def __init__(self, node: Node, settings: IpmiSettings) -> None:
        self.period, self.timeout = settings.period_s, settings.within_s + SLACK
        self._node, self._set = node, settings

    async def read(self) -> Sequence[Reading]:
        """What stands in it. Raises WireError."""
        out, cut = await _run(self._node, self._set.ipmitool_sel, self._set.within_s)
        return [read_log(out, self._node.name, self._node.clock.now(), cut=cut)]


def list_sensors(settings: IpmiSettings, node: Node) -> list[Sensor]:
    """One for each tool that is named. Raises PluginError for a command that clears or deletes: a log is evidence."""
    for key, argv in (("ipmi_sensors", settings.ipmi_sensors), ("ipmitool_sel", settings.ipmitool_sel)):
        word = next((word for word in " ".join(argv).split() if _CLEARS.fullmatch(word)), "")
        if word:
            raise PluginError(
                f"[plugins.ipmi] {key}: {word!r} would remove entries of the event log, which is only read here; leave it out"
            )
    sensors: list[Sensor] = [SupplySensor(node, settings)] if settings.ipmi_sensors else []
    return [*sensors, LogSensor(node, settings)] if settings.ipmitool_sel else sensors


async def _run(node: Node, argv: Sequence[str], within: float) -> tuple[str, bool]:
    """What it printed, and whether the end is missing. Raises WireError."""
    answer = await node.wires.command(argv).run(within=within)
    if answer.code != 0:
        said = " ".join(f"{answer.err[:500]} {answer.out[:500]}".split())
        raise WireError(f"{argv[0]}: ended with code {answer.code} and said {quote(said) if said else 'nothing'}")
    return answer.out, answer.truncated

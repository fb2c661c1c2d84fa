"""`lldpcli -f json show neighbors`: who is at the other end of each interface."""

from __future__ import annotations

from collections.abc import Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.sysfs.ethernet import list_interfaces
from sim_hardware.devices.tools.gauges import read_text
from sim_hardware.devices.tools.nics import dump
from sim_hardware.devices.tools.words import Run, ToolState

ASK_S = 0.05  # ours
_VERBS = (["show", "neighbors"], ["show", "neighbours"])


def lldpcli(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """JSON alone. An interface without a neighbour is left out, and one alone stands without a list. Codes: 0, 1 wrong arguments."""
    words = list(argv)
    if words[:2] not in (["-f", "json"], ["--format", "json"]) or words[2:4] not in _VERBS:
        return Run(1, err=f"lldpcli: unknown command from argument 1: `{' '.join(words)}`\n", seconds=ASK_S)
    wanted = _list_wanted(words[4:])
    interfaces = list_interfaces(panel.rack, node)
    found = [{name: _describe(panel, port)} for name, port in interfaces.items() if not wanted or name in wanted]
    shown = [entry for entry in found if any(entry.values())]
    listed: object = shown[0] if len(shown) == 1 else shown
    return Run(0, dump({"lldp": {"interface": listed} if shown else {}}), seconds=ASK_S)


def _list_wanted(words: Sequence[str]) -> list[str]:
    """The interfaces of `ports eth0,eth1`; none = all."""
    return words[1].split(",") if len(words) == 2 and words[0] == "ports" else []


def _describe(panel: Panel, port: str) -> dict[str, object]:
    """A neighbour calls itself by its system and its port. Nothing when nobody answers."""
    name = read_text(panel, port, "link.neighbour", "")
    system, _, its_port = name.rpartition("/")
    if not name:
        return {}
    return {
        "via": "LLDP",
        "rid": "1",
        "age": "0 day, 00:00:30",
        "chassis": {
            system or "?": {"id": {"type": "mac", "value": read_text(panel, port, "link.neighbour_mac", "?")}, "descr": "simulated"}
        },
        "port": {"id": {"type": "ifname", "value": its_port}, "descr": name, "ttl": "120"},
    }

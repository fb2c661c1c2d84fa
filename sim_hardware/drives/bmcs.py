"""How the daemons of a simulated rack reach its BMCs: the table `[plugins.redfish]` of their settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sim_hardware.devices.redfish import PASSWORD, USER
from sim_hardware.devices.redfish.bmc_ports import list_adapters
from sim_hardware.drives.folder import BMC_LOGIN
from sim_hardware.rack import Rack

PERIOD_S = 30.0  # the monitor is off as delivered; asked every 5 s (L1) it would only make a rack of daemons slower by a third
CAP_PERIOD_S = 120.0  # caps are looked at by whoever sets them; a rack of daemons need not ask for them all the time
MOST_OTHERS = 64  # nodes whose cards one daemon can cap here; a larger rack would only make a daemon's start slow


def write_bmcs(rack: Rack, node: str, folder: Path, endpoints: Mapping[str, str]) -> dict[str, Any]:
    """The table, and the password file in `folder` that it names; empty when the rig serves no BMC of this node. Raises OSError.

    A node has its own BMC, as `own`, and reads from it what has to do with heat. The first node of the rack has the others too, by the
    names of their nodes, for the caps of their cards and for their fans alone: whoever judges the power or the cooling of a site orders
    them all. The simulated BMCs speak plain http, so the settings have to say `insecure`.
    """
    if not endpoints.get(f"{node}/bmc"):
        return {}
    secret = folder / BMC_LOGIN
    secret.write_text(PASSWORD, encoding="utf-8")
    secret.chmod(0o600)
    door = {"user": USER, "password_file": str(secret), "insecure": True, "caps": True, "fans": True}
    own = {"url": endpoints[f"{node}/bmc"], **door, "heat": True, "ports": name_bmc_ports(rack, node)}
    others = {
        other: {"url": endpoints[f"{other}/bmc"], **door, "node": other, "monitor": False} for other in _list_others(rack, node, endpoints)
    }
    return {"period_s": PERIOD_S, "cap_period_s": CAP_PERIOD_S, "bmcs": {"own": own, **others}}


def _list_others(rack: Rack, node: str, endpoints: Mapping[str, str]) -> Iterator[str]:
    if node == rack.nodes[0].name and len(rack.nodes) <= MOST_OTHERS:
        yield from (other.name for other in rack.nodes[1:] if endpoints.get(f"{other.name}/bmc"))


def name_bmc_ports(rack: Rack, node: str) -> dict[str, str]:
    """Subjects by the names that the BMC gives its ports: `Card0/1`."""
    cards = next(one.list_cards() for one in rack.nodes if one.name == node)
    return {f"{adapter}/{port}": subject for adapter, ports in list_adapters(node, cards) for port, subject in ports.items()}

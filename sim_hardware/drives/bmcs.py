"""How the daemon of a simulated node reaches that node's BMC: the table `[plugins.redfish]` of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sim_hardware.devices.redfish import PASSWORD, USER
from sim_hardware.devices.redfish.bmc_ports import list_adapters
from sim_hardware.drives.folder import BMC_LOGIN
from sim_hardware.rack import Rack

PERIOD_S = 30.0  # the monitor is off as delivered; asked every 5 s (L1) it would only make a rack of daemons slower by a third


def write_bmcs(rack: Rack, node: str, folder: Path, endpoints: Mapping[str, str]) -> dict[str, Any]:
    """The table, and the password file in `folder` that it names; empty when the rig serves no BMC of this node. Raises OSError.

    The simulated BMCs speak plain http, so the settings have to say `insecure`.
    """
    url = endpoints.get(f"{node}/bmc", "")
    if not url:
        return {}
    secret = folder / BMC_LOGIN
    secret.write_text(PASSWORD, encoding="utf-8")
    secret.chmod(0o600)
    bmc = {"url": url, "user": USER, "password_file": str(secret), "insecure": True, "ports": name_bmc_ports(rack, node)}
    return {"period_s": PERIOD_S, "bmcs": {"own": bmc}}


def name_bmc_ports(rack: Rack, node: str) -> dict[str, str]:
    """Subjects by the names that the BMC gives its ports: `Card0/1`."""
    cards = next(one.list_cards() for one in rack.nodes if one.name == node)
    return {f"{adapter}/{port}": subject for adapter, ports in list_adapters(node, cards) for port, subject in ports.items()}

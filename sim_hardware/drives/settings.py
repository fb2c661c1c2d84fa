"""The settings of the daemons of a rig: a `supernoded.toml` a node, and the topology that they share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w

from sim_hardware.devices.sysfs import name_ports
from sim_hardware.rack import Rack
from sim_hardware.rack.reading import merge, write_topology

D = TypeVar("D", bound=msgspec.Struct)

TOPOLOGY = "topology.toml"


def write_site(rack: Rack, endpoints: Mapping[str, str]) -> str:
    """The topology file, with the URL of every device filled in."""
    wired = msgspec.structs.replace(
        rack,
        ups=tuple(_wire(ups, endpoints.get(f"ups/{ups.name}", "")) for ups in rack.ups),
        pdus=tuple(_wire(pdu, endpoints.get(f"pdu/{pdu.name}", "")) for pdu in rack.pdus),
        loops=tuple(_wire(loop, endpoints.get(loop.subject, "")) for loop in rack.loops),
    )
    return write_topology(wired)


def write_settings(
    rack: Rack, node: str, folder: Path, broker: tuple[str, int], sysfs: str, more: str = "", off: tuple[str, ...] = ()
) -> str:
    """The settings of a node's daemon, whose files are below `folder`. `more` is TOML that wins; `off` are plugins that are not loaded.

    A simulated rack runs in `act`. Its ports show both as HCAs and as interfaces; one view of a port is enough.
    """
    host, port = broker
    table: dict[str, Any] = {
        "node": node,
        "mode": "act",
        "state": str(folder / node),
        "runtime": str(folder / node / "run"),
        "topology": str(folder / TOPOLOGY),
        "plugins_off": list(off),
        "mqtt": {"host": host, "port": port},
        "admin": {"group": "", "operators": ""},
        "plugins": {
            "fabric": {
                "infiniband": f"{sysfs}/infiniband",
                "ethernet": f"{sysfs}/net",
                "exclude": ["eth*"],
                "subjects": dict(name_ports(rack, node)),
            },
            "host": {"kernel_log": False},
        },
    }
    plugins = table["plugins"]
    for name in off:
        plugins.pop(name, None)
    return tomli_w.dumps(merge(table, msgspec.toml.decode(more) if more else {}))


def _wire(device: D, url: str) -> D:
    return msgspec.structs.replace(device, wire=url)

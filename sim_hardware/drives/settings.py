"""The settings of the daemons of a rig: a `supernoded.toml` a node, and the topology that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import tomli_w

from sim_hardware.drives.plugins import Places, list_absent, list_plugins
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


def write_settings(rack: Rack, node: str, places: Places, more: str = "", off: tuple[str, ...] = ()) -> str:
    """The settings of a node's daemon. `more` is TOML that wins; `off` are plugins that are not loaded. Raises OSError.

    A simulated rack runs in `act`.
    """
    (host, port), home = places.broker, places.folder / node
    absent = tuple(dict.fromkeys((*off, *list_absent(rack))))
    table: dict[str, Any] = {
        "node": node,
        "mode": "act",
        "state": str(home),
        "runtime": str(home / "run"),
        "topology": str(places.folder / TOPOLOGY),
        "plugins_off": list(absent),
        "roles": seat_rings(rack),
        "mqtt": {"host": host, "port": port},
        "admin": {"group": "", "operators": ""},
        "plugins": {name: told for name, told in list_plugins(rack, node, places).items() if name not in absent},
    }
    return tomli_w.dumps(merge(table, msgspec.toml.decode(more) if more else {}))


def seat_rings(rack: Rack) -> dict[str, str]:
    """Who judges rings of nodes: the first node of each; a ring within one node is that node's without a word."""
    return {f"ring/{ring.name}": ring.order[0] for ring in rack.rings if ring.level == "cluster"}


def _wire(device: D, url: str) -> D:
    return msgspec.structs.replace(device, wire=url)

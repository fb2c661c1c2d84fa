"""The settings of the daemons of a rig: a `supernoded.toml` a node, and the topology that they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
import tomli_w

from sim_hardware.drives.keys import write_keys
from sim_hardware.drives.plugins import Places, list_absent, list_plugins
from sim_hardware.plant.power.spec import read_rack
from sim_hardware.rack import Rack
from sim_hardware.rack.reading import merge, write_topology
from sim_hardware.rack.shape import Ups
from supernoded.settings import SITE

D = TypeVar("D", bound=msgspec.Struct)

TOPOLOGY = "topology.toml"
VAULTS = "vaults"  # the tiers of real ones, in a site's folder: a folder a node, and the one of all
DURABLE = "durable"  # where the simulated vaults say that steps are


def write_site(rack: Rack, endpoints: Mapping[str, str], doors: Mapping[str, str] = MappingProxyType({})) -> str:
    """The topology file, with the URL of every device filled in, and the address of every node that has a door."""
    wired = msgspec.structs.replace(
        rack,
        nodes=tuple(msgspec.structs.replace(node, address=doors.get(node.name, node.address)) for node in rack.nodes),
        ups=tuple(_wire(ups, endpoints.get(f"ups/{ups.name}", "")) for ups in _list_tested(rack)),
        pdus=tuple(_wire(pdu, endpoints.get(f"pdu/{pdu.name}", "")) for pdu in rack.pdus),
        loops=tuple(_wire(loop, endpoints.get(loop.subject, "")) for loop in rack.loops),
    )
    return write_topology(wired)


def write_settings(rack: Rack, node: str, places: Places, more: str = "", off: tuple[str, ...] = ()) -> str:
    """The settings of a node's daemon. `more` is TOML that wins; `off` are plugins that are not loaded. Raises OSError.

    A simulated rack runs in `act`, and `cardctl` is its fence. Where `more` names a database, its roles are leased there.
    """
    (host, port), home = places.broker, places.folder / node
    wanted: dict[str, Any] = msgspec.toml.decode(more) if more else {}
    absent = tuple(dict.fromkeys((*off, *wanted.pop("plugins_off", ()), *list_absent(rack))))
    table: dict[str, Any] = {
        "node": node,
        "mode": "act",
        "state": str(home),
        "runtime": str(home / "run"),
        "topology": str(places.folder / TOPOLOGY),
        "plugins_off": list(absent),
        "roles": {} if wanted.get("journal", {}).get("database") else seat_roles(rack),
        "hooks": {verb: ["cardctl", verb, "{card}"] for verb in ("isolate", "release", "test")},
        "keys": write_keys(rack, node, places.folder, places.seed),
        "mqtt": {"host": host, "port": port},
        "vault": _list_tiers(rack, node, places.folder),
        "admin": {"group": "", "operators": ""},
        "plugins": {name: told for name, told in list_plugins(rack, node, places).items() if name not in absent},
    }
    return tomli_w.dumps(merge(table, wanted))


def _list_tiers(rack: Rack, node: str, folder: Path) -> dict[str, Any]:
    """Where checkpoints are; of real vaults the first node's takes the snapshots of the pool."""
    if rack.sim.job is None or not rack.sim.job.vault:
        return {"durable": str(folder / DURABLE)}
    home, is_first = folder / VAULTS, node == rack.nodes[0].name
    return {"durable": str(home / DURABLE), "shared": str(home / node), "headroom_mb": 0, "dsm": {"each": is_first}}


def seat_roles(rack: Rack) -> dict[str, str]:
    """Who has which role: the first node of a ring of nodes has that ring, and the first node of all has the rest.

    A ring within one node is that node's without a word, and on a site of one node all is.
    """
    if len(rack.nodes) == 1:
        return {}
    first = rack.nodes[0].name
    rings = {f"ring/{ring.name}": ring.order[0] for ring in rack.rings if ring.level == "cluster"}
    feeds = dict.fromkeys((*(ups.name for ups in rack.ups), *(pdu.feed for pdu in rack.pdus)), first)
    cdus = {loop.subject: first for loop in rack.loops}
    site = dict.fromkeys(("fleet", "spares"), first)
    return {
        **rings,
        **cdus,
        **site,
        **{f"feed/{feed}": node for feed, node in feeds.items()},
        **({f"power/{SITE}": first} if feeds else {}),
    }


def _list_tested(rack: Rack) -> Iterator[Ups]:
    """The UPSes with what the test of their batteries at commissioning has shown: what new ones have, to a hundredth."""
    energy = {spec.name: spec.full_j / 3600.0 for spec in read_rack(rack).ups}
    for ups in rack.ups:
        yield ups if ups.energy_wh else msgspec.structs.replace(ups, energy_wh=round(energy[ups.name], 2))


def _wire(device: D, url: str) -> D:
    return msgspec.structs.replace(device, wire=url)

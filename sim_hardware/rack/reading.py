"""Rack files: one that comes with the simulator by its name, or a TOML file of one's own.

A file may begin with `like = "rack-4x8"`: then it says only what is different. Lists are taken whole, tables key by key. A rack without a
simulated job has `job = false` in `[sim]`, as TOML has no word for nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from sim_hardware.rack.checking import find_faults
from sim_hardware.rack.generating import GENERATED, generate_rack, match_name
from sim_hardware.rack.shape import Rack

_FOLDER = Path(__file__).parents[1] / "racks"
SHIPPED = (*GENERATED, *sorted(path.stem for path in _FOLDER.glob("*.toml")))


class RackError(Exception):
    """There is no such rack, or its file cannot be used."""


def load_rack(name: str) -> Rack:
    """A generated rack or one that is shipped, by name, or the rack in a file. Raises RackError, with a line for each thing wrong."""
    try:
        rack = msgspec.convert(_change_job(_read_tables(name, ()), was=False, now=None), Rack)
    except msgspec.ValidationError as error:
        raise RackError(f"{name}: {error}") from error
    faults = list(find_faults(rack)) if match_name(name) is None else []
    if faults:
        raise RackError("\n".join(f"{name}: {fault}" for fault in faults))
    return rack


def write_rack(rack: Rack) -> str:
    """The rack as a file that `load_rack` reads."""
    return tomli_w.dumps(_change_job(msgspec.to_builtins(rack), was=None, now=False))


def write_topology(rack: Rack) -> str:
    """The same without what only the simulator knows: the topology file of a daemon."""
    tables: dict[str, Any] = msgspec.to_builtins(rack)
    tables.pop("sim", None)
    return tomli_w.dumps(tables)


def merge(table: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables, key by key; where both have a value, the other's."""
    merged = dict(table)
    for key, value in other.items():
        mine = merged.get(key)
        merged[key] = merge(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return merged


def _change_job(tables: dict[str, Any], was: object, now: object) -> dict[str, Any]:
    """What stands for no job."""
    sim = tables.get("sim")
    if isinstance(sim, dict) and sim.get("job", ...) is was:
        return {**tables, "sim": {**sim, "job": now}}
    return tables


def _read_tables(name: str, on_the_way: tuple[str, ...]) -> dict[str, Any]:
    size = match_name(name)
    if size is not None:
        tables: dict[str, Any] = msgspec.to_builtins(generate_rack(*size))
        return tables
    if name in on_the_way:
        raise RackError(f"{name}: is like itself ({' -> '.join((*on_the_way, name))}); end the chain with one of {', '.join(GENERATED)}")
    tables = _read_file(name)
    like = tables.pop("like", "")
    return merge(_read_tables(str(like), (*on_the_way, name)), tables) if like else tables


def _read_file(name: str) -> dict[str, Any]:
    shipped = _FOLDER / f"{name}.toml"
    path = shipped if shipped.is_file() else Path(name)
    if path.suffix != ".toml":
        sizes = "any rack-NxM or pod-NxM of 1 to 9999 nodes with 1 to 64 cards each"
        raise RackError(f"{name}: no rack of this name; there are {', '.join(SHIPPED)}, {sizes}, and .toml files")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RackError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RackError(f"{path}: {error}") from error

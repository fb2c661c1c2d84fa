"""Rack files: one that comes with the simulator by its name, or a TOML file of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from sim_hardware.rack.generating import SHIPPED, generate_rack, match_name
from sim_hardware.rack.shape import Rack


class RackError(Exception):
    """There is no such rack, or its file cannot be used."""


def load_rack(name: str) -> Rack:
    """A generated rack by name, or the rack in a file. Raises RackError."""
    size = match_name(name)
    if size is not None:
        return generate_rack(*size)
    path = Path(name)
    if path.suffix != ".toml":
        raise RackError(f"{name}: no rack of this name; there are {', '.join(SHIPPED)} (any rack-NxM or pod-NxM), or give a .toml file")
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Rack)
    except OSError as error:
        raise RackError(f"{path}: {error.strerror}") from error
    except msgspec.DecodeError as error:  # a ValidationError too
        raise RackError(f"{path}: {error}") from error


def write_rack(rack: Rack) -> str:
    """The rack as a file that `load_rack` reads."""
    return tomli_w.dumps(msgspec.to_builtins(rack))


def write_topology(rack: Rack) -> str:
    """The same without what only the simulator knows: the topology file of a daemon."""
    tables: dict[str, Any] = msgspec.to_builtins(rack)
    tables.pop("sim", None)
    return tomli_w.dumps(tables)

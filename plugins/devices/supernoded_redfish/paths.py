"""Paths and links of a Redfish service. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

ROOT = "redfish/v1"
MOST_MEMBERS = 512  # of one collection that are looked at (ours)
_NUMBER = re.compile(r"(\d+)\D*$")
_UNFIT = re.compile(r"[^a-z0-9.]+")


def place(path: str) -> str:
    """Below the URL of the machine, whether it was given from there or below the service root."""
    bare = path.strip("/")
    return bare if not bare or bare == ROOT or bare.startswith("redfish/") else f"{ROOT}/{bare}"


def read_link(value: object) -> str:
    """The path of a reference; empty when it is none."""
    path = value.get("@odata.id") if isinstance(value, Mapping) else None
    return path if isinstance(path, str) else ""


def list_members(body: Mapping[str, object]) -> list[str]:
    """The paths of a collection's members."""
    members = body.get("Members")
    return [path for member in members[:MOST_MEMBERS] if (path := read_link(member))] if isinstance(members, list) else []


def read_number(value: object) -> float | None:
    """A finite number, bare or as the `Reading` of an excerpt; None for all else."""
    if isinstance(value, Mapping):
        value = value.get("Reading")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def read_text(value: object) -> str | None:
    """A text that is not empty."""
    return value.strip() if isinstance(value, str) and value.strip() else None


def find_number(identity: str) -> int | None:
    """The number that an Id ends in: 26 of `AA26`, 3 of `Card3`; None when it has none."""
    found = _NUMBER.search(identity[:100])
    return int(found[1]) if found else None


def name_last(path: str) -> str:
    """The Id that a path ends in."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def make_slug(identity: str) -> str:
    """An Id as part of a subject, small: `vr-p0` of `VR_P0`."""
    return _UNFIT.sub("-", identity[:60].lower()).strip("-") or "x"


def walk_mappings(value: object) -> Iterator[Mapping[str, object]]:
    """The objects in a list."""
    yield from (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else ()

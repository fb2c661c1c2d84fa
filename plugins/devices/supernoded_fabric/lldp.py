"""`lldpcli -f json show neighbors`: which port is at the other end of each interface. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import msgspec

from supernoded.plugin import NameNeighbour, Reading, call_neighbour, make_reading

LONGEST_NAME = 200  # characters of a port or system; LLDP allows 255 octets
LARGEST = 1_048_576  # characters


class Neighbour(msgspec.Struct, frozen=True):
    """Who is at the other end of an interface: how it calls itself and its port, the best name first."""

    interface: str
    system: str
    ports: tuple[str, ...]


def parse_neighbours(text: str) -> list[Neighbour]:
    """Every neighbour that names a port, in the order of the answer; none when it is no JSON of this tool."""
    try:
        document = json.loads(text) if len(text) <= LARGEST else None
    except (ValueError, RecursionError):
        return []
    whole = _only(_member(document, "lldp"))
    return [found for interface, told in _list_interfaces(_member(whole, "interface")) if (found := _read(interface, told)) is not None]


def list_neighbours(found: list[Neighbour], name: NameNeighbour, subject: Callable[[str], str], at: float) -> Iterator[Reading]:
    """One for each interface; where several answer, the first whose name is a subject's, and how many more there are."""
    by_interface: dict[str, list[Neighbour]] = {}
    for neighbour in found:
        by_interface.setdefault(neighbour.interface, []).append(neighbour)
    for interface, all_of_it in by_interface.items():
        named = [(name(one.system, one.ports), call_neighbour(one.system, one.ports[0])) for one in all_of_it]
        best = next((subject_of for subject_of, called in named if subject_of != called), named[0][0])
        more = len(all_of_it) - 1
        yield make_reading(subject(interface), "link.neighbour", best, "text", at, f"{more} more answer on this port" if more else "")


def _list_interfaces(told: object) -> Iterator[tuple[str, object]]:
    """`{"eth0": {...}}`, a list of those, or (json0) a list of `{"name": "eth0", ...}`."""
    for entry in told if isinstance(told, list) else [told]:
        if not isinstance(entry, dict):
            continue
        if isinstance(entry.get("name"), str):
            yield entry["name"], entry
            continue
        for interface, inner in entry.items():
            yield from ((interface, one) for one in (inner if isinstance(inner, list) else [inner]))


def _read(interface: str, told: object) -> Neighbour | None:
    port, chassis = _only(_member(told, "port")), _only(_member(told, "chassis"))
    kind, value = (_text(_member(_only(_member(port, "id")), key)) for key in ("type", "value"))
    described = _text(_member(port, "descr"))
    ports = (described, value) if kind == "mac" else (value, described)
    named = tuple(dict.fromkeys(one for one in ports if one))
    return Neighbour(interface[:LONGEST_NAME], _name_system(chassis), named) if named else None


def _name_system(chassis: object) -> str:
    """`{"leaf1": {"id": ...}}`, or (json0) `{"name": [{"value": "leaf1"}], ...}`; one without a name is its id."""
    if not isinstance(chassis, dict):
        return ""
    if "name" in chassis:
        return _text(chassis["name"])
    if "id" in chassis:
        return _text(_member(_only(chassis["id"]), "value"))
    return next((name[:LONGEST_NAME] for name, inner in chassis.items() if isinstance(inner, dict)), "")


def _member(told: object, name: str) -> object:
    return told.get(name) if isinstance(told, dict) else None


def _only(told: object) -> object:
    """The first of a list; what is none, itself."""
    return (told[0] if told else None) if isinstance(told, list) else told


def _text(told: object) -> str:
    """A text, or the `value` of an object or of the first of a list of them."""
    one = _only(told)
    one = _member(one, "value") if isinstance(one, dict) else one
    return one.strip()[:LONGEST_NAME] if isinstance(one, str) else ""

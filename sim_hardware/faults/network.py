"""Faults of the network between the machines of a site. That between devices and machines is another one, and stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Annotated, Any

from sim_hardware.faults.kind import Kind, Parameters, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import ReadingError
from sim_hardware.faults.software import VIRTUAL, find_software
from sim_hardware.plant.words import OrderError

SERVERS = ("broker", "database")
Pair = tuple[str, str]


class Partition(Parameters, frozen=True):
    """Into which parts a network falls."""

    groups: Annotated[
        str,
        about(
            "machines that stay together, groups apart by `|`: `n3 n4`, `n0 n1 | n2`; who is in none (nodes, broker, database) stays in a "
            "group of its own; empty = the last node alone",
            "text",
        ),
    ] = ""


def _list_groups(place: Place, parameters: Partition) -> list[list[str]]:
    """The groups that are named, and the rest. Raises OrderError."""
    nodes = [node.name for node in place.rig.world.rack.nodes]
    named = [re.findall(r"[^\s,]+", group) for group in parameters.groups.split("|")]
    groups = [group for group in named if group] or [nodes[-1:]]
    all_named = [name for group in groups for name in group]
    known = [*nodes, *SERVERS]
    wrong = [name for name in all_named if name not in known or all_named.count(name) > 1]
    if wrong:
        raise OrderError(f"{wrong[0]}: is no machine, or is named twice; there are {', '.join(known[:8])} ... {SERVERS[-1]}")
    return [*groups, [name for name in known if name not in all_named]]


def _list_pairs(groups: list[list[str]]) -> Iterator[Pair]:
    for one, other in combinations(groups, 2):
        yield from ((a, b) for a in one for b in other)


def _cut(place: Place, parameters: Partition) -> None:
    pairs = list(_list_pairs(_list_groups(place, parameters)))
    _heal(place, parameters)
    for pair in pairs:
        find_software(place).cut(*pair, apart=True)
    place.remember("pairs", pairs)


def _heal(place: Place, _: object) -> None:
    software = find_software(place)
    pairs: list[Pair] = place.recall("pairs") or []
    for pair in pairs:
        software.cut(*pair, apart=False)
    place.forget("pairs")


async def _see_apart(place: Place, parameters: Partition) -> bool:
    """Between the first machines of the first two groups that have any."""
    if place.rig.software is None:
        raise ReadingError(f"{place.target}: no daemon and no broker is in play here")
    return any(place.rig.software.are_apart(*pair) for pair in _list_pairs(_list_groups(place, parameters)))


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="net.partition",
        text="The network between nodes, broker and database falls apart into groups that hear nothing of each other; ended, it is whole.",
        parameters=Partition,
        targets=("network",),
        inject=_cut,
        lift=_heal,
        probe=_see_apart,
        takes_out=False,
        danger="os",
        layers=VIRTUAL,
    ),
)

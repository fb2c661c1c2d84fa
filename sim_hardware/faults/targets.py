"""The families of targets, and who is in them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from types import MappingProxyType

from sim_hardware.devices.sysfs.hwmon import FANS
from sim_hardware.devices.tools import TOOLS
from sim_hardware.plant.power.spec import UTILITIES
from sim_hardware.plant.site import sensors
from sim_hardware.plant.words import UnknownSensorError
from sim_hardware.rig import Rig

_SHOWN = 8  # names in a message


def list_targets(rig: Rig, family: str) -> tuple[str, ...]:
    """The subjects of a family, in the rack's order. Raises KeyError for an unknown family."""
    return tuple(_FAMILIES[family](rig))


def check_target(rig: Rig, families: Iterable[str], target: str) -> str:
    """What is wrong with a target; empty when it is of one of these families."""
    known: list[str] = []
    for family in families:
        if family == "sensor" and _is_sensor(rig, target):
            return ""
        members = list_targets(rig, family)
        if target in members:
            return ""
        known += _list_alike(members, target) if family == "sensor" else members
    near = [one for one in known if one.lower() == target.lower()] or difflib.get_close_matches(target, known, n=1)
    shown = ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")
    there = f"did you mean {near[0]}?" if near else f"there are {shown or 'none in this rack'}"
    return f"there is no such {' or '.join(families)}; {there}"


def _list_alike(members: tuple[str, ...], target: str) -> list[str]:
    """Of all sensors, which are many, those of the same subject, or else those of the same quantity."""
    subject, _, quantity = target.partition(":")
    return [one for one in members if one.startswith(f"{subject}:")] or [one for one in members if one.endswith(f":{quantity}")]


def _is_sensor(rig: Rig, target: str) -> bool:
    subject, _, quantity = target.partition(":")
    return _senses(rig, subject, quantity)


def _senses(rig: Rig, subject: str, quantity: str) -> bool:
    try:
        rig.world.sense(subject, quantity)
    except UnknownSensorError:
        return False
    return True


def _count_up(rig: Rig, prefix: str, quantity: str) -> Iterator[str]:
    """Numbered subjects, as many as the plant has."""
    for number in count():
        if not _senses(rig, f"{prefix}{number}", quantity):
            return
        yield f"{prefix}{number}"


def _list_feeds(rig: Rig) -> Iterator[str]:
    rack = rig.world.rack
    names = [*(ups.name for ups in rack.ups), *(feed.name for feed in rack.feeds), *(pdu.feed for pdu in rack.pdus)]
    yield from (f"feed/{name}" for name in dict.fromkeys(names))


def _list_jobs(rig: Rig) -> Iterator[str]:
    job = rig.world.rack.sim.job
    if job is not None:
        yield f"job/{job.name}"


_FAMILIES: Mapping[str, Callable[[Rig], Iterable[str]]] = MappingProxyType(
    {
        "utility": lambda _rig: (f"utility/{name}" for name in UTILITIES),
        "generator": lambda rig: ("generator",) if rig.world.rack.sim.power.generator else (),
        "ups": lambda rig: (f"ups/{ups.name}" for ups in rig.world.rack.ups),
        "pdu": lambda rig: (f"pdu/{pdu.name}" for pdu in rig.world.rack.pdus),
        "outlet": lambda rig: (f"pdu/{pdu.name}/outlet{outlet.number}" for pdu in rig.world.rack.pdus for outlet in pdu.outlets),
        "breaker": lambda rig: (f"breaker/{pdu.name}" for pdu in rig.world.rack.pdus),
        "feed": _list_feeds,
        "cdu": lambda rig: (loop.subject for loop in rig.world.rack.loops),
        "pump": lambda rig: (pump for loop in rig.world.rack.loops for pump in _count_up(rig, f"{loop.subject}/pump", "pump.state")),
        "node": lambda rig: (node.name for node in rig.world.rack.nodes),
        "fan": lambda rig: (f"{node.name}/fan{fan}" for node in rig.world.rack.nodes for fan in range(FANS)),
        "card": lambda rig: rig.world.rack.list_cards(),
        "port": lambda rig: (f"{card}/port{port}" for card in rig.world.rack.list_cards() for port in (0, 1)),
        "nic": lambda rig: (f"{node.name}/nic/mlx5_0" for node in rig.world.rack.nodes),
        "cable": lambda rig: (cable.subject for cable in rig.world.rack.cables),
        "switch": lambda rig: (f"switch/{switch.name}" for switch in rig.world.rack.switches),
        "pool": lambda rig: (f"pool/{node.name}" for node in rig.world.rack.nodes),
        "job": _list_jobs,
        "rank": lambda rig: (rank for job in _list_jobs(rig) for rank in _count_up(rig, f"{job}/rank", "rank.state")),
        "device": lambda rig: rig.devices,
        "line": lambda rig: (f"line/{line.name}" for line in rig.lines.values()),
        "tool": lambda rig: (f"{node}/{tool}" for node in rig.tools for tool in TOOLS),
        "sensor": lambda rig: (f"{sensor.subject}:{sensor.quantity}" for sensor in sensors(rig.world.site)),
        "storage": lambda _rig: ("storage",),
        "broker": lambda _rig: ("broker",),
        "database": lambda _rig: ("database",),
        "network": lambda _rig: ("network",),
        "ring": lambda rig: (f"ring/{ring.name}" for ring in rig.world.rack.rings),
    }
)
FAMILIES = tuple(_FAMILIES)

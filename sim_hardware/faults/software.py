"""Faults of the programs beside the rig: a daemon that is killed, a broker that is lost."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sim_hardware.faults.kind import Act, Kind, Layer, Nothing
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import ReadingError
from sim_hardware.plant.words import OrderError
from sim_hardware.rig import Software

_VIRTUAL: Mapping[str, Layer] = MappingProxyType({"sim": "os", "bench": "absent", "live": "absent"})


def _find_software(place: Place) -> Software:
    software = place.rig.software
    if software is None:
        raise OrderError(f"{place.target}: no daemon and no broker is in play here")
    return software


def _kill(place: Place, _: Nothing) -> None:
    _find_software(place).kill(place.target)


def _start(place: Place, _: Nothing) -> None:
    _find_software(place).start(place.target)


async def _see_gone(place: Place, _: Nothing) -> bool:
    software = place.rig.software
    if software is None:
        raise ReadingError(f"{place.target}: no daemon and no broker is in play here")
    return not software.runs(place.target)


def _end(name: str, text: str, target: str) -> Kind[Any]:
    inject: Act[Any] = _kill
    return Kind(
        kind=name,
        text=text,
        parameters=Nothing,
        targets=(target,),
        inject=inject,
        lift=_start,
        probe=_see_gone,
        takes_out=False,
        danger="os",
        layers=_VIRTUAL,
    )


KINDS: tuple[Kind[Any], ...] = (
    _end("daemon.killed", "The daemon of a node is killed; ended, it is started anew.", "node"),
    _end("broker.lost", "The MQTT broker is gone, with all its connections; ended, it is there again with what it has kept.", "broker"),
)

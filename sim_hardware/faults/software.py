"""Faults of the programs beside the rig: a daemon that is killed, paused or doubled, a broker or database that is lost, old news."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

from sim_hardware.faults.kind import Act, Kind, Layer, Nothing, Parameters, Probe, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import ReadingError
from sim_hardware.plant.words import OrderError
from sim_hardware.rig import Software

VIRTUAL: Mapping[str, Layer] = MappingProxyType({"sim": "os", "bench": "absent", "live": "absent"})


class Age(Parameters, frozen=True):
    """Of an old copy."""

    seconds: Annotated[float, about("how old the copy is", "s", 1.0, 3600.0)] = 60.0


def find_software(place: Place) -> Software:
    """The programs. Raises OrderError where there are none."""
    software = place.rig.software
    if software is None:
        raise OrderError(f"{place.target}: no daemon and no broker is in play here")
    return software


def sees(look: Callable[[Software, str], bool]) -> Probe[Any]:
    """A probe that looks at programs."""

    async def probe(place: Place, _: object) -> bool:
        if place.rig.software is None:
            raise ReadingError(f"{place.target}: no daemon and no broker is in play here")
        return look(place.rig.software, place.target)

    return probe


def does(deed: Callable[[Software, str], None]) -> Act[Any]:
    """Something that is done to programs, whatever the parameters are."""
    return lambda place, _: deed(find_software(place), place.target)


def describe(
    name: str, text: str, target: str, inject: Act[Any], lift: Act[Any], probe: Probe[Any], parameters: type[Parameters] = Nothing
) -> Kind[Any]:
    """A kind that can be made in virtual time alone."""
    return Kind(
        kind=name,
        text=text,
        parameters=parameters,
        targets=(target,),
        inject=inject,
        lift=lift,
        probe=probe,
        takes_out=False,
        danger="os",
        layers=VIRTUAL,
    )


def _end(name: str, text: str, target: str) -> Kind[Any]:
    gone = sees(lambda software, one: not software.runs(one))
    return describe(
        name, text, target, does(lambda software, one: software.kill(one)), does(lambda software, one: software.start(one)), gone
    )


def _rewind(place: Place, parameters: Age) -> None:
    find_software(place).rewind(parameters.seconds)


KINDS: tuple[Kind[Any], ...] = (
    _end("daemon.killed", "The daemon of a node is killed; ended, it is started anew.", "node"),
    _end("broker.lost", "The MQTT broker is gone, with all its connections; ended, it is there again with what it has kept.", "broker"),
    _end(
        "database.lost",
        "The site's database is gone, with all its connections; ended, it is there again with what it has kept.",
        "database",
    ),
    describe(
        "daemon.paused",
        "The daemon of a node is stopped as by SIGSTOP: its connections stand, and it does nothing; ended, it goes on where it was.",
        "node",
        does(lambda software, one: software.pause(one, paused=True)),
        does(lambda software, one: software.pause(one, paused=False)),
        sees(lambda software, one: software.is_paused(one)),
    ),
    describe(
        "node.twin",
        "A second daemon of a node's name runs on another machine, which was cloned; ended, it is gone.",
        "node",
        does(lambda software, one: software.double(one, there=True)),
        does(lambda software, one: software.double(one, there=False)),
        sees(lambda software, one: software.is_doubled(one)),
    ),
    describe(
        "broker.stale",
        "The MQTT broker starts anew with an old copy of its retained messages and no session; ended, it has again what nobody told since.",
        "broker",
        _rewind,
        does(lambda software, _: software.rewind(0.0)),
        sees(lambda software, _: software.is_rewound()),
        Age,
    ),
)

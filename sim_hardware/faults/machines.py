"""Faults of nodes as machines: dead, with a wrong clock, or with a guest that takes too much."""

from __future__ import annotations

from typing import Annotated, Any

from sim_hardware.devices.redfish import RedfishDevice
from sim_hardware.faults.kind import Kind, Parameters, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.software import VIRTUAL, find_software, sees
from sim_hardware.plant.cards.orders import HangCard, PowerNode, SlowCard
from sim_hardware.rig import Hog, Software

_NOTICED = 0.001  # s by which a clock is off, below which it is not


class Death(Parameters, frozen=True):
    """How a machine dies."""

    panics: Annotated[bool, about("it keeps its power, and its kernel is dead: its BMC says that it is on", "flag")] = False
    bmc: Annotated[bool, about("its BMC still answers", "flag")] = True


class ClockError(Parameters, frozen=True):
    """Of a wall clock."""

    seconds: Annotated[float, about("by how much it is ahead", "s", -1e6, 1e6)] = 120.0
    restart: Annotated[
        bool, about("its daemon is started anew, so that all it says has that time; else only its wall clock has", "flag")
    ] = False


class Appetite(Parameters, frozen=True):
    """Of a process that is none of the job's."""

    name: Annotated[str, about("its name", "text")] = "backup"
    memory: Annotated[float, about("share of memory", "%", 0.0, 99.0)] = 62.0
    cores: Annotated[float, about("cores that it keeps busy", "1", 0.0, 1024.0)] = 4.0
    slows: Annotated[float, about("by how much the node's cards compute slower meanwhile", "%", 0.0, 99.0)] = 20.0


def _list_cards(place: Place) -> tuple[str, ...]:
    return next((node.list_cards() for node in place.rig.world.rack.nodes if node.name == place.target), ())


def _find_bmc(place: Place) -> RedfishDevice | None:
    bmc = place.rig.devices.get(f"{place.target}/bmc")
    return bmc if isinstance(bmc, RedfishDevice) else None


def _die(place: Place, parameters: Death) -> None:
    """First the network, so that nobody is told; the rest of it dies with its power, or hangs."""
    find_software(place).darken(place.target, dark=True)
    if parameters.panics:
        for card in _list_cards(place):
            place.order(HangCard(card, hung=True))
    else:
        place.order(PowerNode(place.target, on=False))
    if (bmc := _find_bmc(place)) is not None:
        bmc.impairment.silent = not parameters.bmc


def _revive(place: Place, _: object) -> None:
    software = find_software(place)
    if not software.is_dark(place.target):
        return
    if (bmc := _find_bmc(place)) is not None:
        bmc.impairment.silent = False
    for card in _list_cards(place):
        place.order(HangCard(card, hung=False))
    place.order(PowerNode(place.target, on=True))
    software.darken(place.target, dark=False)


def _shift(place: Place, parameters: ClockError) -> None:
    place.replace("restart", parameters.restart)
    find_software(place).set_clock(place.target, parameters.seconds, restart=parameters.restart)


def _set_right(place: Place, _: object) -> None:
    software, restart = find_software(place), bool(place.recall("restart"))
    if _is_off(software, place.target):
        software.set_clock(place.target, 0.0, restart=restart)
    place.forget("restart")


def _is_off(software: Software, node: str) -> bool:
    return abs(software.find_clock_error(node)) > _NOTICED


def _gorge(place: Place, parameters: Appetite) -> None:
    place.rig.hogs[place.target] = Hog(parameters.name, parameters.memory, parameters.cores)
    for card in _list_cards(place):
        place.order(SlowCard(card, parameters.slows))


def _end(place: Place, _: object) -> None:
    if place.rig.hogs.pop(place.target, None) is not None:
        for card in _list_cards(place):
            place.order(SlowCard(card, 0.0))


async def _see_hog(place: Place, _: object) -> bool:
    """It is in the list of processes that the machine shows."""
    return place.target in place.rig.hogs


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="node.dead",
        text="A whole machine is gone: daemon, ranks and all other processes, and nothing answers at its addresses; ended, it boots.",
        parameters=Death,
        targets=("node",),
        inject=_die,
        lift=_revive,
        probe=sees(lambda software, node: software.is_dark(node)),
        danger="os",
        layers=VIRTUAL,
    ),
    Kind(
        kind="node.clock",
        text="The wall clock of a node is wrong, at once; ended, it is right at once.",
        parameters=ClockError,
        targets=("node",),
        inject=_shift,
        lift=_set_right,
        probe=sees(_is_off),
        takes_out=False,
        danger="os",
        layers=VIRTUAL,
    ),
    Kind(
        kind="host.hog",
        text="A process that is none of the job's takes memory and cores, and the ranks beside it slow down; ended, it is gone.",
        parameters=Appetite,
        targets=("node",),
        inject=_gorge,
        lift=_end,
        probe=_see_hog,
        takes_out=False,
        danger="os",
        layers=VIRTUAL,
    ),
)

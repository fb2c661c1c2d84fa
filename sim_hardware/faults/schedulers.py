"""What people do to nodes in a scheduler, beside us."""

from __future__ import annotations

from typing import Annotated, Any

from sim_hardware.devices.tools.slurm import Slurm
from sim_hardware.faults.kind import PROGRAM, Kind, Parameters, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import run_tool


class Drain(Parameters, frozen=True):
    """Of a node."""

    reason: Annotated[str, about("what he writes down", "text")] = "fan tray swap"
    by: Annotated[str, about("who he is", "text")] = "alice"


def _find(place: Place) -> Slurm:
    return place.rig.tools[place.target].slurm


def _drain(place: Place, parameters: Drain) -> None:
    place.replace("reason", parameters.reason)
    _find(place).drain(place.target, parameters.reason, parameters.by, place.rig.world.now())


def _resume(place: Place, _: object) -> None:
    """He resumes it, unless somebody else has written something since."""
    if _find(place).find(place.target).reason == place.recall("reason"):
        _find(place).undrain(place.target, resume=True)
    place.forget("reason")


async def _see_reason(place: Place, parameters: Drain) -> bool:
    run = await run_tool(place.rig, place.rig.world.rack.nodes[0].name, "scontrol", "show", "node", place.target, "-o")
    return f"Reason={parameters.reason} [{parameters.by}@" in run.out


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="slurm.drained",
        text="Somebody drains a node in Slurm, for a reason of his own; ended, he resumes it.",
        parameters=Drain,
        targets=("node",),
        inject=_drain,
        lift=_resume,
        probe=_see_reason,
        takes_out=False,
        danger="os",
        layers=PROGRAM,
    ),
)

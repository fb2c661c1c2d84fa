"""The faults that are in place: begun by a request, ended by one, or when their time is over."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sim_hardware.drives.control.words import ControlError, Inject, read_table
from sim_hardware.faults.kind import FaultError, Kind, Parameters
from sim_hardware.plant.words import PlantError
from sim_hardware.rig import Rig, UnknownDeviceError
from supernoded.chaos.catalogue import suggest

_LOG = logging.getLogger(__name__)


@dataclass
class InPlace:
    """A fault in place from `since` to `until`, in the plant's time; `trouble` says why it could not be lifted then."""

    name: str
    kind: Kind[Any]
    target: str
    parameters: Parameters
    since: float
    until: float = math.inf
    trouble: str = ""
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)


class FaultsInPlace:
    """By name. Every method that names a fault raises ControlError when there is none of this name."""

    def __init__(self, rig: Rig, catalogue: Mapping[str, Kind[Any]]) -> None:
        self.catalogue = catalogue
        self.faults: dict[str, InPlace] = {}
        self._rig = rig

    async def inject(self, asked: Inject) -> InPlace:
        """Begin a fault, or go on with other parameters. Raises ControlError when that cannot be done."""
        if asked.fault not in self.catalogue:
            raise ControlError(f"fault = {asked.fault!r}: no such kind; {suggest(asked.fault, self.catalogue, 'kinds')}")
        kind = self.catalogue[asked.fault]
        parameters: Parameters = read_table(asked.fault, kind.parameters, asked.with_)
        name = asked.name or f"{asked.fault}@{asked.on}"
        self._check_free(name, kind, asked.on)
        placed = InPlace(name, kind, asked.on, parameters, 0.0)
        if name not in self.faults:
            await self._look(placed)  # so that its probe knows what was before
            self._check_free(name, kind, asked.on)  # others may have been quicker meanwhile
        placed.since = self._rig.world.now()
        placed.until = math.inf if asked.for_ is None else placed.since + asked.for_
        self._do(placed, begin=True)
        self._forget(name)
        self.faults[name] = placed
        if placed.until < math.inf:
            self._wind(placed)
        return placed

    def lift(self, name: str) -> InPlace:
        """End a fault. Raises ControlError when that cannot be done; then it stays in place."""
        placed = self._find(name)
        self._do(placed, begin=False)
        self._forget(name)
        return placed

    def lift_all(self) -> list[InPlace]:
        """End all of them, the newest first. Raises ControlError as `lift` does, after it has tried each."""
        lifted: list[InPlace] = []
        problems: list[str] = []
        for name in reversed(tuple(self.faults)):
            try:
                lifted.append(self.lift(name))
            except ControlError as error:
                problems.append(str(error))
        if problems:
            raise ControlError("\n".join(problems))
        return lifted

    async def manifest(self, name: str) -> bool | None:
        """Whether a fault shows in what devices say; None when that cannot be seen."""
        return await self._look(self._find(name))

    def close(self) -> None:
        """Lift nothing any more."""
        for name in tuple(self.faults):
            self._forget(name)

    def _check_free(self, name: str, kind: Kind[Any], target: str) -> None:
        for placed in self.faults.values():
            same = placed.kind.kind == kind.kind and placed.target == target
            if same and placed.name != name:
                raise ControlError(f"{kind.kind} on {target} is in place as {placed.name!r}; change it by that name, or lift it first")
            if placed.name == name and not same:
                raise ControlError(f"name = {name!r}: is {placed.kind.kind} on {placed.target}; lift that one first, or take another name")

    def _find(self, name: str) -> InPlace:
        if name not in self.faults:
            raise ControlError(f"name = {name!r}: no such fault is in place; {suggest(name, self.faults, 'faults in place')}")
        return self.faults[name]

    async def _look(self, placed: InPlace) -> bool | None:
        try:
            return await placed.kind.shows(self._rig, placed.target, placed.parameters)
        except (FaultError, PlantError, UnknownDeviceError) as error:
            raise ControlError(str(error)) from error

    def _do(self, placed: InPlace, *, begin: bool) -> None:
        act = placed.kind.begin if begin else placed.kind.end
        try:
            act(self._rig, placed.target, placed.parameters)
        except (FaultError, PlantError, UnknownDeviceError) as error:
            raise ControlError(str(error)) from error

    def _forget(self, name: str) -> None:
        placed = self.faults.pop(name, None)
        if placed is not None and placed.timer is not None:
            placed.timer.cancel()

    def _wind(self, placed: InPlace) -> None:
        left = max(placed.until - self._rig.world.now(), 0.0)
        placed.timer = asyncio.get_running_loop().call_later(left, self._time_out, placed)

    def _time_out(self, placed: InPlace) -> None:
        if self._rig.world.now() < placed.until:  # the plant's time may go more slowly than the loop's
            self._wind(placed)
            return
        try:
            self.lift(placed.name)
        except ControlError as error:
            placed.trouble = str(error)
            _LOG.warning("%s: its time is over and it cannot be lifted: %s", placed.name, error)

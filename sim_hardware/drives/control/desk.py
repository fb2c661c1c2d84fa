"""Who answers requests about a served rack."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sim_hardware.drives.control.inplace import FaultsInPlace
from sim_hardware.drives.control.showing import show_fault, show_happening, show_value
from sim_hardware.drives.control.words import (
    Active,
    ControlError,
    Faults,
    Happened,
    Inject,
    Lift,
    Manifest,
    RackAsked,
    Request,
    Sense,
    Sensors,
    Truth,
    read_request,
)
from sim_hardware.drives.offering import Offered
from sim_hardware.drives.pacing import PlantClock
from sim_hardware.faults.kind import Kind
from sim_hardware.plant.site import sensors
from sim_hardware.plant.words import Happening, Sensor, UnknownSensorError
from sim_hardware.rack import write_rack
from sim_hardware.rig import Rig
from supernoded.chaos.catalogue import suggest
from supernoded.ctl.chaos_wording import describe_kind

Answer = dict[str, Any]

DRIVE = "bench"


class Desk:
    """Everything that the control socket can do, and no socket."""

    def __init__(self, rig: Rig, catalogue: Mapping[str, Kind[Any]], seed: int, clock: PlantClock) -> None:
        self.faults = FaultsInPlace(rig, catalogue)
        self._rig, self._seed, self._clock = rig, seed, clock
        self._since = time.time()
        self._count = len(rig.world.happened)  # of all that happened
        self._news = asyncio.Event()
        rig.world.watches.append(self._note)

    async def answer(self, line: bytes) -> AsyncIterator[Answer]:
        """What is answered to one line: one answer, and with `follow` further ones until the caller leaves."""
        try:
            request = read_request(line)
            answer = await self._do(request)
        except ControlError as error:
            yield {"ok": False, "error": str(error)}
            return
        yield {"ok": True, **answer}
        while isinstance(request, Happened) and request.follow:
            if answer["next"] == self._count:
                await self._news.wait()
            answer = self._list_happened(answer["next"])
            yield {"ok": True, **answer}

    async def _do(self, request: Request) -> Answer:
        if isinstance(request, Inject):
            return show_fault(await self.faults.inject(request))
        if isinstance(request, Manifest):
            return {"manifest": await self.faults.manifest(request.name)}
        return _ANSWERS[type(request)](self, request)

    def _lift(self, request: Lift) -> Answer:
        if bool(request.name) == request.all:
            raise ControlError("lift: give either the name of a fault in place, or all = true")
        lifted = self.faults.lift_all() if request.all else [self.faults.lift(request.name)]
        return {"lifted": [show_fault(one) for one in lifted]}

    def _list_kinds(self, request: Faults) -> Answer:
        catalogue = self.faults.catalogue
        kinds = [kind for name, kind in sorted(catalogue.items()) if name.startswith(request.kind)]
        if not kinds:
            raise ControlError(f"kind = {request.kind!r}: no such kind; {suggest(request.kind, catalogue, 'kinds')}")
        return {"faults": [describe_kind(Offered(kind), DRIVE) for kind in kinds]}

    def _list_faults(self, _: Active) -> Answer:
        return {"active": [show_fault(one) for one in self.faults.faults.values()]}

    def _look(self, request: Truth) -> Answer:
        world = self._rig.world
        see = world.sense if isinstance(request, Sense) else world.truth
        found = [self._find(request.subject, request.quantity)] if request.quantity else self._sensors.get(request.subject)
        if not found:
            raise ControlError(f"subject = {request.subject!r}: no such subject; {suggest(request.subject, self._sensors, 'subjects')}")
        values = [{"quantity": one.quantity, "value": show_value(see(one.subject, one.quantity)), "unit": one.unit} for one in found]
        return {"subject": request.subject, "values": values}

    def _find(self, subject: str, quantity: str) -> Sensor:
        """One that is answered and not listed is one without a unit."""
        listed = self._sensors.get(subject, [])
        try:
            self._rig.world.truth(subject, quantity)
        except UnknownSensorError as error:
            known = [one.quantity for one in listed]
            remedy = suggest(quantity, known, "quantities") if known else suggest(subject, self._sensors, "subjects")
            raise ControlError(f"{subject} has no sensor of {quantity!r}; {remedy}") from error
        return next((one for one in listed if one.quantity == quantity), Sensor(subject, quantity, "1"))

    @cached_property
    def _sensors(self) -> Mapping[str, list[Sensor]]:
        """By subject."""
        listed: dict[str, list[Sensor]] = {}
        for sensor in sensors(self._rig.world.site):
            listed.setdefault(sensor.subject, []).append(sensor)
        return listed

    def _list_sensors(self, request: Sensors) -> Answer:
        pattern = request.pattern
        whole = ":" in pattern
        listed = itertools.chain.from_iterable(self._sensors.values())
        found = (one for one in listed if fnmatchcase(f"{one.subject}:{one.quantity}" if whole else one.subject, pattern))
        return {"sensors": [{"subject": one.subject, "quantity": one.quantity, "unit": one.unit} for one in found]}

    def _tell(self, request: Happened) -> Answer:
        return self._list_happened(request.since)

    def _list_happened(self, since: int) -> Answer:
        """Those that are still kept."""
        kept = self._rig.world.happened
        first = self._count - len(kept)
        start = max(since - first, 0)
        found = itertools.islice(kept, start, None)
        return {"happened": [show_happening(first + start + place, one) for place, one in enumerate(found)], "next": self._count}

    def _tell_rack(self, _: RackAsked) -> Answer:
        """`lost` is how far the plant's time is behind the wall's, because the rack is too big for this machine."""
        world = self._rig.world
        return {
            "rack": write_rack(world.rack),
            "folder": str(self._rig.folder),
            "seed": self._seed,
            "since": self._since,
            "now": world.now(),
            "lost": self._clock.lost,
            "nodes": [node.name for node in world.rack.nodes],
        }

    def _note(self, _: Happening) -> None:
        self._count += 1
        self._news.set()
        self._news = asyncio.Event()


_ANSWERS: Mapping[type[Request], Callable[[Desk, Any], Answer]] = MappingProxyType(
    {
        Lift: Desk._lift,
        Faults: Desk._list_kinds,
        Active: Desk._list_faults,
        Truth: Desk._look,
        Sense: Desk._look,
        Sensors: Desk._list_sensors,
        Happened: Desk._tell,
        RackAsked: Desk._tell_rack,
    }
)

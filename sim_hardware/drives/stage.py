"""A rig on stage: what the director of a scenario does to it, and sees of it. The same in virtual and in real time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sim_hardware.drives.observer import Observer
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.kind import FaultError
from sim_hardware.plant.words import Happening, PlantError, UnknownSensorError
from sim_hardware.rig import Rig, UnknownDeviceError
from sim_hardware.stand_ins import PERIOD, StandIn
from supernoded.chaos.drive import Happened, Injection, Told
from supernoded.errors import ChaosError
from supernoded.model import Effect, Sight, Value

DRAINED = "slurm.reason"  # quantity: why a node is drained there, or `none`
_SIGHTS: Mapping[bool | None, Sight] = MappingProxyType(
    {True: Sight(effect=Effect.PRESENT), False: Sight(effect=Effect.ABSENT), None: Sight(effect=Effect.UNKNOWN)}
)


class RigStage:
    """See `supernoded.chaos.drive.Stage`. Without physics, faults are accepted and do nothing."""

    def __init__(self, rig: Rig, *, physics: bool = True) -> None:
        self._rig, self._physics = rig, physics
        self._happened: list[Happened] = []
        self._news = asyncio.Event()
        self.observer: Observer | None = None
        rig.world.watches.append(self._note)

    def now(self) -> float:
        """See `Stage.now`."""
        return self._rig.world.now()

    async def wait(self, until: float) -> None:
        """See `Stage.wait`."""
        try:
            async with asyncio.timeout(max(until - self.now(), 0.0)):
                await self._news.wait()
        except TimeoutError:
            return
        finally:
            self._news.clear()

    async def inject(self, injection: Injection) -> None:
        """See `Stage.inject`."""
        if self._physics:
            self._do(injection, "begin")

    async def lift(self, injection: Injection) -> None:
        """See `Stage.lift`."""
        if self._physics:
            self._do(injection, "end")

    async def manifest(self, injection: Injection) -> Sight:
        """See `Stage.manifest`."""
        return _SIGHTS[await CATALOGUE[injection.fault].shows(self._rig, injection.target, injection.parameters)]

    def truth(self, subject: str, quantity: str) -> Value:
        """See `Stage.truth`; what is written of a node in the workload manager is no matter of the plant."""
        if quantity == DRAINED and subject in self._rig.tools:
            return self._rig.tools[subject].slurm.find(subject).reason or "none"
        try:
            return self._rig.world.truth(subject, quantity)
        except UnknownSensorError as error:
            raise ChaosError(str(error)) from error

    def happened(self) -> Sequence[Happened]:
        """See `Stage.happened`."""
        return self._happened

    def told(self) -> Sequence[Told]:
        """See `Stage.told`."""
        return self.observer.told if self.observer is not None else ()

    def wake(self) -> None:
        """Something is new."""
        self._news.set()

    def _note(self, happening: Happening) -> None:
        self._happened.append(Happened(happening.at, happening.kind, happening.subject, happening.text, happening.value))
        self.wake()

    def _do(self, injection: Injection, what: str) -> None:
        kind = CATALOGUE[injection.fault]
        try:
            (kind.begin if what == "begin" else kind.end)(self._rig, injection.target, injection.parameters)
        except (FaultError, PlantError, UnknownDeviceError) as error:
            raise ChaosError(f"{injection.name} ({injection.fault} on {injection.target}): {error}") from error


async def let_act(stand_in: StandIn, rig: Rig) -> None:
    """Let a stand-in look at the rack and act, until cancelled."""
    while True:
        stand_in.act(rig.world)
        await asyncio.sleep(PERIOD)

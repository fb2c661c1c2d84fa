"""What a kind of fault is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import ReadingError
from sim_hardware.faults.targets import check_target
from sim_hardware.plant.words import Order, OrderError
from sim_hardware.rig import Rig

Danger = Literal["model", "telemetry", "os", "device", "physical"]
Layer = Literal["model", "protocol", "os", "telemetry", "physical", "absent"]


class FaultError(Exception):
    """The fault cannot be begun or ended there."""


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a kind. Every field has a default, a meaning and a unit; unknown keys are refused."""


P = TypeVar("P", bound=Parameters)

Act = Callable[[Place, P], None]  # may raise OrderError
Probe = Callable[[Place, P], Awaitable[bool | None]]  # may raise ReadingError

# In which layer each drive makes a fault (chaos drives sim and bench; on live hardware nothing of this can be made yet).
PLANT: Mapping[str, Layer] = MappingProxyType({"sim": "model", "bench": "protocol", "live": "absent"})
WIRE: Mapping[str, Layer] = MappingProxyType({"sim": "protocol", "bench": "protocol", "live": "absent"})
SENSOR: Mapping[str, Layer] = MappingProxyType({"sim": "telemetry", "bench": "telemetry", "live": "absent"})
PROGRAM: Mapping[str, Layer] = MappingProxyType({"sim": "protocol", "bench": "os", "live": "absent"})


def about(meaning: str, unit: str, low: float | None = None, high: float | None = None) -> Meta:
    """What a parameter means, its unit (`1` for none, `text` for a word), and its bounds."""
    return Meta(ge=low, le=high, description=meaning, extra={"unit": unit})


@dataclass(frozen=True)
class Kind(Generic[P]):
    """One kind of fault. `shows_within` and `ends_within` are seconds, at the default parameters, until its probe says so."""

    kind: str
    text: str
    parameters: type[P]
    targets: tuple[str, ...]
    inject: Act[P]
    lift: Act[P]
    probe: Probe[P]
    takes_out: bool = True
    undoable: bool = True
    danger: Danger = "device"
    layers: Mapping[str, Layer] = field(default_factory=lambda: PLANT)
    shows_within: float = 2.0
    ends_within: float = 3.0

    def begin(self, rig: Rig, target: str, parameters: P) -> None:
        """Begin, or go on with other parameters. Raises FaultError for a wrong target, and when the plant cannot take it now."""
        self._act(self.inject, rig, target, parameters)

    def end(self, rig: Rig, target: str, parameters: P) -> None:
        """End; what is not there is ended already. Raises FaultError as `begin` does."""
        self._act(self.lift, rig, target, parameters)

    async def shows(self, rig: Rig, target: str, parameters: P) -> bool | None:
        """Whether it shows in what devices say; None when that cannot be seen. To be asked once before `begin`. Raises FaultError."""
        self._check(rig, target)
        try:
            return await self.probe(Place(rig, self.kind, target), parameters)
        except (ReadingError, OrderError):
            return None

    def _check(self, rig: Rig, target: str) -> None:
        problem = check_target(rig, self.targets, target)
        if problem:
            raise FaultError(f"{self.kind} on {target}: {problem}")

    def _act(self, act: Act[P], rig: Rig, target: str, parameters: P) -> None:
        self._check(rig, target)
        try:
            act(Place(rig, self.kind, target), parameters)
        except OrderError as error:
            raise FaultError(f"{self.kind} on {target}: {error}") from error


def give(make: Callable[[Place, P], Order]) -> Act[P]:
    """Give the plant an order."""
    return lambda place, parameters: place.order(make(place, parameters))


def lift(make: Callable[[Place], Order]) -> Act[Any]:
    """Give the order that ends a fault, whatever its parameters were."""
    return lambda place, _: place.order(make(place))


class Nothing(Parameters, frozen=True):
    """No parameters."""

"""A fault of the timeline, as typed tables: what, on what, when, how it goes, and where it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import field

from supernoded.chaos.condition import Condition, Seconds, Whole
from supernoded.tables import Conflict, Table, about

Text = Annotated[str, msgspec.Meta(min_length=1)]


class Pulse(Table, frozen=True, kw_only=True):
    """There and away by turns."""

    on: Whole
    off: Whole


class Ramp(Table, frozen=True, kw_only=True):
    """One parameter goes from one value to another in equal steps over the fault's time."""

    parameter: Text
    from_: float = field(name="from")
    to: float
    steps: Annotated[int, about("steps", ge=2, le=1000)] = 10


class Shape(Table, frozen=True, kw_only=True):
    """How the fault goes over its time; `step` is there from its start to its end."""

    shorthand: ClassVar[str] = "name"

    name: Literal["step"] = "step"
    pulse: Pulse | None = None
    ramp: Ramp | None = None

    def conflicts(self) -> Iterable[Conflict]:
        """One shape."""
        if self.pulse is not None and self.ramp is not None:
            yield Conflict(key=("ramp",), fault="cannot be a pulse and a ramp", remedy="keep one")


class Manifest(Table, frozen=True, kw_only=True):
    """How long the fault may take to show, and where to look instead of where the drive looks."""

    within: Whole = 10.0
    see: Condition | None = None


class Move(Table, frozen=True, kw_only=True):
    """A fault of the timeline."""

    fault: Text
    on: Text
    for_: Whole = field(name="for")
    name: str = ""
    at: Seconds | None = None
    after: Condition | None = None
    within: Whole | None = None
    with_: Mapping[str, Any] = field(default={}, name="with")
    shape: Shape = Shape()
    manifest: Manifest = Manifest()
    undo: Literal["auto", "none"] = "auto"

    def conflicts(self) -> Iterable[Conflict]:
        """It starts at a time, or after something within a time."""
        if (self.at is None) == (self.after is None):
            yield Conflict(key=("at",), fault="a fault starts either `at` a time or `after` something", remedy="give one of them")
        if (self.after is None) != (self.within is None):
            yield Conflict(key=("within",), fault="`after` and `within` go together", remedy="say within which time it must have come")

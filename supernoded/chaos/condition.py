"""One condition, used wherever a scenario asks something: of what daemons told, of what happened, or of the plant's truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import field

from supernoded.tables import Conflict, Table, about

DAY = 86_400.0
SOURCES = ("told", "happened", "truth", "known")
TESTS = ("above", "below", "equals", "between", "one_of", "has")

Seconds = Annotated[float, about("a time", unit="s", ge=0, le=7 * DAY)]
Whole = Annotated[float, about("a time", unit="s", gt=0, le=7 * DAY)]


class Count(Table, frozen=True, kw_only=True):
    """How often."""

    min: Annotated[int, about("at least", ge=0)] = 0
    max: Annotated[int, about("at most", ge=0)] | None = None

    def conflicts(self) -> Iterable[Conflict]:
        """Least is not above most."""
        if self.max is not None and self.max < self.min:
            yield Conflict(key=("max",), fault=f"is below min, {self.min}", remedy="raise it, or lower min")


class Condition(Table, frozen=True, kw_only=True):
    """Exactly one of `told` (by a daemon, on MQTT), `happened` (in the plant), `truth` (a quantity of the plant), `known` (a name).

    `on` is a subject, a pattern, or the name of a target. `match` says whether every subject must hold or any one.
    """

    shorthand: ClassVar[str] = "known"

    told: str = ""
    happened: str = ""
    truth: str = ""
    known: str = ""
    on: str = ""
    raised: bool = True
    says: str = ""  # a part of the text of what was told
    above: float | None = None
    below: float | None = None
    equals: str | float | None = None
    between: Annotated[tuple[float, ...], msgspec.Meta(min_length=2, max_length=2)] | None = None
    one_of: tuple[str | float, ...] = ()
    has: str = ""  # a flag
    unit: str = ""  # checked, never converted
    match: Literal["all", "any"] | None = None
    not_: bool = field(default=False, name="not")
    for_: Seconds = field(default=0.0, name="for")

    def conflicts(self) -> Iterable[Conflict]:
        """One source; a test for a truth and for nothing else."""
        yield from count_given(self, SOURCES, 1, 1, f"is one of {', '.join(SOURCES)}")
        tests = int(bool(self.truth))
        yield from count_given(self, TESTS, tests, tests, "has one test for a `truth`, and none for anything else")
        if self.between is not None and self.between[0] > self.between[-1]:
            yield Conflict(key=("between",), fault="begins above its end", remedy="write the lower bound first")
        if self.says and not self.told:
            yield Conflict(key=("says",), fault="only what is `told` has words", remedy="leave it out")
        if self.unit and not self.truth:
            yield Conflict(key=("unit",), fault="only a `truth` has a unit", remedy="leave it out")


def count_given(table: msgspec.Struct, names: Sequence[str], least: int, most: int, rule: str) -> Iterable[Conflict]:
    """A conflict unless at least so many and at most so many of these fields are given."""
    values = {name: getattr(table, name) for name in names}
    given = [name for name, value in values.items() if value is not None and value is not False and value not in {"", ()}]
    if not least <= len(given) <= most:
        remedy = f"use one of {', '.join(names)}" if most else f"leave out {', '.join(given)}"
        yield Conflict(key=(given[-1],) if given else (), fault=f"{rule}; given is {' and '.join(given) or 'nothing'}", remedy=remedy)

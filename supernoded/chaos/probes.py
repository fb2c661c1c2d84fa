"""Conditions resolved for one run: which subjects, which test, and what a value says to it. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec

from supernoded.chaos.catalogue import ANYTHING, suggest
from supernoded.chaos.condition import Condition
from supernoded.chaos.drive import ACTION, Happened, Told
from supernoded.chaos.durations import say_seconds
from supernoded.chaos.scope import PATTERN, MisfitError, Scope
from supernoded.model import Value
from supernoded.tables import Key

NUMERIC = ("above", "below", "between")


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One condition on subjects. `every`: all of them must hold, else any one."""

    condition: Condition
    subjects: tuple[str, ...]  # patterns where it is of what was told or happened; none = any subject
    every: bool

    def matches(self, entry: Told | Happened) -> bool:
        """Whether an entry is of this kind and subject, raised or not."""
        kind = self.condition.told if isinstance(entry, Told) else self.condition.happened
        if not fnmatchcase(entry.kind, kind) or self.condition.says not in entry.text:
            return False
        if isinstance(entry, Told) and entry.kind.startswith(ACTION) and not kind.startswith(ACTION):
            return False  # `*` means every trouble
        return not self.subjects or any(fnmatchcase(entry.subject, subject) for subject in self.subjects)

    def __str__(self) -> str:
        """The condition in words."""
        condition = self.condition
        subjects = ", ".join(self.subjects[:3]) + (f" and {len(self.subjects) - 3} more" if len(self.subjects) > 3 else "")
        where = f" of {'any of ' if not self.every and len(self.subjects) > 1 else ''}{subjects}" if subjects else ""
        if condition.truth:
            return f"{condition.truth}{where} {'not ' if condition.not_ else ''}{say_test(condition)}"
        what = f"told {condition.told}" + ("" if condition.raised else " cleared") if condition.told else f"happened {condition.happened}"
        says = f" with {condition.says!r}" if condition.says else ""
        return f"{'not ' if condition.not_ else ''}{what}{where}{says}"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Probes that must hold together, for so long."""

    probes: tuple[Probe, ...]
    hold: float = 0.0
    name: str = ""

    def __str__(self) -> str:
        """The condition in words."""
        words = " and ".join(map(str, self.probes)) + (f" for {say_seconds(self.hold)}" if self.hold else "")
        return f"{self.name} ({words})" if self.name else words

    def as_event(self) -> Probe | None:
        """The probe whose entries are moments in themselves; None where it is a state that holds or does not."""
        [first, *rest] = self.probes
        return None if rest or self.hold or first.condition.not_ or first.condition.truth else first


def resolve(condition: Condition, key: Key, scope: Scope, *, every: bool = True) -> Check:
    """The condition in this run; `every` is what `match` means where it is not given. Raises MisfitError."""
    if not condition.known:
        return Check(probes=(_resolve_one(condition, key, scope, every),), hold=condition.for_)
    if condition.known not in scope.named:
        raise MisfitError(
            (*key, "known"), condition.known, "no condition has this name", suggest(condition.known, scope.named, "conditions")
        )
    parts = scope.named[condition.known]
    if condition.not_ and len(parts) > 1:
        raise MisfitError((*key, "not"), condition.known, f"stands for {len(parts)} conditions", "write out which of them must not hold")
    changed = [
        msgspec.structs.replace(part, on=condition.on or part.on, match=condition.match or part.match, not_=part.not_ != condition.not_)
        for part in parts
    ]
    hold = condition.for_ or max(part.for_ for part in parts)
    return Check(probes=tuple(_resolve_one(part, key, scope, every) for part in changed), hold=hold, name=condition.known)


def _resolve_one(condition: Condition, key: Key, scope: Scope, every: bool) -> Probe:
    every = condition.match == "all" if condition.match else every
    if condition.truth:
        return Probe(condition=condition, subjects=_find_sensors(condition, key, scope), every=every)
    _check_kind(condition, key, scope)
    if not condition.on:
        return Probe(condition=condition, subjects=(), every=every)
    patterns = scope.expand(condition.on)
    if condition.happened or not (PATTERN & set(condition.on) or all(_is_below(one, scope) for one in patterns)):
        scope.find(condition.on, (*key, "on"))
    if condition.happened and scope.view.happenings:
        _check_place(condition, patterns, key, scope)
    return Probe(condition=condition, subjects=patterns, every=every)


def _check_kind(condition: Condition, key: Key, scope: Scope) -> None:
    """A misspelt kind would never come, and `never` would hold."""
    for name, kind, known, fault in (
        ("told", condition.told, scope.view.tellings, "no daemon tells of this kind"),
        ("happened", condition.happened, scope.view.happenings, "nothing of this kind happens here"),
    ):
        if kind and known and not any(fnmatchcase(one, kind) for one in known):
            raise MisfitError((*key, name), kind, fault, suggest(kind, known, "kinds"))


def _check_place(condition: Condition, patterns: Sequence[str], key: Key, scope: Scope) -> None:
    """A kind that cannot befall any of these subjects would never come either."""
    view = scope.view
    families = {family for kind, those in view.happenings.items() if fnmatchcase(kind, condition.happened) for family in those}
    members = [member for family in sorted(families) for member in view.subjects.get(family, ())]
    if ANYTHING in families or any(_can_be(pattern, member) for pattern in patterns for member in members):
        return
    remedy = f"it befalls a {' or a '.join(sorted(families))}"
    raise MisfitError((*key, "on"), condition.on, f"{condition.happened} cannot happen there", remedy)


def _can_be(pattern: str, member: str) -> bool:
    """Whether a pattern means this subject, or something below it."""
    return fnmatchcase(member, pattern) or pattern.startswith(f"{member}/")


def _is_below(subject: str, scope: Scope) -> bool:
    """Daemons may speak of what the rack does not list, such as a node's disks, if it is below what it does."""
    parts = subject.split("/")
    return any("/".join(parts[:end]) in scope.subjects for end in range(1, len(parts)))


def _find_sensors(condition: Condition, key: Key, scope: Scope) -> tuple[str, ...]:
    sensors, quantity = scope.view.sensors, condition.truth
    if not any(measured == quantity for _, measured in sensors):
        known = {measured for _, measured in sensors}
        raise MisfitError(
            (*key, "truth"), quantity, f"nothing in {scope.view.name} has this quantity", suggest(quantity, known, "quantities")
        )
    where = scope.find(condition.on, (*key, "on")) if condition.on else tuple(subject for subject, _ in sensors)
    found = tuple(dict.fromkeys(subject for subject in where if (subject, quantity) in sensors))
    if not found or (len(found) < len(where) and condition.on and not PATTERN & set(condition.on)):
        lacking = next(subject for subject in where if (subject, quantity) not in sensors)
        known = {measured for subject, measured in sensors if subject == lacking}
        raise MisfitError((*key, "truth"), quantity, f"{lacking} has no such quantity", suggest(quantity, known, "quantities"))
    for unit in dict.fromkeys(sensors[subject, quantity] for subject in found):
        _check_unit(condition, unit, key)
    return found


def _check_unit(condition: Condition, unit: str, key: Key) -> None:
    if condition.unit and condition.unit != unit:
        raise MisfitError((*key, "unit"), condition.unit, f"{condition.truth} is in {unit}", f"write it in {unit}")
    numeric = [name for name in NUMERIC if getattr(condition, name) is not None]
    if unit in {"text", "flags"} and numeric:
        remedy = "use `has` or `equals`" if unit == "flags" else "use `equals` or `one_of`"
        raise MisfitError((*key, numeric[0]), getattr(condition, numeric[0]), f"{condition.truth} is no number but {unit}", remedy)
    if unit != "flags" and condition.has:
        raise MisfitError(
            (*key, "has"), condition.has, f"{condition.truth} has no flags, it is in {unit}", "use `equals`, `above` or `below`"
        )
    if unit == "text" and any(isinstance(one, int | float) for one in (condition.equals, *condition.one_of)):
        raise MisfitError((*key, "equals"), condition.equals, f"{condition.truth} is a text", "put the value in quotes")
    if unit not in {"text", "flags"} and any(isinstance(one, str) for one in (condition.equals, *condition.one_of)):
        raise MisfitError((*key, "equals"), condition.equals, f"{condition.truth} is a number in {unit}", "write a number")


def measure(value: Value, condition: Condition) -> bool | None:
    """What a value says to the test, before `not`; None when there is no value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, frozenset):
        return condition.has in value if condition.has else _to_flags(condition.equals) == value
    if isinstance(value, str):
        return value in condition.one_of if condition.one_of else value == condition.equals
    return all(_compare(value, condition))


def _compare(value: float, condition: Condition) -> Iterator[bool]:
    if condition.above is not None:
        yield value > condition.above
    if condition.below is not None:
        yield value < condition.below
    if condition.between is not None:
        yield condition.between[0] <= value <= condition.between[-1]
    if condition.equals is not None:
        yield value == condition.equals
    if condition.one_of:
        yield value in condition.one_of


def _to_flags(text: object) -> frozenset[str]:
    return frozenset(str(text or "").split())


def say_test(condition: Condition) -> str:
    """`above 95`, `between 1 and 2`, `one of on, off`."""
    unit = f" {condition.unit}" if condition.unit else ""
    if condition.between is not None:
        return f"between {condition.between[0]:g} and {condition.between[-1]:g}{unit}"
    if condition.one_of:
        return f"one of {', '.join(map(str, condition.one_of))}"
    if condition.has:
        return f"has {condition.has}"
    if condition.equals is not None:
        return f"equals {condition.equals}{unit}"
    return f"above {condition.above:g}{unit}" if condition.above is not None else f"below {condition.below:g}{unit}"


def say_value(value: Value) -> str:
    """A value as a report writes it."""
    if value is None:
        return "no value"
    if isinstance(value, frozenset):
        return " ".join(sorted(value)) or "no flag"
    return value if isinstance(value, str) else f"{value:.6g}"

"""What names mean in one run: subjects of the rack, targets picked by seed, and named conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from random import Random
from types import MappingProxyType

from supernoded.chaos.catalogue import RackView, suggest
from supernoded.chaos.condition import Condition
from supernoded.chaos.grammar import Scenario, Target
from supernoded.errors import ChaosError
from supernoded.tables import Key, format_key

PATTERN = frozenset("*?[")
STANDARD: Mapping[str, Sequence[Condition]] = MappingProxyType(
    {
        "no_open_incident": (Condition(told="*", not_=True),),
        "nothing_told_yet": (Condition(told="*", not_=True), Condition(told="*", raised=False, not_=True)),
    }
)  # named conditions on any drive; a drive adds its own


class MisfitError(ChaosError):
    """Something in a scenario does not fit the rack or the drive: where, the value, what is wrong, and what to do."""

    def __init__(self, key: Key, value: object, fault: str, remedy: str) -> None:
        super().__init__(f"{format_key(key)}: {value}: {fault}; {remedy}")
        self.key, self.value, self.fault, self.remedy = key, value, fault, remedy


@dataclass(frozen=True)
class Scope:
    """Where names are looked up."""

    view: RackView
    named: Mapping[str, Sequence[Condition]] = field(default_factory=dict)
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    subjects: Mapping[str, None] = field(default_factory=dict)  # all there are, in the rack's order

    def find(self, text: str, key: Key) -> tuple[str, ...]:
        """The subjects that a text means: what `expand` makes of it, and patterns filled in. Raises MisfitError when there are none."""
        found = [subject for one in self.expand(text) for subject in self._match(one)]
        if not found:
            known = [*self.subjects, *self.targets, *self.view.subjects]
            raise MisfitError(key, text, f"is no subject of {self.view.name} and no target", suggest(text, known, "subjects"))
        return tuple(dict.fromkeys(found))

    def expand(self, text: str) -> tuple[str, ...]:
        """A target's subjects, each with what stands behind its name (`victim/port0`); all of a family; else the text itself."""
        if text not in self.subjects and text in self.view.subjects:
            return self.view.subjects[text]
        head, slash, rest = text.partition("/")
        return tuple(f"{subject}{slash}{rest}" for subject in self.targets.get(head, (head,)))

    def _match(self, text: str) -> list[str]:
        if not PATTERN & set(text):
            return [text] if text in self.subjects or self.view.is_sensor(text) else []
        return [subject for subject in self.subjects if fnmatchcase(subject, text)]


def make_scope(scenario: Scenario, view: RackView, named: Mapping[str, Sequence[Condition]], seed: int) -> Scope:
    """The scope of one run; the same for the same seed. Raises MisfitError for a target that cannot be picked."""
    scope = Scope(view, {**STANDARD, **named}, {}, dict.fromkeys(view.list_subjects()))
    targets: dict[str, tuple[str, ...]] = {}
    for name in scenario.targets:
        _pick(name, scenario, scope, seed, targets, ())
    return replace(scope, targets=targets)


def _pick(name: str, scenario: Scenario, scope: Scope, seed: int, done: dict[str, tuple[str, ...]], path: tuple[str, ...]) -> None:
    if name in done:
        return
    key, target = ("targets", name), scenario.targets[name]
    if name in path:
        raise MisfitError((*key, "not"), target.not_, "these targets exclude each other in a circle", "break the circle")
    if name in scope.subjects or name in scope.view.subjects:
        raise MisfitError(key, name, "is the name of a subject or a family too", "name the target otherwise")
    if target.not_ and target.not_ not in scenario.targets:
        raise MisfitError((*key, "not"), target.not_, "no target has this name", suggest(target.not_, scenario.targets, "targets"))
    if target.not_:
        _pick(target.not_, scenario, scope, seed, done, (*path, name))
    candidates = _list_candidates(target, key, scenario, scope, done)
    wanted = target.pick or len(candidates)
    if not candidates or wanted > len(candidates):
        fault = f"{len(candidates)} subjects of {scope.view.name} fit, {max(wanted, 1)} are wanted"
        raise MisfitError(key, target.subject or target.select, fault, "ask for less, or loosen `where`, `not` and `limits.exclude`")
    chosen = Random(f"{seed}/target/{name}").sample(candidates, wanted) if target.pick else candidates
    done[name] = tuple(subject for subject in candidates if subject in chosen)


def _list_candidates(target: Target, key: Key, scenario: Scenario, scope: Scope, done: Mapping[str, tuple[str, ...]]) -> list[str]:
    view = scope.view
    if target.subject:
        candidates = list(scope.find(target.subject, (*key, "subject")))
    elif target.select in view.subjects:
        candidates = list(view.subjects[target.select])
    else:
        raise MisfitError(
            (*key, "select"), target.select, f"{view.name} has no such family", suggest(target.select, view.subjects, "families")
        )
    _check_attributes(target, key, view, candidates)
    unwanted = (*done.get(target.not_, ()), *scenario.limits.exclude)
    return [
        subject
        for subject in candidates
        if not any(fnmatchcase(subject, one) for one in unwanted)
        and all(str(value) in view.attributes.get(subject, {}).get(name, ()) for name, value in target.where.items())
    ]


def _check_attributes(target: Target, key: Key, view: RackView, candidates: Sequence[str]) -> None:
    known = {name for subject in candidates for name in view.attributes.get(subject, {})}
    for name in target.where:
        if name not in known:
            raise MisfitError(
                (*key, "where", name), target.where[name], "none of these has such an attribute", suggest(name, known, "attributes")
            )

"""A scenario with a seed on a rack: who is hit when and with what, and what is watched. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.chaos.catalogue import FaultKind
from supernoded.chaos.condition import Condition
from supernoded.chaos.document import Document
from supernoded.chaos.drive import Injection
from supernoded.chaos.grammar import Expectation, Scenario
from supernoded.chaos.move import Move
from supernoded.chaos.probes import Check, Probe, resolve
from supernoded.chaos.redundancy import Spent, find_spent
from supernoded.chaos.scope import MisfitError, Scope
from supernoded.parts import Fidelity
from supernoded.tables import Key


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """One fault on one subject. `stages` are changes by seconds since its start: parameters, or None for away; the last is None."""

    move: str
    injection: Injection
    at: float | None
    after: Check | str | None  # a condition, or the name of an expectation
    within: float
    stages: tuple[tuple[float, msgspec.Struct | None], ...]
    shows_within: float
    see: Check | None
    undo: bool
    fidelity: Fidelity


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """One expectation, resolved."""

    asked: Expectation
    check: Check

    @property
    def name(self) -> str:
        """Its name."""
        return self.asked.name


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All that one run does and looks at."""

    scenario: Scenario
    drive: str
    rack: str
    seed: int
    targets: Mapping[str, tuple[str, ...]]
    faults: tuple[Planned, ...]
    watched: tuple[Watched, ...]
    before: tuple[Check, ...]
    abort: tuple[Check, ...]
    converge: tuple[Check, ...]
    spent: tuple[Spent, ...]

    def list_truths(self) -> tuple[Probe, ...]:
        """Every probe of the plant's truth, once."""
        starts = [planned.after for planned in self.faults if isinstance(planned.after, Check)]
        sights = [planned.see for planned in self.faults if planned.see is not None]
        checks = [*self.before, *self.abort, *self.converge, *starts, *sights, *(one.check for one in self.watched)]
        return tuple(dict.fromkeys(probe for check in checks for probe in check.probes if probe.condition.truth))


def name_moves(timeline: Sequence[Move]) -> tuple[str, ...]:
    """A name for each fault of the timeline: its own, else its kind, with a number where that is taken."""
    names: list[str] = []
    for move in timeline:
        base = move.name or move.fault
        number = sum(1 for other in timeline[: len(names)] if (other.name or other.fault) == base)
        names.append(f"{base}-{number + 1}" if number else base)
    return tuple(names)


def to_plain(parameters: msgspec.Struct) -> dict[str, object]:
    """Parameters as a report writes them."""
    plain: dict[str, object] = msgspec.to_builtins(parameters)
    return plain


def make_plan(scenario: Scenario, drive: str, seed: int, scope: Scope, kinds: Mapping[str, FaultKind]) -> Plan:
    """The plan of one run. The scenario has no flaw on this drive and rack. Raises MisfitError where what this seed picks does not fit."""
    faults = tuple(planned for place in range(len(scenario.timeline)) for planned in _plan_move(scenario, place, scope, kinds, drive))
    return Plan(
        scenario=scenario,
        drive=drive,
        rack=scope.view.name,
        seed=seed,
        targets=scope.targets,
        faults=faults,
        watched=tuple(list_watched(scenario, scope)),
        before=_resolve_all(scenario.steady_state.before.all, ("steady_state", "before", "all"), scope),
        abort=_resolve_all(scenario.abort_if, ("abort_if",), scope, every=False),
        converge=_resolve_all(scenario.recovery.converge.all, ("recovery", "converge", "all"), scope),
        spent=find_spent(scope.view, [(one.injection.target, *_span(one)) for one in faults if kinds[one.injection.fault].takes_out]),
    )


def list_watched(scenario: Scenario, scope: Scope) -> Iterator[Watched]:
    """The expectations, and what must hold always as further ones. Raises MisfitError."""
    for place, one in enumerate(scenario.expect):
        yield Watched(asked=one, check=resolve(one, ("expect", place), scope, every=not one.never))
    for place, condition in enumerate(scenario.steady_state.always):
        check = resolve(condition, ("steady_state", "always", place), scope)
        asked = Expectation(name=f"always {check.name or check}", always=True, **msgspec.structs.asdict(condition))
        yield Watched(asked=asked, check=check)


def _plan_move(scenario: Scenario, place: int, scope: Scope, kinds: Mapping[str, FaultKind], drive: str) -> Iterator[Planned]:
    move, name, key = scenario.timeline[place], name_moves(scenario.timeline)[place], ("timeline", place)
    kind = kinds[move.fault]
    stages = tuple(_shape(move, kind, key))
    subjects = scope.find(move.on, (*key, "on"))
    see = move.manifest.see
    for subject in subjects:
        label = name if len(subjects) == 1 else f"{name}@{subject}"
        yield Planned(
            move=name,
            injection=Injection(label, move.fault, subject, _read_parameters(kind, move.with_, (*key, "with")), move.for_),
            at=move.at,
            after=_plan_start(scenario, move, scope, place),
            within=move.within or 0.0,
            stages=stages,
            shows_within=move.manifest.within,
            see=resolve(see, (*key, "manifest", "see"), scope) if see is not None else None,
            undo=move.undo == "auto" and kind.undoable,
            fidelity=kind.fidelity(drive),
        )


def _plan_start(scenario: Scenario, move: Move, scope: Scope, place: int) -> Check | str | None:
    if move.after is None:
        return None
    if move.after.known in {one.name for one in scenario.expect}:
        return move.after.known
    return resolve(move.after, ("timeline", place, "after"), scope)


def _read_parameters(kind: FaultKind, table: Mapping[str, object], key: Key) -> msgspec.Struct:
    document = Document("parameters", "{}")
    found = document.read(kind.parameters, dict(table))
    if found is None:
        raise MisfitError(key, dict(table), document.problems[0].fault, document.problems[0].remedy)
    return found


def _shape(move: Move, kind: FaultKind, key: Key) -> Iterator[tuple[float, msgspec.Struct | None]]:
    pulse, ramp, whole = move.shape.pulse, move.shape.ramp, move.for_
    parameters = _read_parameters(kind, move.with_, (*key, "with"))
    if pulse is not None:
        period = pulse.on + pulse.off
        for turn in range(int(-(-whole // period))):
            yield turn * period, parameters
            yield min(turn * period + pulse.on, whole), None
    elif ramp is not None:
        for step in range(ramp.steps):
            share = step / (ramp.steps - 1)
            value = ramp.from_ * (1 - share) + ramp.to * share
            table = {**move.with_, ramp.parameter: value}
            yield whole * step / ramp.steps, _read_parameters(kind, table, (*key, "shape", "ramp"))
        yield whole, None
    else:
        yield 0.0, parameters
        yield whole, None


def _span(planned: Planned) -> tuple[float, float]:
    """From when to when it can be there; one that waits for something can be there from the beginning."""
    first = planned.at if planned.at is not None else 0.0
    return first, (planned.at if planned.at is not None else planned.within) + planned.injection.seconds


def _resolve_all(conditions: Sequence[Condition], key: Key, scope: Scope, *, every: bool = True) -> tuple[Check, ...]:
    return tuple(resolve(condition, (*key, place), scope, every=every) for place, condition in enumerate(conditions))

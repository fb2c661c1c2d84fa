"""A scenario against a drive: its catalogue, its racks and its policies. What is wrong is added to the document's problems."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from supernoded.chaos.catalogue import ANYTHING, FaultKind, RackView, suggest
from supernoded.chaos.document import Document
from supernoded.chaos.drive import Drive, list_plugins
from supernoded.chaos.durations import say_seconds
from supernoded.chaos.grammar import Remedy, Scenario
from supernoded.chaos.move import Move
from supernoded.chaos.plan import Plan, make_plan, name_moves
from supernoded.chaos.probes import resolve
from supernoded.chaos.redundancy import check_limits
from supernoded.chaos.scope import MisfitError, Scope, make_scope
from supernoded.errors import ChaosError
from supernoded.parts import Fidelity
from supernoded.tables import Key


def lint(document: Document, scenario: Scenario, drive: Drive, seed: int = 1) -> None:
    """Find all that would keep the scenario from running on this drive with this seed."""
    kinds, moves = drive.faults(), name_moves(scenario.timeline)
    _lint_names(document, scenario, drive)
    for place in range(len(scenario.timeline)):
        _lint_move(document, scenario, place, drive.name, kinds)
    for place, one in enumerate(scenario.expect):
        if one.of and one.of not in moves:
            document.report(("expect", place, "of"), one.of, "no fault of the timeline has this name", suggest(one.of, moves, "faults"))
    view = _find_rack(document, scenario, drive)
    if view is None:
        return
    scope = _make_scope(document, scenario, view, drive, seed)
    if scope is None:
        return
    _lint_subjects(document, scenario, scope, kinds)
    if not document.problems:
        _try(document, partial(check_plan, scenario, drive, seed, scope, kinds))


def check_plan(scenario: Scenario, drive: Drive, seed: int, scope: Scope, kinds: Mapping[str, FaultKind]) -> Plan:
    """This seed's plan. Raises MisfitError when it goes beyond the limits."""
    plan = make_plan(scenario, drive.name, seed, scope, kinds)
    check_limits(scenario.limits, scope.view, [planned.injection.target for planned in plan.faults], plan.spent)
    return plan


def _lint_names(document: Document, scenario: Scenario, drive: Drive) -> None:
    stem = Path(document.name).stem
    if stem != scenario.metadata.name:
        document.report(("metadata", "name"), scenario.metadata.name, f"is not the file's name, {stem}", "make them the same")
    if drive.name in msgspec.structs.asdict(scenario.drives) and getattr(scenario.drives, drive.name) is None:
        document.report(("drives",), None, f"the scenario does not run on {drive.name}", f"add `{drive.name}: {{}}` if it may")
    policies = drive.stand_ins()
    for place, name in enumerate(scenario.stubs):
        if name not in policies:
            document.report(("stubs", place), name, f"{drive.name} has no such policy", suggest(name, policies, "policies"))
    if scenario.remedy is not None:
        _lint_remedy(document, scenario.remedy, drive)


def _lint_remedy(document: Document, remedy: Remedy, drive: Drive) -> None:
    policies, installed = drive.stand_ins(), list_plugins()
    if remedy.stand_in and remedy.stand_in not in policies:
        remedies = suggest(remedy.stand_in, policies, "policies")
        document.report(("remedy", "stand_in"), remedy.stand_in, f"{drive.name} has no such policy", remedies)
    for place, name in enumerate(remedy.plugins):
        if name not in installed:
            document.report(("remedy", "plugins", place), name, "no such plugin is installed", suggest(name, installed, "plugins"))
    try:
        tomllib.loads(remedy.write_settings())
    except (tomllib.TOMLDecodeError, TypeError) as error:
        document.report(("remedy", "settings"), None, f"is not TOML, {error}", "correct it; TOML knows no null")


def _lint_move(document: Document, scenario: Scenario, place: int, drive: str, kinds: Mapping[str, FaultKind]) -> None:
    move, key = scenario.timeline[place], ("timeline", place)
    if move.for_ > scenario.limits.max_duration:
        most = say_seconds(scenario.limits.max_duration)
        document.report(
            (*key, "for"), say_seconds(move.for_), f"is longer than limits.max_duration, {most}", "shorten it, or raise the limit"
        )
    kind = kinds.get(move.fault)
    if kind is None:
        document.report((*key, "fault"), move.fault, f"{drive} has no such fault", suggest(move.fault, kinds, "faults"))
        return
    if kind.fidelity(drive) is Fidelity.ABSENT:
        document.report((*key, "fault"), move.fault, f"cannot be made on {drive}", "take another, or another drive")
    if kind.undoable != (move.undo == "auto"):
        fault = "cannot be undone by lifting it" if move.undo == "auto" else "is undone by lifting it"
        document.report((*key, "undo"), move.undo, f"{move.fault} {fault}", f"write undo: {'auto' if kind.undoable else 'none'}")
    _lint_parameters(document, move, key, kind)


def _lint_parameters(document: Document, move: Move, key: Key, kind: FaultKind) -> None:
    found = document.read(kind.parameters, dict(move.with_), (*key, "with"))
    ramp = move.shape.ramp
    if ramp is None or found is None:
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind.parameters)}
    if ramp.parameter not in fields:
        remedy = suggest(ramp.parameter, fields, "parameters")
        document.report((*key, "shape", "ramp", "parameter"), ramp.parameter, f"{move.fault} has no such parameter", remedy)
        return
    for end, value in (("from", ramp.from_), ("to", ramp.to)):
        document.read(kind.parameters, {**move.with_, ramp.parameter: value}, (*key, "shape", "ramp", end))


def _find_rack(document: Document, scenario: Scenario, drive: Drive) -> RackView | None:
    fixture = scenario.topology.fixture
    try:
        return drive.view(fixture)
    except ChaosError as error:
        document.report(("topology", "fixture"), fixture, str(error), suggest(fixture, drive.racks(), "racks"))
        return None


def _make_scope(document: Document, scenario: Scenario, view: RackView, drive: Drive, seed: int) -> Scope | None:
    try:
        return make_scope(scenario, view, drive.conditions(), seed)
    except MisfitError as misfit:
        document.report(misfit.key, misfit.value, misfit.fault, misfit.remedy)
        return None


def _lint_subjects(document: Document, scenario: Scenario, scope: Scope, kinds: Mapping[str, FaultKind]) -> None:
    """Every subject, quantity and condition, each on its own so that one does not hide another."""
    for place, move in enumerate(scenario.timeline):
        _try(document, partial(_check_subjects, scope, place, move, kinds.get(move.fault)))
    expected = {one.name for one in scenario.expect}
    for key, condition in scenario.list_conditions():
        if condition.known not in expected or "after" not in key:
            _try(document, partial(resolve, condition, key, scope))


def _check_subjects(scope: Scope, place: int, move: Move, kind: FaultKind | None) -> None:
    key: Key = ("timeline", place, "on")
    for subject in scope.find(move.on, key):
        families = scope.view.find_families(subject)
        if kind is not None and ANYTHING not in kind.targets and not set(families) & set(kind.targets):
            fault = f"{move.fault} befalls {', '.join(kind.targets)}, and {subject} is {', '.join(families) or 'none of them'}"
            raise MisfitError(key, move.on, fault, "choose another subject")


def _try(document: Document, check: Callable[[], object]) -> None:
    try:
        check()
    except MisfitError as misfit:
        document.report(misfit.key, misfit.value, misfit.fault, misfit.remedy)

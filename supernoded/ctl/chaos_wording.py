"""Scenarios, plans and reports as people read them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from supernoded.chaos.catalogue import FaultKind
from supernoded.chaos.comparing import Difference
from supernoded.chaos.document import Document
from supernoded.chaos.grammar import Scenario
from supernoded.chaos.matrix import Matrix
from supernoded.chaos.preview import Preview
from supernoded.chaos.report import Report, Summary, Undo
from supernoded.ctl.printing import Sheet, Table
from supernoded.ctl.wording import NONE
from supernoded.tables import format_value, list_rows

WORDS = {True: "PASS", False: "FAIL", None: "INCONCLUSIVE"}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario of a list."""

    name: str
    file: str
    problems: int
    why: str = ""
    tags: tuple[str, ...] = ()
    drives: tuple[str, ...] = ()


def to_row(name: str, path: Path, document: Document, scenario: Scenario | None) -> Row:
    """A scenario as a row; one that cannot be read says how many problems it has."""
    if scenario is None:
        return Row(name=name, file=str(path), problems=len(document.problems))
    drives = tuple(one for one, terms in msgspec.structs.asdict(scenario.drives).items() if terms is not None)
    metadata = scenario.metadata
    return Row(name=name, file=str(path), problems=0, why=metadata.why, tags=metadata.tags, drives=drives)


def render_list(rows: Sequence[Row]) -> Sheet:
    """Lay out a list."""
    cells = [
        (row.name, " ".join(row.drives), " ".join(row.tags), row.why or f"{row.problems} problems: supernodectl chaos lint {row.file}")
        for row in rows
    ]
    return [Table(("SCENARIO", "DRIVES", "TAGS", "WHY"), cells, "The drive ships no scenarios.", below=1)]


def describe_kind(kind: FaultKind, drive: str) -> dict[str, Any]:
    """A fault kind as data."""
    rows = [] if not msgspec.structs.fields(kind.parameters) else list_rows(kind.parameters)
    return {
        "kind": kind.kind,
        "text": kind.text,
        "targets": list(kind.targets),
        "fidelity": kind.fidelity(drive).value,
        "danger": kind.danger,
        "undoable": kind.undoable,
        "parameters": [
            {
                "name": row.key,
                "allowed": row.allowed,
                "unit": row.unit,
                "default": None if row.value is msgspec.NODEFAULT else msgspec.to_builtins(row.value),
                "needed": row.value is msgspec.NODEFAULT,
                "meaning": row.meaning,
                "source": row.source,
            }
            for row in rows
        ],
    }


def render_kinds(kinds: Sequence[Mapping[str, Any]], *, whole: bool) -> Sheet:
    """Lay out a catalogue; `whole` with each kind's parameters."""
    if not whole:
        cells = [(kind["kind"], " ".join(kind["targets"]), kind["fidelity"], kind["danger"], kind["text"]) for kind in kinds]
        return [Table(("FAULT", "TARGETS", "FIDELITY", "DANGER", "WHAT IT DOES"), cells, "The drive makes no faults.", below=1)]
    sheet: list[str | Table] = []
    for kind in kinds:
        sheet.append(f"{kind['kind']} of {', '.join(kind['targets'])}: {kind['text']}")
        sheet.append(f"  fidelity {kind['fidelity']}, danger {kind['danger']}" + ("" if kind["undoable"] else ", cannot be undone"))
        rows = [
            (f"  {one['name']}", one["allowed"], "needed" if one["needed"] else format_value(one["default"]) or NONE, one["meaning"])
            for one in kind["parameters"]
        ]
        sheet.append(Table(("  PARAMETER", "ALLOWED", "DEFAULT", "MEANING"), rows, "  no parameters"))
    return sheet or ["The drive makes no such fault."]


def render_preview(told: Preview) -> Sheet:
    """Lay out a dry run."""
    schedule = [
        ((due.after and f"after {due.after}") or _say(due.at), due.fault, due.target, _say(due.seconds), _say_with(due.with_))
        for due in told.schedule
    ]
    return [
        f"{told.scenario} on {told.drive}, rack {told.rack}, seed {told.seed}. Nothing has been done.",
        Table(("TARGET", "IS"), [(name, ", ".join(subjects)) for name, subjects in told.targets.items()], "No targets are picked."),
        Table(("AT", "FAULT", "ON", "FOR", "WITH"), schedule, "No faults."),
        *(f"expects {text}" for text in told.expectations),
        *(f"spends {one}" for one in told.redundancy),
        *(f"not certified: {text}" for text in told.not_certified),
    ]


def render_report(told: Report) -> Sheet:
    """Lay out a report."""
    sheet: list[str | Table] = [
        Table((), [("verdict", told.verdict.value), *([("undo", told.undo.value)] if told.undo is not Undo.NOTHING else [])]),
        f"{told.scenario} on {told.drive}, rack {told.rack or NONE}, seed {told.seed}, {told.variant}: {told.why}",
    ]
    if told.expectations:
        rows = [(WORDS[one.passed], one.name, _say(one.at), one.found) for one in told.expectations]
        sheet.append(Table(("", "EXPECTED", "AT", "FOUND"), rows, below=1))
    if told.faults:
        faults = [(one.name, one.target, _say(one.inject), _say(one.manifest), _say(one.lift), _say(one.undo)) for one in told.faults]
        sheet.append(Table(("FAULT", "ON", "IN", "SHOWN", "LIFTED", "GONE"), faults))
    times = ", ".join(f"{name} {_say(at)}" for name, at in told.times.items() if at is not None)
    return [*sheet, *([f"times: {times}"] if times else []), *(f"not certified: {text}" for text in told.not_certified)]


def render_summary(told: Summary) -> Sheet:
    """Lay out several seeds."""
    counts = {verdict: list(told.seeds.values()).count(verdict) for verdict in dict.fromkeys(told.seeds.values())}
    times = [(name, *(_say(one[key]) for key in ("least", "median", "most"))) for name, one in told.times.items()]
    return [
        Table((), [("verdict", told.verdict.value), *([("undo", told.undo.value)] if told.undo is not Undo.NOTHING else [])]),
        f"{told.scenario} on {told.drive}, {len(told.seeds)} seeds: {told.why}",
        Table(("VERDICT", "SEEDS"), [(verdict.value, str(count)) for verdict, count in counts.items()]),
        *(f"{name} came with {count} seeds" for name, count in told.sometimes.items()),
        Table(("TIME", "LEAST", "MEDIAN", "MOST"), times, "No times."),
    ]


def render_matrix(told: Matrix) -> Sheet:
    """Lay out a matrix."""
    rows = [
        (line.scenario, cell.variant, cell.verdict.value, "" if cell.is_right else f"wrong: {cell.wanted.value} is wanted, {cell.why}")
        for line in told.lines
        for cell in line.cells
    ]
    wrong = sum(1 for line in told.lines if not line.right)
    said = f"{wrong} of {len(told.lines)} do not change their verdict as they must." if wrong else "Each changes its verdict as it must."
    return [Table(("SCENARIO", "RUN", "VERDICT", ""), rows, "There are no scenarios.", below=1), *([said] if rows else [])]


def render_differences(told: Sequence[Difference]) -> Sheet:
    """Lay out a comparison."""
    return [Table(("WHERE", "FIRST", "SECOND"), [(one.what, one.first, one.second) for one in told], "The two reports are the same.")]


def _say(seconds: float | None) -> str:
    return NONE if seconds is None else f"{seconds:.2f} s"


def _say_with(parameters: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in parameters.items()) or NONE

"""A plan as data for people and programs: a dry run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.chaos.durations import say_seconds
from supernoded.chaos.plan import Plan, Planned, to_plain
from supernoded.chaos.redundancy import Spent
from supernoded.chaos.report import SCHEMA
from supernoded.chaos.verdict import say_limits, say_wanted


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """One fault: `at` seconds from the start, or None and `after` something."""

    at: float | None
    after: str
    name: str
    fault: str
    target: str
    with_: Mapping[str, object] = msgspec.field(name="with")
    seconds: float
    changes: int
    undo: bool


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would do. Nothing has been done."""

    scenario: str
    drive: str
    rack: str
    seed: int
    targets: Mapping[str, Sequence[str]]
    schedule: Sequence[Due]
    expectations: Sequence[str]
    redundancy: Sequence[Spent]
    not_certified: Sequence[str]
    schema: int = SCHEMA


def preview(plan: Plan) -> Preview:
    """What this plan would do, in the order of time as far as it is known."""
    order = sorted(plan.faults, key=lambda planned: planned.at if planned.at is not None else planned.within)
    return Preview(
        scenario=plan.scenario.metadata.name,
        drive=plan.drive,
        rack=plan.rack,
        seed=plan.seed,
        targets=plan.targets,
        schedule=[_as_due(planned) for planned in order],
        expectations=[f"{watched.name}: {say_wanted(watched)}" for watched in plan.watched],
        redundancy=plan.spent,
        not_certified=list(dict.fromkeys(say_limits(planned, plan.drive) for planned in plan.faults)),
    )


def _as_due(planned: Planned) -> Due:
    injection = planned.injection
    return Due(
        at=planned.at,
        after="" if planned.after is None else f"{planned.after}, within {say_seconds(planned.within)}",
        name=injection.name,
        fault=injection.fault,
        target=injection.target,
        with_=to_plain(injection.parameters),
        seconds=injection.seconds,
        changes=len(planned.stages),
        undo=planned.undo,
    )

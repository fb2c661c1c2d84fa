"""The verdict of a run, from what was seen of it: the plant's truth and what daemons told, never their journals. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from supernoded.chaos.condition import Count
from supernoded.chaos.durations import say_seconds
from supernoded.chaos.moments import list_levels, list_moments, list_window
from supernoded.chaos.plan import Planned, Watched, to_plain
from supernoded.chaos.record import Fault, Record
from supernoded.chaos.report import MOST_ENTRIES, FaultTimes, Finding, Report, Ruling, Undo
from supernoded.chaos.window import find_first, find_since, find_untested, find_until, find_watched
from supernoded.parts import Fidelity

STAGES = ("detect", "act", "effect", "recover")  # an expectation of this name gives the report's time of this name
LAYERS = (Fidelity.MODEL, Fidelity.PROTOCOL, Fidelity.OS, Fidelity.TELEMETRY, Fidelity.PHYSICAL)


def judge(record: Record, trace_hash: str, failures: Sequence[str], variant: str = "as written") -> Report:
    """The report of a run. `failures` are those of processes that nobody heard."""
    plan, findings = record.plan, [judge_one(record, watched) for watched in record.plan.watched]
    if plan.converge and record.converging is not None:
        findings.append(_judge_convergence(record))
    verdict, why = rule(record, findings, failures)
    if verdict not in {Ruling.PASS, Ruling.FAIL}:  # what was not tested has not failed
        findings = [msgspec.structs.replace(one, passed=one.passed or None) for one in findings]
    return Report(
        scenario=plan.scenario.metadata.name,
        drive=plan.drive,
        rack=plan.rack,
        seed=plan.seed,
        variant=variant,
        verdict=verdict,
        why=why,
        undo=_judge_undo(record.faults),
        trace_hash=trace_hash,
        start=record.start,
        times=_list_times(record, findings),
        expectations=findings,
        faults=[_tell(record, fault) for fault in record.faults],
        targets=plan.targets,
        not_certified=list(dict.fromkeys(say_limits(planned, plan.drive) for planned in plan.faults)),
        failures=list(failures),
        told=list(record.told[:MOST_ENTRIES]),
        happened=list(record.happened[:MOST_ENTRIES]),
        left_off=max(0, len(record.told) - MOST_ENTRIES) + max(0, len(record.happened) - MOST_ENTRIES),
    )


def rule(record: Record, findings: Sequence[Finding], failures: Sequence[str]) -> tuple[Ruling, str]:
    """The verdict and why.

    A daemon that broke is a FAIL whatever else there is. When a fault did not show nothing was tested, so that is INCONCLUSIVE before
    any expectation is looked at. Then one expectation that surely failed is a FAIL, also beside others that could not be seen.
    """
    if failures:
        return Ruling.FAIL, f"{len(failures)} failures that nobody heard, the first: {failures[0]}"
    if record.aborted:
        return Ruling.ABORTED, record.aborted
    if record.start is None:
        return Ruling.INCONCLUSIVE, f"steady state was not reached: {_find_unsteady(record)}"
    if record.refused:
        return Ruling.REFUSED, record.refused
    untested = find_untested(record) or (f"could not be lifted: {record.stuck}" if record.stuck else "")
    if untested:
        return Ruling.INCONCLUSIVE, untested
    for passed, ruling in ((False, Ruling.FAIL), (None, Ruling.INCONCLUSIVE)):
        told = [_say_finding(one) for one in findings if one.passed is passed and not one.sometimes]
        if told:
            return ruling, "; ".join(told)
    return Ruling.PASS, f"all {len(findings)} expectations hold"


def judge_one(record: Record, watched: Watched) -> Finding:
    """One expectation."""
    asked, wanted = watched.asked, say_wanted(watched)
    since = find_since(record, watched)
    if since is None:
        what = f"{asked.of} was never injected" if asked.of else f"{asked.after or 'the start'} never came"
        passed = None if asked.of or not asked.after or asked.sometimes else False
        return Finding(name=asked.name, passed=passed, at=None, found=what, wanted=wanted, sometimes=asked.sometimes)
    until = min(find_until(watched, since), record.ended)
    passed, at, found = _judge_window(record, watched, since, until)
    if passed and asked.before:
        passed, found = _judge_order(record, watched, at or 0.0, found)
    if asked.sometimes and passed is False:
        passed = None
    shown = None if at is None or record.start is None else _round(at - record.start)
    return Finding(name=asked.name, passed=passed, at=shown, found=found, wanted=wanted, sometimes=asked.sometimes)


def _judge_window(record: Record, watched: Watched, since: float, until: float) -> tuple[bool | None, float | None, str]:
    asked, check = watched.asked, watched.check
    if asked.always or asked.at_end:
        return _judge_level(record, watched, until if asked.at_end else since, until)
    moments = list_moments(check, record, since, until)
    first = moments[0] if moments else None
    levels = [edge for edge in list_window(check, record, since, until) if check.as_event() is None]
    blind = check.as_event() is None and all(edge.held is None for edge in levels)
    if asked.count is not None:
        return None if blind else _fits(asked.count, len(moments)), first[0] if first else None, f"{len(moments)} times"
    if asked.never:
        seen_whole = not blind and all(edge.held is not None for edge in levels)
        return (False, *first) if first else ((True if seen_whole else None), None, "it never came" if seen_whole else "not always seen")
    if first:
        return True, *first
    latest = "; ".join(record.latest[probe] for probe in check.probes if probe in record.latest)
    return None if blind else False, None, f"no value to judge by: {latest}" if blind else f"it did not come{latest and '; '}{latest}"


def _judge_level(record: Record, watched: Watched, since: float, until: float) -> tuple[bool | None, float | None, str]:
    levels = list_window(watched.check, record, since, until)
    for held in (False, None):
        broken = next((edge for edge in levels if edge.held is held), None)
        if broken is not None:
            return held, broken.at, broken.shown or "it does not hold"
    return (True, None, "it holds") if levels else (None, None, "never looked at")


def _judge_order(record: Record, watched: Watched, at: float, found: str) -> tuple[bool, str]:
    other = find_first(record, find_watched(record, watched.asked.before))
    if other is None or at < other:
        return True, found
    return False, f"{watched.asked.before} came {say_seconds(at - other)} earlier"


def _judge_convergence(record: Record) -> Finding:
    wanted = record.plan.scenario.recovery.converge
    words = f"{' and '.join(str(check) for check in record.plan.converge)}, within {say_seconds(wanted.within)} of the last fault's end"
    start = record.start or 0.0
    if record.converged is not None:
        return Finding(name="converge", passed=True, at=_round(record.converged - start), found="reached", wanted=words)
    last = [(check, levels[-1] if (levels := list_levels(check, record)) else None) for check in record.plan.converge]
    missing = [(check, edge) for check, edge in last if edge is None or not edge.held]
    blind = bool(missing) and all(edge is None or edge.held is None for _, edge in missing)
    found = "; ".join(f"{check}: {edge.shown if edge else 'never seen'}" for check, edge in missing) or "it did not last"
    return Finding(name="converge", passed=None if blind else False, at=None, found=found, wanted=words)


def _judge_undo(faults: Sequence[Fault]) -> Undo:
    injected = [fault for fault in faults if fault.injected is not None and fault.planned.undo]
    if not injected:
        return Undo.NOTHING
    return Undo.VERIFIED if all(fault.undone is not None for fault in injected) else Undo.NOT_VERIFIED


def _find_unsteady(record: Record) -> str:
    last = [(check, list_levels(check, record)) for check in record.plan.before]
    return "; ".join(
        f"{check}: {levels[-1].shown if levels else 'never seen'}" for check, levels in last if not levels or not levels[-1].held
    )


def _list_times(record: Record, findings: Sequence[Finding]) -> dict[str, float | None]:
    """Seconds from the start: the first of each, and the last undo."""
    faults, start = record.faults, record.start or 0.0
    injected = min((one.injected for one in faults if one.injected is not None), default=None)
    alarm = min((one.at for one in record.told if one.raised and injected is not None and one.at >= injected), default=None)
    undone = [one.undone for one in faults if one.undone is not None]
    named = {finding.name: finding.at for finding in findings if finding.passed}
    shown = min((one.shown for one in faults if one.shown is not None), default=None)
    times = {"inject": injected, "manifest": shown, "detect": alarm, "undo": max(undone, default=None), "end": record.ended}
    relative = {name: None if at is None else _round(at - start) for name, at in times.items()}
    return {**relative, **{stage: named.get(stage, relative.get(stage)) for stage in STAGES}, "converge": named.get("converge")}


def _tell(record: Record, fault: Fault) -> FaultTimes:
    injection, start = fault.planned.injection, record.start or 0.0
    times = (None if at is None else _round(at - start) for at in (fault.injected, fault.shown, fault.lifted, fault.undone))
    inject, manifest, lift, undo = times
    return FaultTimes(
        name=injection.name,
        fault=injection.fault,
        target=injection.target,
        with_=to_plain(injection.parameters),
        inject=inject,
        manifest=manifest,
        lift=lift,
        undo=undo,
        sight=fault.seen_before or fault.sight,
        fidelity=fault.planned.fidelity.value,
    )


def say_limits(planned: Planned, drive: str) -> str:
    """What this run does not prove of a fault: the layers beyond the one in which the drive makes it."""
    made = planned.fidelity
    beyond = [layer.value for layer in LAYERS[LAYERS.index(made) + 1 :]] if made in LAYERS else [layer.value for layer in LAYERS]
    return f"{planned.injection.fault}: made as {made.value} on {drive}, proves nothing of {', '.join(beyond) or 'another site'}"


def _say_finding(one: Finding) -> str:
    name = "" if one.wanted.startswith(one.name) else f"{one.name}: "
    return f"{name}wanted {one.wanted}, found {one.found}"


def say_wanted(watched: Watched) -> str:
    """What an expectation asks, in words."""
    asked, check = watched.asked, watched.check
    words = ["never"] if asked.never else ["always"] if asked.always else ["at the end"] if asked.at_end else []
    words += ["sometimes"] if asked.sometimes else []
    if asked.count is not None:
        most = "" if asked.count.max is None else f" and at most {asked.count.max}"
        words.append(f"at least {asked.count.min}{most} times")
    words.append(str(check))
    words += [f"within {say_seconds(asked.within)}"] if asked.within is not None else []
    words += [f"of {asked.of}"] if asked.of else [f"after {asked.after}"] if asked.after else []
    return " ".join(words) + (f", before {asked.before}" if asked.before else "")


def _fits(count: Count, number: int) -> bool:
    return count.min <= number and (count.max is None or number <= count.max)


def _round(seconds: float) -> float:
    return round(seconds, 6)

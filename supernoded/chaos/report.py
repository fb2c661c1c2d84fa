"""The report of a run, and of several seeds together: one shape, for programs as JSON and for CI as JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from xml.etree import ElementTree as ET

import msgspec

from supernoded.chaos.drive import Happened, Told

SCHEMA = 1
MOST_ENTRIES = 1000  # of what was told and of what happened


class Ruling(Enum):
    """What a run says."""

    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"  # nothing was tested, or not everything could be seen
    ABORTED = "ABORTED"
    REFUSED = "REFUSED"


class Undo(Enum):
    """Whether what was injected is gone again, by the devices' own word."""

    VERIFIED = "verified"
    NOT_VERIFIED = "not verified"
    NOTHING = "nothing to undo"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One expectation. `passed` None: could not be seen, or (`sometimes`) did not come with this seed. `at` is seconds from the start."""

    name: str
    passed: bool | None
    at: float | None
    found: str
    wanted: str
    sometimes: bool = False


class FaultTimes(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one fault; times are seconds from the start, None for what never was."""

    name: str
    fault: str
    target: str
    with_: Mapping[str, object] = msgspec.field(name="with")
    inject: float | None
    manifest: float | None
    lift: float | None
    undo: float | None
    sight: str
    fidelity: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `start` is the stage's second at which the timeline began; all other times count from it."""

    scenario: str
    drive: str
    rack: str
    seed: int
    variant: str
    verdict: Ruling
    why: str
    undo: Undo
    trace_hash: str
    start: float | None
    times: Mapping[str, float | None] = {}
    expectations: Sequence[Finding] = ()
    faults: Sequence[FaultTimes] = ()
    targets: Mapping[str, Sequence[str]] = {}
    not_certified: Sequence[str] = ()
    failures: Sequence[str] = ()
    told: Sequence[Told] = ()
    happened: Sequence[Happened] = ()
    left_off: int = 0  # entries of `told` and `happened` beyond the limit
    schema: int = SCHEMA


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Several seeds of one scenario. What must be so `sometimes` must have come with one seed at least."""

    scenario: str
    drive: str
    verdict: Ruling
    why: str
    undo: Undo
    seeds: Mapping[int, Ruling]
    sometimes: Mapping[str, int]  # expectation -> seeds with which it came
    times: Mapping[str, Mapping[str, float]]  # time -> least, median, most over the seeds
    reports: Sequence[Report] = ()
    schema: int = SCHEMA


EXIT_CODES = {Ruling.PASS: 0, Ruling.FAIL: 1, Ruling.REFUSED: 4, Ruling.ABORTED: 6, Ruling.INCONCLUSIVE: 7}
UNDO_NOT_VERIFIED = 5
WORST_FIRST = (Ruling.FAIL, Ruling.ABORTED, Ruling.INCONCLUSIVE, Ruling.REFUSED, Ruling.PASS)


def find_exit_code(report: Report | Summary) -> int:
    """The exit code of `chaos run`; a fault that may still be there is the loudest."""
    return UNDO_NOT_VERIFIED if report.undo is Undo.NOT_VERIFIED else EXIT_CODES[report.verdict]


def refuse(scenario: str, drive: str, rack: str, seed: int, why: str, variant: str = "as written") -> Report:
    """The report of a run that was not begun."""
    return Report(
        scenario=scenario,
        drive=drive,
        rack=rack,
        seed=seed,
        variant=variant,
        verdict=Ruling.REFUSED,
        why=why,
        undo=Undo.NOTHING,
        trace_hash="",
        start=None,
    )


def summarise(reports: Sequence[Report]) -> Summary:
    """Several seeds together: the worst verdict, and what had to come once."""
    verdicts = {report.seed: report.verdict for report in reports}
    worst = next(verdict for verdict in WORST_FIRST if verdict in verdicts.values())
    why = next(f"seed {report.seed}: {report.why}" for report in reports if report.verdict is worst)
    rare = [finding for report in reports for finding in report.expectations if finding.sometimes]
    seen = {name: sum(1 for one in rare if one.name == name and one.passed) for name in dict.fromkeys(one.name for one in rare)}
    never = [name for name, count in seen.items() if not count]
    if worst is Ruling.PASS and never:
        worst, why = Ruling.FAIL, f"{', '.join(never)} came with none of {len(reports)} seeds"
    undone = [report.undo for report in reports]
    return Summary(
        scenario=reports[0].scenario,
        drive=reports[0].drive,
        verdict=worst,
        why=why,
        undo=next(one for one in (Undo.NOT_VERIFIED, Undo.VERIFIED, Undo.NOTHING) if one in undone),
        seeds=verdicts,
        sometimes=seen,
        times=_spread(reports),
        reports=reports,
    )


def _spread(reports: Sequence[Report]) -> dict[str, dict[str, float]]:
    spread = {}
    for name in dict.fromkeys(name for report in reports for name in report.times):
        values = sorted(value for report in reports if (value := report.times.get(name)) is not None)
        if values:
            spread[name] = {"least": values[0], "median": values[len(values) // 2], "most": values[-1]}
    return spread


def write_junit(reports: Sequence[Report]) -> str:
    """JUnit XML: a suite a run, a case an expectation. What is not a clear pass or failure is skipped, never passed."""
    root = ET.Element("testsuites")
    for report in reports:
        cases = [*report.expectations, *([] if report.verdict is Ruling.PASS and report.expectations else [_as_case(report)])]
        suite = ET.SubElement(root, "testsuite", name=f"{report.scenario} seed {report.seed}", tests=str(len(cases)))
        for finding in cases:
            case = ET.SubElement(suite, "testcase", classname=report.scenario, name=finding.name, time=f"{finding.at or 0.0:.3f}")
            if finding.passed is False:
                ET.SubElement(case, "failure", message=finding.found).text = f"wanted: {finding.wanted}"
            elif finding.passed is None or report.verdict not in {Ruling.PASS, Ruling.FAIL}:
                ET.SubElement(case, "skipped", message=finding.found or report.why)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _as_case(report: Report) -> Finding:
    passed = {Ruling.PASS: True, Ruling.FAIL: False}.get(report.verdict)
    return Finding(name="verdict", passed=passed, at=None, found=report.why, wanted="PASS")

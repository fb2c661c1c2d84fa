"""Two reports side by side: the same seed in two processes must give the same, two drives may differ in time only. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from supernoded.chaos.drive import Happened, Told
from supernoded.chaos.report import Report
from supernoded.errors import ChaosError

FACTS = ("scenario", "rack", "drive", "seed", "variant", "verdict", "why", "undo", "trace_hash", "start")


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Where two reports differ."""

    what: str
    first: str
    second: str


def load_report(path: Path) -> Report:
    """A report as `chaos run -o json` wrote it. Raises ChaosError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise ChaosError(f"{path}: cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ChaosError(f"{path}: is no report of one run: {error}; make one with `supernodectl chaos run -o json --seed N`") from error


def compare(first: Report, second: Report, tolerance: float = 0.0) -> list[Difference]:
    """Every difference, the most telling first; times that differ by at most `tolerance` seconds are the same."""
    return list(_list_differences(first, second, tolerance))


def _list_differences(first: Report, second: Report, tolerance: float) -> Iterator[Difference]:
    for name in FACTS:
        one, other = getattr(first, name), getattr(second, name)
        if one != other and not (tolerance and name in {"trace_hash", "start", "drive"}):
            yield Difference(what=name, first=_say(one), second=_say(other))
    for name in dict.fromkeys([*first.times, *second.times]):
        if _differ(first.times.get(name), second.times.get(name), tolerance):
            yield Difference(what=f"times.{name}", first=_say(first.times.get(name)), second=_say(second.times.get(name)))
    theirs = {finding.name: finding for finding in second.expectations}
    for finding in first.expectations:
        other = theirs.get(finding.name)
        if other is None or other.passed is not finding.passed or _differ(finding.at, other.at, tolerance):
            found = "not there" if other is None else f"{_say(other.passed)}: {other.found}"
            yield Difference(what=f"expectations.{finding.name}", first=f"{_say(finding.passed)}: {finding.found}", second=found)
    yield from _find_parting("happened", first.happened, second.happened, tolerance)
    yield from _find_parting("told", first.told, second.told, tolerance)


def _find_parting(what: str, first: Sequence[Told | Happened], second: Sequence[Told | Happened], tolerance: float) -> Iterator[Difference]:
    """Where two courses part: the first entry only, since all behind it follows."""
    for number, (one, other) in enumerate(zip_longest(first, second)):
        if one is None or other is None or (one.kind, one.subject) != (other.kind, other.subject) or _differ(one.at, other.at, tolerance):
            yield Difference(what=f"{what}[{number}]", first=_say_entry(one), second=_say_entry(other))
            return


def _differ(one: float | None, other: float | None, tolerance: float) -> bool:
    if one is None or other is None:
        return one is not other
    return abs(one - other) > tolerance


def _say(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "passed", False: "failed"}[value]
    return str(getattr(value, "value", value))


def _say_entry(entry: Told | Happened | None) -> str:
    return "nothing more" if entry is None else f"{entry.at:.6f} s {entry.kind} of {entry.subject}: {entry.text}"

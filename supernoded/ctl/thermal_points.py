"""What commissioning records: points of valve against temperatures, and the course between them, in a TOML file from the first one on."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from supernoded.errors import AdminError

LONGEST_GAP = 5.0  # seconds between two looks, beyond which nobody knows what was between them
PARTIAL = ".partial"  # behind the name of a file that is not finished


@dataclass(frozen=True)
class Point:
    """What came of one position of the valve."""

    valve: float  # %, where it stood
    supply: float  # C
    return_temperature: float  # C
    primary: float  # C
    flow: float  # L/min
    steady: bool = True


@dataclass(frozen=True)
class Moment:
    """What was seen on the way from one point to the next. %, C."""

    at: float  # daemon's time, s
    told: float  # where the valve was told to be
    valve: float
    supply: float
    returned: float


@dataclass
class Record:
    """All that is known so far, written at every news; the finished file replaces an older one in one stroke."""

    path: Path
    cdu: str
    recorded: float  # Unix seconds
    points: list[Point] = field(default_factory=list)
    course: list[Moment] = field(default_factory=list)
    silence_s: float | None = None  # from the last word to its falling back
    fallback_c: float | None = None  # the setpoint that it then held

    @property
    def partial(self) -> Path:
        """Where it is kept until it is finished."""
        return self.path.with_name(self.path.name + PARTIAL)

    def save(self) -> None:
        """Keep what there is. Raises AdminError."""
        _write(self.partial, render_record(self))

    def finish(self) -> None:
        """From now on it is whole. Raises AdminError; the partial file then has it."""
        self.save()
        try:
            self.partial.replace(self.path)
        except OSError as error:
            raise AdminError(f"{self.path}: {error.strerror or error}; the record is whole in {self.partial}") from error


def render_record(record: Record) -> str:
    """As TOML."""
    at = datetime.fromtimestamp(record.recorded, tz=UTC)
    lines = [
        "# Recorded by `supernodectl thermal commission`. Units: % C L/min s.",
        f'cdu = "{record.cdu}"',
        f'recorded = "{at:%Y-%m-%dT%H:%M:%SZ}"',
        *([] if record.silence_s is None else [f"silence_s = {record.silence_s:.1f}"]),
        *([] if record.fallback_c is None else [f"fallback_c = {record.fallback_c:.2f}"]),
    ]
    for point in record.points:
        lines += ["", "[[points]]" + ("" if point.steady else "  # it was not steady yet")]
        lines += [f"valve = {point.valve:.2f}", f"supply = {point.supply:.3f}", f"return = {point.return_temperature:.3f}"]
        lines += [f"primary = {point.primary:.3f}", f"flow = {point.flow:.2f}"]
    seconds = list_seconds(record.course)
    if seconds:
        lines += ["", "[trace]  # second by second"]
        lines += [f"told = {[one.told for one in seconds]}", f"valve = {[round(one.valve, 2) for one in seconds]}"]
        lines += [f"supply = {[round(one.supply, 3) for one in seconds]}", f"return = {[round(one.returned, 3) for one in seconds]}"]
    return "\n".join(lines) + "\n"


def list_seconds(course: Sequence[Moment]) -> list[Moment]:
    """The longest stretch without a gap, at every second since it began: looks are a little more than a second apart."""
    stretches: list[list[Moment]] = [[]]
    for moment in course:
        if stretches[-1] and not 0.0 < moment.at - stretches[-1][-1].at <= LONGEST_GAP:
            stretches.append([])
        stretches[-1].append(moment)
    longest = max(stretches, key=len)
    seconds: list[Moment] = []
    for before, after in pairwise(longest):
        seconds += [before] * max(0, math.ceil(after.at - longest[0].at) - len(seconds))
    return [*seconds, *longest[-1:]]


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a temporary file beside it is written, brought to the disk and renamed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise AdminError(f"{path} cannot be written: {error.strerror or error}; name another file with --out") from error

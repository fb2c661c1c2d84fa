"""Each scenario file is a test: `*.yaml` below a folder named `scenarios`, of `kind: Scenario`, played on `sim` with seed 1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from supernoded.chaos.drive import find_drive
from supernoded.chaos.execute import read_right, run_scenario
from supernoded.chaos.reading import SUFFIX
from supernoded.chaos.report import Report, Ruling, Undo
from supernoded.errors import SupernodedError

FOLDER = "scenarios"
DRIVE = "sim"
SEED = 1

_KIND = re.compile(rb"^kind:\s*[\"']?Scenario\b", re.MULTILINE)


class ScenarioFailedError(Exception):
    """A scenario did not pass; the message is its report's sentences."""


class ScenarioFile(pytest.File):
    """One file, one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """The scenario."""
        yield ScenarioItem.from_parent(self, name=self.path.stem)


class ScenarioItem(pytest.Item):
    """A scenario on the drive `sim`."""

    def runtest(self) -> None:
        """Play it. Raises ScenarioFailedError unless it passes and all is undone."""
        drive = find_drive(DRIVE)
        report = run_scenario(read_right(self.path, drive, SEED), drive, SEED)
        if report.verdict is not Ruling.PASS or report.undo is Undo.NOT_VERIFIED:
            raise ScenarioFailedError(_tell(report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report's sentences; a traceback only for what is nobody's intention."""
        if isinstance(excinfo.value, ScenarioFailedError | SupernodedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands."""
        return self.path, 0, f"scenario {self.name}"


def collect_scenario(path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """The test of a file; None when it is no scenario."""
    if path.suffix != SUFFIX or FOLDER not in (folder.name for folder in path.parents) or not _KIND.search(path.read_bytes()):
        return None
    found: ScenarioFile = ScenarioFile.from_parent(parent, path=path)
    return found


def _tell(report: Report) -> str:
    lines = [f"{report.scenario}: {report.verdict.value}: {report.why}", f"undo: {report.undo.value}"]
    lines += [f"{one.name}: wanted {one.wanted}, found {one.found}" for one in report.expectations if one.passed is not True]
    return "\n".join(lines)

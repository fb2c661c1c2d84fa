"""Whether each scenario tests something: its verdict must change without its remedy, without physics, and with each wrong policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from supernoded.chaos.drive import Drive
from supernoded.chaos.execute import AS_WRITTEN, Variant, run_scenario
from supernoded.chaos.grammar import Scenario
from supernoded.chaos.report import SCHEMA, Report, Ruling, Undo

SEED = 1


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One run: what it said, and what it must say."""

    variant: str
    verdict: Ruling
    wanted: Ruling
    why: str
    undo: Undo

    @property
    def is_right(self) -> bool:
        """Whether the verdict is the one wanted, and nothing was left behind."""
        return self.verdict is self.wanted and self.undo is not Undo.NOT_VERIFIED


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario."""

    scenario: str
    right: bool
    cells: Sequence[Cell]


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """All scenarios; `right` when every verdict is the one wanted."""

    drive: str
    right: bool
    lines: Sequence[Line]
    schema: int = SCHEMA


def list_variants(scenario: Scenario) -> Iterator[tuple[Variant, Ruling]]:
    """What is run of a scenario, and the verdict that it must give.

    Without its remedy the site loses: FAIL. Without its faults' physics nothing shows, so nothing is tested: INCONCLUSIVE.
    """
    yield AS_WRITTEN, Ruling.PASS
    if scenario.remedy is not None and scenario.remedy.needed:
        yield Variant(remedy=False), Ruling.FAIL
    if scenario.timeline:
        yield Variant(physics=False), Ruling.INCONCLUSIVE
    for name in scenario.stubs:
        yield Variant(stand_in=name), Ruling.FAIL


def run_matrix(
    scenarios: Sequence[Scenario], drive: Drive, seed: int = SEED, tell: Callable[[str, Cell], object] = lambda _, __: None
) -> Matrix:
    """Run every variant of every scenario; `tell` hears of each run as it ends."""
    lines = []
    for scenario in scenarios:
        cells = []
        for variant, wanted in list_variants(scenario):
            cells.append(_as_cell(run_scenario(scenario, drive, seed, variant), wanted))
            tell(scenario.metadata.name, cells[-1])
        lines.append(Line(scenario=scenario.metadata.name, right=all(cell.is_right for cell in cells), cells=cells))
    return Matrix(drive=drive.name, right=all(line.right for line in lines), lines=lines)


def _as_cell(report: Report, wanted: Ruling) -> Cell:
    return Cell(variant=report.variant, verdict=report.verdict, wanted=wanted, why=report.why, undo=report.undo)

"""One run of a scenario on a drive, as written or with something taken away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from supernoded.chaos.document import Document
from supernoded.chaos.drive import Drive, Setup, list_plugins
from supernoded.chaos.grammar import Scenario
from supernoded.chaos.linting import check_plan, lint
from supernoded.chaos.plan import Plan
from supernoded.chaos.reading import read_scenario
from supernoded.chaos.report import Report, refuse
from supernoded.chaos.run import direct
from supernoded.chaos.scope import MisfitError, make_scope
from supernoded.chaos.verdict import judge
from supernoded.errors import ChaosError

MAX_WALL = 3600.0  # real seconds of one run where the scenario says nothing


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken away, or put in the remedy's place, to see whether the verdict changes."""

    remedy: bool = True
    physics: bool = True
    stand_in: str = ""  # a policy of the drive instead of the remedy

    def __str__(self) -> str:
        """`as written`, `without remedy`, `without physics`, `with do-nothing`."""
        words = [f"with {self.stand_in}"] if self.stand_in else [] if self.remedy else ["without remedy"]
        return " and ".join([*words, *([] if self.physics else ["without physics"])]) or "as written"


AS_WRITTEN = Variant()


def read_right(path: Path, drive: Drive, seed: int = 1) -> Scenario:
    """The scenario of a file that has no flaw on this drive. Raises ChaosError with all that is wrong."""
    document, scenario = lint_file(path, drive, seed)
    if scenario is None or document.problems:
        raise document.as_error()
    return scenario


def lint_file(path: Path, drive: Drive, seed: int = 1) -> tuple[Document, Scenario | None]:
    """The file and all its flaws on this drive."""
    document, scenario = read_scenario(path)
    if scenario is not None:
        lint(document, scenario, drive, seed)
    return document, scenario


def plan_run(scenario: Scenario, drive: Drive, seed: int) -> Plan:
    """What a run with this seed would do. Raises ChaosError when that goes beyond the scenario's limits."""
    view = drive.view(scenario.topology.fixture)
    return check_plan(scenario, drive, seed, make_scope(scenario, view, drive.conditions(), seed), drive.faults())


def run_scenario(scenario: Scenario, drive: Drive, seed: int, variant: Variant = AS_WRITTEN) -> Report:
    """One run and its report; what cannot be run is REFUSED."""
    rack = scenario.topology.fixture
    try:
        plan = plan_run(scenario, drive, seed)
        played = drive.play(make_setup(scenario, drive, seed, variant), partial(direct, plan=plan))
    except MisfitError as misfit:
        return refuse(scenario.metadata.name, drive.name, rack, seed, str(misfit), str(variant))
    except ChaosError as error:
        return refuse(scenario.metadata.name, drive.name, rack, seed, f"{drive.name} cannot play it: {error}", str(variant))
    return judge(played.result, played.trace_hash, played.failures, str(variant))


def run_seeds(
    scenario: Scenario, drive: Drive, seeds: range, variant: Variant, tell: Callable[[Report], object] = lambda _: None
) -> list[Report]:
    """A run with each seed; `tell` hears of each as it ends."""
    reports = []
    for seed in seeds:
        reports.append(run_scenario(scenario, drive, seed, variant))
        tell(reports[-1])
    return reports


def make_setup(scenario: Scenario, drive: Drive, seed: int, variant: Variant) -> Setup:
    """How the rack is put on stage for this variant."""
    remedy = scenario.remedy
    plugins: tuple[str, ...] | None = None
    stand_in = variant.stand_in
    if remedy is not None and not remedy.plugins:
        plugins, stand_in = (), stand_in or (remedy.stand_in if variant.remedy else "")
    elif remedy is not None and (stand_in or not variant.remedy):
        plugins = tuple(name for name in list_plugins() if name not in remedy.plugins)
    elif remedy is not None:
        stand_in = remedy.stand_in
    return Setup(
        rack=scenario.topology.fixture,
        seed=seed,
        plugins=plugins,
        settings=remedy.write_settings() if remedy is not None else "",
        stand_in=stand_in,
        physics=variant.physics,
        max_wall=_find_max_wall(scenario, drive.name),
    )


def _find_max_wall(scenario: Scenario, drive: str) -> float:
    terms = {"sim": scenario.drives.sim, "bench": scenario.drives.bench}.get(drive)
    return terms.max_wall if terms is not None else MAX_WALL

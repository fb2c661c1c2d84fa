"""`supernodectl chaos run` and `matrix`: scenarios are played."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from supernoded.chaos.comparing import compare
from supernoded.chaos.drive import Drive
from supernoded.chaos.execute import Variant, read_right, run_seeds
from supernoded.chaos.grammar import Scenario, Wanted
from supernoded.chaos.matrix import Cell, run_matrix
from supernoded.chaos.reading import list_scenarios
from supernoded.chaos.report import EXIT_CODES, Report, Ruling, find_exit_code, refuse, summarise, write_junit
from supernoded.ctl.chaos_options import DRIVE, SCENARIO, find_file, tell
from supernoded.ctl.chaos_wording import render_matrix, render_report, render_summary
from supernoded.ctl.options import Invocation, common
from supernoded.errors import ChaosError

SUFFIXES = {"json": ".json", "junit": ".xml"}
HASH_SEED = "4242"  # any but that of this process, which is random


@click.command()
@SCENARIO
@DRIVE
@click.option("--seed", type=click.IntRange(min=0), help="What picks targets and chance. Default: 1.")
@click.option("--seeds", type=click.IntRange(min=1), metavar="K", help="K seeds from --seed on. Default: as many as the file says.")
@click.option("--without-remedy", is_flag=True, help="Leave out what is under test: the site must lose.")
@click.option("--without-physics", is_flag=True, help="Let the faults do nothing: nothing must be tested then.")
@click.option("--stand-in", metavar="NAME", default="", help="A policy of the drive in the remedy's place.")
@click.option("--twice", is_flag=True, help="Run again in a second process with other hashes; exit 1 when it is not the same.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write JUnit XML as well.")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Keep each report here as well.")
@common
@click.pass_context
def run(
    context: click.Context,
    scenario: str,
    drive: Drive,
    seed: int | None,
    seeds: int | None,
    without_remedy: bool,
    without_physics: bool,
    stand_in: str,
    twice: bool,
    junit: Path | None,
    folder: Path | None,
) -> None:
    """Play a scenario and judge it by what really happened."""
    path = find_file(scenario, drive)
    if stand_in and stand_in not in drive.stand_ins():
        raise click.BadParameter(f"there are {', '.join(sorted(drive.stand_ins())) or 'none'}", param_hint="--stand-in")
    variant = Variant(remedy=not without_remedy, physics=not without_physics, stand_in=stand_in)
    reports, formats = _play(path, drive, seed, seeds, variant)
    _keep(reports, junit, folder, formats)
    code = _tell_reports(context.obj, reports)
    if twice and code != EXIT_CODES[Ruling.REFUSED]:
        code = code or _run_again(path, reports[0], variant)
    context.exit(code)


def _play(path: Path, drive: Drive, seed: int | None, seeds: int | None, variant: Variant) -> tuple[list[Report], Sequence[str]]:
    first = 1 if seed is None else seed
    try:
        scenario = read_right(path, drive, first)
    except ChaosError as error:
        return [refuse(path.stem, drive.name, "", first, str(error), str(variant))], Wanted().formats
    count = seeds or (_count_seeds(scenario, drive) if seed is None else 1)
    done: list[Report] = []

    def hear(report: Report) -> None:
        done.append(report)
        _show_progress(f"{len(done)} of {count}: {report.scenario} seed {report.seed} {report.verdict.value}")

    reports = run_seeds(scenario, drive, range(first, first + count), variant, hear)
    _show_progress("")
    return reports, scenario.report.formats


def _count_seeds(scenario: Scenario, drive: Drive) -> int:
    return scenario.drives.sim.seeds if drive.name == "sim" and scenario.drives.sim is not None else 1


def _tell_reports(invocation: Invocation, reports: Sequence[Report]) -> int:
    if len(reports) == 1:
        tell(invocation, reports[0], render_report(reports[0]))
        return find_exit_code(reports[0])
    summary = summarise(reports)
    tell(invocation, summary, render_summary(summary))
    return find_exit_code(summary)


def _keep(reports: Sequence[Report], junit: Path | None, folder: Path | None, formats: Sequence[str]) -> None:
    try:
        if junit is not None:
            junit.write_text(write_junit(reports), encoding="utf-8")
        if folder is not None:
            _fill(folder, reports, formats)
    except OSError as error:
        raise ChaosError(f"{error.filename}: the report cannot be written: {error.strerror}; free space, or write elsewhere") from error


def _fill(folder: Path, reports: Sequence[Report], formats: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for report in reports:
        name = f"{report.scenario}-{report.seed}-{report.variant.replace(' ', '-')}"
        texts = {"json": msgspec.json.encode(report).decode(), "junit": write_junit([report])}
        for form in formats:
            (folder / name).with_suffix(SUFFIXES[form]).write_text(texts[form], encoding="utf-8")


def _run_again(path: Path, report: Report, variant: Variant) -> int:
    """The same run in a process of its own."""
    command = [sys.executable, "-m", "supernoded.ctl", "chaos", "run", str(path), "--drive", report.drive, "--seed", str(report.seed)]
    command += [*(["--without-remedy"] if not variant.remedy else []), *(["--without-physics"] if not variant.physics else [])]
    command += [*(["--stand-in", variant.stand_in] if variant.stand_in else []), "-o", "json"]
    environment = {**os.environ, "PYTHONHASHSEED": HASH_SEED}
    again = subprocess.run(command, capture_output=True, env=environment, check=False)  # noqa: S603 - our own program
    try:
        second = msgspec.json.decode(again.stdout, type=Report)
    except msgspec.DecodeError as error:
        raise ChaosError(f"the second process gave no report: {again.stderr.decode(errors='replace').strip()}") from error
    differences = compare(report, second)
    for one in differences:
        click.echo(f"the second process differs: {one.what}: {one.first}, then {one.second}", err=True)
    if not differences:
        click.echo(f"a second process with other hashes came to the same report, trace {second.trace_hash}", err=True)
    return 1 if differences else 0


@click.command()
@click.argument("scenarios", nargs=-1, metavar="[FILE|NAME]...")
@DRIVE
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="What picks targets and chance.")
@common
@click.pass_context
def matrix(context: click.Context, scenarios: tuple[str, ...], drive: Drive, seed: int) -> None:
    """Show that each scenario tests something; all that the drive ships, unless some are named.

    The verdict must change without the remedy, without the faults' physics, and with each policy that the scenario names as wrong.
    Exit 1 when one does not.
    """
    known = list_scenarios(drive.scenarios())
    chosen = [read_right(find_file(name, drive), drive, seed) for name in scenarios or known]
    told = run_matrix(chosen, drive, seed, _hear_cell)
    _show_progress("")
    tell(context.obj, told, render_matrix(told))
    context.exit(0 if told.right else 1)


def _hear_cell(scenario: str, cell: Cell) -> None:
    _show_progress(f"{scenario} {cell.variant}: {cell.verdict.value}")


def _show_progress(line: str) -> None:
    """One line that is written over; nothing where nobody looks."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{line}", nl=False, err=True)

"""Scenarios for tests: one that is right, changed in one place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from supernoded.chaos.document import Document
from supernoded.chaos.execute import AS_WRITTEN, Variant, run_scenario
from supernoded.chaos.grammar import Scenario
from supernoded.chaos.linting import lint
from supernoded.chaos.reading import parse_scenario
from supernoded.chaos.report import Report
from tests.unit.chaos.toy import Toy

BASE = """\
apiVersion: supernode.chaos/v1
kind: Scenario
metadata:
  name: both-pumps
  owner: tests
  why: cooling must not be lost
drives:
  sim: {}
topology: {fixture: toy}
targets:
  pumps: {select: pump}
steady_state:
  before: {all: [pumps_running], hold: 2s}
  always: [{happened: job.lost, not: true}]
remedy: {stand_in: cool}
stubs: [do-nothing, panic]
timeline:
  - at: 5s
    fault: pump.stop
    on: pumps
    with: {share: 0.5}
    for: 60s
expect:
  - {name: detect, told: cooling.lost, on: cdu/0, of: pump.stop, within: 3s}
  - {name: effect, truth: coolant.flow, on: cdu/0, above: 60, after: detect, within: 5s}
recovery:
  converge: {all: [cool], within: 2m, hold: 5s}
"""


class _Whole(yaml.SafeDumper):
    """Writes everything out."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def write(changes: Mapping[str, Any] | None = None) -> str:
    """The base with these keys of the top replaced; None takes one away."""
    table = dict(Document("base", BASE).table)
    for key, value in (changes or {}).items():
        table[key] = value
        if value is None:
            del table[key]
    return yaml.dump(table, Dumper=_Whole, sort_keys=False)


def problems(text: str, name: str = "both-pumps.yaml") -> list[str]:
    """All that is wrong with it on the toy drive."""
    document, scenario = parse_scenario(name, text)
    if scenario is not None:
        lint(document, scenario, Toy())
    return [str(problem) for problem in document.problems]


def parse(changes: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario, which must be right."""
    document, scenario = parse_scenario("both-pumps.yaml", write(changes))
    assert scenario is not None, document.problems
    lint(document, scenario, Toy())
    assert document.problems == []
    return scenario


def play(changes: Mapping[str, Any] | None = None, variant: Variant = AS_WRITTEN, toy: Toy | None = None, seed: int = 1) -> Report:
    """Its report."""
    return run_scenario(parse(changes), toy or Toy(), seed, variant)


def save(folder: Path, name: str = "both-pumps", changes: Mapping[str, Any] | None = None) -> Path:
    """A scenario file of this name."""
    path = folder / f"{name}.yaml"
    path.write_text(write(changes).replace("name: both-pumps", f"name: {name}", 1))
    return path

"""Scenario files are tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.testing import collecting
from tests.unit.chaos.toy import Toy
from tests.unit.chaos.writing import save

pytest_plugins = ["pytester"]


@pytest.fixture
def scenarios(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(collecting, "find_drive", lambda name: Toy())
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    folder = pytester.path / "scenarios" / "cooling"
    folder.mkdir(parents=True)
    return folder


def test_each_file_is_a_test_that_fails_with_sentences(pytester: pytest.Pytester, scenarios: Path) -> None:
    save(scenarios, "good")
    save(scenarios, "bad", {"remedy": {"stand_in": "do-nothing"}})
    save(scenarios, "wrong", {"stubs": ["nobody"]})
    save(scenarios, "stuck", {"timeline": [{"at": 1, "fault": "pump.sticky", "on": "cdu/0/pump0", "for": 9}], "expect": [], "recovery": {}})
    save(pytester.path, "elsewhere")
    (scenarios / "data.yaml").write_text("kind: Other\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*bad: FAIL: detect: wanted told cooling.lost*",
            "*undo: verified*",
            "*effect: wanted coolant.flow of cdu/0 above 60*, found detect never came*",
            "*undo: not verified*",
            "*wrong.yaml:*stubs*nobody*no such policy*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")

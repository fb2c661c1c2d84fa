"""The verbs that need no served rack, and the exit codes of those that do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sim_hardware.command.main import program
from sim_hardware.rack import SHIPPED
from supernoded import __version__


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(program, words, prog_name="supernode-sim")
    assert result.exit_code == code, result.output
    return result


def test_the_racks_are_those_that_are_shipped() -> None:
    rows = json.loads(run("racks", "-o", "json").stdout)["racks"]
    assert [row["name"] for row in rows] == list(SHIPPED)
    assert next((row["nodes"], row["cards"]) for row in rows if row["name"] == "rack-4x8") == (4, 32)
    assert "rack-4x8" in run("racks").stdout


def test_a_rack_that_is_shown_can_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(run("show", "rack-1x2").stdout)
    assert run("show", str(tmp_path / "mine.toml")).stdout == run("show", "rack-1x2").stdout
    assert json.loads(run("-o", "json", "show", "rack-1x2").stdout)["rack"] == (tmp_path / "mine.toml").read_text()


def test_kinds_are_listed_and_shown_with_their_parameters() -> None:
    kinds = json.loads(run("faults", "link.", "-o", "json").stdout)["faults"]
    assert "link.optics_unplug" in {kind["kind"] for kind in kinds}
    shown = run("faults", "power.input_sag").stdout
    assert "depth" in shown
    assert "PARAMETER" in shown


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("inject", "ups.eco", "ups/A", "a=1", "a=2"), 2, "a is given twice"),
        (("inject", "ups.eco", "ups/A", "--for", "nan"), 2, "nan is no number of seconds"),
        (("serve", "rack-1x8", "--for", "inf"), 2, "inf is no number of seconds"),
        (("show", "rack-99999x8"), 1, "1 to 9999 nodes"),
        (("show", "rak-1x8"), 1, "did you mean rack-1x8?"),
        (("faults", "powerr"), 1, "did you mean power."),
        (("faults", "zzz"), 1, "no kind of fault begins with 'zzz'"),
        (("-o", "yaml", "racks"), 2, "'yaml' is not one of"),
        (("rakcs",), 2, "No such command"),
        (("lift",), 2, "give the NAME of a fault in place, or --all"),
        (("inject", "a.kind", "n0", "depth"), 2, "write name=value"),
        (("--dir", "/nowhere", "active"), 3, "no rack is served in /nowhere"),
        (("--dir", "/nowhere", "truth", "ups/A"), 3, "supernode-sim serve rack-1x8 --dir /nowhere"),
        (("--dir", "/nowhere", "watch"), 3, "or set SUPERNODE_SIM_DIR"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(words: tuple[str, ...], code: int, sentence: str) -> None:
    assert sentence in run(*words, code=code).output


def test_the_folder_can_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPERNODE_SIM_DIR", "/elsewhere")
    assert "no rack is served in /elsewhere" in run("active", code=3).output


def test_it_tells_its_version_and_all_its_verbs() -> None:
    assert __version__ in run("--version").stdout
    verbs = run("--help").stdout
    for verb in ("serve", "racks", "show", "faults", "inject", "lift", "active", "truth", "sense", "sensors", "watch"):
        assert f"  {verb} " in verbs
        assert run(verb, "--help").stdout

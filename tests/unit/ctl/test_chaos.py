"""`supernodectl chaos`, on a toy drive."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from supernoded.chaos.report import Report
from supernoded.ctl import chaos_options, chaos_run
from supernoded.ctl.main import program
from supernoded.errors import PluginError
from tests.unit.chaos.toy import Toy
from tests.unit.chaos.writing import play, save


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy's catalogue, with one scenario."""

    def find(name: str) -> Toy:
        if name not in {"sim", "toy"}:
            raise PluginError(f"there is no drive {name!r}")
        return Toy(tmp_path / "catalogue")

    monkeypatch.setattr(chaos_options, "find_drive", find)
    (tmp_path / "catalogue").mkdir()
    save(tmp_path / "catalogue")
    return tmp_path / "catalogue"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(program, ["chaos", *map(str, arguments)], prog_name="supernodectl")


def test_list_shows_what_is_there_and_what_cannot_be_read(folder: Path) -> None:
    (folder / "broken.yaml").write_text("kind: Scenario\nkinds: 1\n")
    text = run("list").stdout
    assert "both-pumps  sim" in text
    assert "cooling must not be lost" in text
    assert "problems: supernodectl chaos lint" in text
    rows = json.loads(run("list", "-o", "json").stdout)
    assert [(row["name"], row["drives"]) for row in rows] == [("both-pumps", ["sim"]), ("broken", [])]


def test_lint_says_all_of_all_files_a_line_each(folder: Path) -> None:
    assert (run("lint", "both-pumps").exit_code, run("lint", "both-pumps").output) == (0, "")
    first = save(folder, "one", {"stubs": ["nobody"], "sample": 99})
    second = save(folder, "two", {"expects": []})
    result = run("lint", first, second, "both-pumps")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.split(": ")[0].split(":")[0] for line in lines] == [str(first), str(second)]
    assert "no such key; did you mean expect?" in lines[1]
    told = json.loads(run("lint", first, "-o", "json").stdout)
    assert told[0]["key"] == "sample"
    assert told[0]["line"] > 0
    assert told[0]["column"] == 1


def test_run_judges_and_exits_by_the_verdict(folder: Path) -> None:
    save(folder, "stuck", {"timeline": [{"at": 1, "fault": "pump.sticky", "on": "cdu/0/pump0", "for": 9}], "expect": [], "recovery": {}})
    save(folder, "hot", {"abort_if": [{"truth": "air.temperature", "on": "n0", "above": 62}], "remedy": {"stand_in": "do-nothing"}})
    codes = {
        ("both-pumps",): 0,
        ("both-pumps", "--without-remedy"): 1,
        ("both-pumps", "--without-physics"): 7,
        ("both-pumps", "--stand-in", "panic"): 1,
        ("stuck",): 5,
        ("hot",): 6,
        ("both-pumps", "--seeds", "2", "--without-remedy"): 1,
    }
    assert {arguments: run("run", *arguments).exit_code for arguments in codes} == codes


def test_people_get_a_table_and_programs_the_report_alone() -> None:
    text = run("run", "both-pumps", "--seed", "3").stdout
    assert text.startswith("verdict  PASS\nundo     verified\nboth-pumps on toy, rack toy, seed 3, as written: all 4 expectations hold\n")
    assert "PASS  detect" in text
    assert "\x1b" not in text
    result = run("run", "both-pumps", "--seed", "3", "-o", "json")
    report = msgspec.json.decode(result.stdout, type=Report)
    assert (report.seed, report.verdict.value) == (3, "PASS")
    assert {"scenario", "verdict", "seed", "trace_hash", "times", "expectations", "undo", "not_certified"} <= set(json.loads(result.stdout))
    assert result.stderr == ""


def test_a_run_takes_as_many_seeds_as_the_file_or_the_caller_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chaos_options, "find_drive", lambda name: Toy(folder, name=name))
    save(folder, "many", {"drives": {"sim": {"seeds": 3}}})
    assert json.loads(run("run", "many", "-o", "json").stdout)["seeds"] == {"1": "PASS", "2": "PASS", "3": "PASS"}
    assert json.loads(run("run", "many", "--seed", "5", "-o", "json").stdout)["seed"] == 5
    summary = json.loads(run("run", "many", "--seed", "5", "--seeds", "2", "-o", "json").stdout)
    assert summary["seeds"] == {"5": "PASS", "6": "PASS"}
    assert "2 seeds" in run("run", "many", "--seeds", "2").stdout


def test_a_scenario_with_flaws_is_refused(folder: Path) -> None:
    path = save(folder, "flawed", {"stubs": ["nobody"]})
    result = run("run", path, "-o", "json")
    assert result.exit_code == 4
    told = json.loads(result.stdout)
    assert (told["verdict"], told["undo"]) == ("REFUSED", "nothing to undo")
    assert "toy has no such policy" in told["why"]
    assert run("plan", path).exit_code == 4
    assert "toy has no such policy" in run("plan", path).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "both-pump"], "there is no scenario 'both-pump'; did you mean both-pumps?"),
        (["run", "./absent.yaml"], "there is no such file"),
        (["run", "both-pumps", "--drive", "moon"], "there is no drive 'moon'"),
        (["run", "both-pumps", "--stand-in", "nobody"], "there are cool, do-nothing, panic"),
        (["run", "both-pumps", "--seeds", "0"], "0"),
        (["lint"], "FILE|NAME"),
    ],
)
def test_wrong_usage_exits_2(arguments: list[str], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr


def test_reports_are_kept_where_they_are_wanted(folder: Path, tmp_path: Path) -> None:
    save(folder, "kept", {"report": {"formats": ["json", "junit"]}})
    assert run("run", "kept", "--seeds", "2", "--folder", tmp_path / "out", "--junit", tmp_path / "all.xml").exit_code == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {f"kept-{seed}-as-written.{form}" for seed in (1, 2) for form in ("json", "xml")}
    assert (tmp_path / "all.xml").read_text().count("<testsuite ") == 2
    result = run("run", "kept", "--junit", tmp_path / "absent" / "x.xml")
    assert result.exit_code == 1
    assert "the report cannot be written: No such file or directory" in result.stderr


def test_diff_of_two_reports(tmp_path: Path) -> None:
    for name, arguments in (("a", ()), ("b", ()), ("c", ("--without-remedy",))):
        (tmp_path / name).write_text(run("run", "both-pumps", "--seed", "1", "-o", "json", *arguments).stdout)
    assert (run("diff", tmp_path / "a", tmp_path / "b").exit_code, run("diff", tmp_path / "a", tmp_path / "c").exit_code) == (0, 1)
    assert "The two reports are the same." in run("diff", tmp_path / "a", tmp_path / "b").stdout
    assert "verdict" in run("diff", tmp_path / "a", tmp_path / "c").stdout
    (tmp_path / "d").write_text("no json")
    assert "is no report of one run" in run("diff", tmp_path / "a", tmp_path / "d").stderr


@pytest.mark.parametrize("same", [True, False])
def test_twice_compares_with_a_process_of_other_hashes(monkeypatch: pytest.MonkeyPatch, same: bool) -> None:
    asked: list[Any] = []

    def second(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        asked.append((command, options["env"]["PYTHONHASHSEED"]))
        report = msgspec.structs.replace(play(seed=2), trace_hash="other") if not same else play(seed=2)
        return subprocess.CompletedProcess(command, 0, msgspec.json.encode(report), b"")

    monkeypatch.setattr("subprocess.run", second)
    result = run("run", "both-pumps", "--seed", "2", "--twice")
    assert result.exit_code == (0 if same else 1)
    assert ("trace_hash" in result.stderr) is not same
    [(command, hashes)] = asked
    assert command[command.index("--seed") + 1] == "2"
    assert hashes == chaos_run.HASH_SEED


def test_plan_does_nothing_and_says_what_would_be_done() -> None:
    text = run("plan", "both-pumps").stdout
    for part in (
        "Nothing has been done.",
        "pumps   cdu/0/pump0, cdu/0/pump1",
        "5.00 s  pump.stop  cdu/0/pump0  60.00 s  share 0.5",
        "0 left",
    ):
        assert part in text
    told = json.loads(run("plan", "both-pumps", "-o", "json").stdout)
    assert told["schedule"][0]["with"] == {"share": 0.5, "coast": 0.0}
    assert told["redundancy"][0]["left"] == 0


def test_faults_are_listed_with_their_parameters() -> None:
    assert "pump.stop     pump     model     model   A pump stops." in run("faults").stdout
    text = run("faults", "pump.stop").stdout
    assert "share      a number from 0 to 1     1.0      of the flow that is lost" in text
    [told] = json.loads(run("faults", "pump.stop", "-o", "json").stdout)
    assert told["parameters"][1] == {
        "name": "coast",
        "allowed": "a number from 0 to 10 s",
        "unit": "s",
        "default": 0.0,
        "needed": False,
        "meaning": "until it stands",
        "source": "",
    }
    assert json.loads(run("faults", "nothing", "-o", "json").stdout) == []


def test_matrix_of_the_whole_catalogue(folder: Path) -> None:
    right = run("matrix")
    assert right.exit_code == 0
    assert "both-pumps  without physics  INCONCLUSIVE" in right.stdout
    assert "Each changes its verdict as it must." in right.stdout
    save(folder, "toothless", {"expect": [{"name": "x", "happened": "pump.stopped"}], "steady_state": {}, "recovery": {}})
    wrong = run("matrix", "toothless", "-o", "json")
    assert wrong.exit_code == 1
    assert json.loads(wrong.stdout)["lines"][0]["right"] is False
    assert "1 of 2 do not change their verdict as they must." in run("matrix").stdout


def complete(line: str) -> str:
    env = {"_SUPERNODECTL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return CliRunner().invoke(program, [], env=env, prog_name="supernodectl").stdout


def test_completion_knows_scenarios_and_drives(folder: Path) -> None:
    save(folder, "ber-creep")
    assert complete("supernodectl chaos run b").splitlines() == ["plain,ber-creep", "plain,both-pumps"]
    assert complete("supernodectl chaos plan ber").strip() == "plain,ber-creep"
    assert complete("supernodectl chaos run ./x").strip() == "file,./x"
    assert complete("supernodectl chaos run --drive moon b").strip() == "file,b"
    assert "plain,sim" in complete("supernodectl chaos run --drive s")

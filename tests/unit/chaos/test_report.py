"""Reports: one shape for programs, JUnit for CI, several seeds together, two side by side."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from supernoded.chaos.comparing import compare, load_report
from supernoded.chaos.drive import Happened
from supernoded.chaos.execute import Variant, lint_file, plan_run, read_right, run_scenario
from supernoded.chaos.matrix import list_variants, run_matrix
from supernoded.chaos.preview import preview
from supernoded.chaos.reading import find_scenario, list_scenarios
from supernoded.chaos.redundancy import find_spent
from supernoded.chaos.report import Report, Ruling, Undo, find_exit_code, refuse, summarise, write_junit
from supernoded.errors import ChaosError
from tests.unit.chaos.toy import VIEW, Toy
from tests.unit.chaos.writing import parse, play, save

SOMETIMES = {"expect": [{"name": "rare", "happened": "job.lost", "sometimes": True}], "recovery": {}}


def test_a_report_survives_json() -> None:
    report = play()
    again = msgspec.json.decode(msgspec.json.encode(report), type=Report)
    assert msgspec.json.encode(again) == msgspec.json.encode(report)
    assert compare(report, again) == []


def cases(report: Report) -> dict[str, str]:
    suite = ET.fromstring(write_junit([report]))[0]  # noqa: S314 - our own text
    assert int(suite.attrib["tests"]) == len(suite)
    return {case.attrib["name"]: case[0].tag if len(case) else "passed" for case in suite}


def test_junit_passes_only_what_surely_passed() -> None:
    assert set(cases(play()).values()) == {"passed"}
    failed = cases(play(variant=Variant(remedy=False)))
    assert (failed["detect"], failed["verdict"]) == ("failure", "failure")
    assert set(cases(play(variant=Variant(physics=False))).values()) == {"skipped"}
    assert cases(refuse("s", "sim", "r", 1, "no")) == {"verdict": "skipped"}


def test_what_comes_sometimes_must_come_with_one_seed() -> None:
    reports = [play(SOMETIMES, seed=seed) for seed in (1, 2)]
    summary = summarise(reports)
    assert (summary.verdict, summary.why) == (Ruling.FAIL, "rare came with none of 2 seeds")
    lucky = summarise([*reports, msgspec.structs.replace(play(SOMETIMES, Variant(remedy=False)), seed=3)])
    assert (lucky.verdict, lucky.sometimes) == (Ruling.FAIL, {"rare": 1})  # the third lost its job, which must never be
    assert lucky.why.startswith("seed 3: ")
    assert lucky.times["inject"] == {"least": 5.0, "median": 5.0, "most": 5.0}


def test_the_worst_seed_is_the_verdict_and_an_open_undo_the_exit_code() -> None:
    good = play()
    bad = [msgspec.structs.replace(good, seed=seed, verdict=verdict) for seed, verdict in enumerate(Ruling, start=2)]
    assert summarise([good, *bad]).verdict is Ruling.FAIL
    assert summarise([good, *bad[2:]]).verdict is Ruling.ABORTED
    codes = [find_exit_code(msgspec.structs.replace(good, verdict=verdict)) for verdict in Ruling]
    assert codes == [0, 1, 7, 6, 4]
    left = msgspec.structs.replace(good, undo=Undo.NOT_VERIFIED)
    assert find_exit_code(summarise([good, left])) == find_exit_code(left) == 5


def test_two_reports_part_where_their_courses_do() -> None:
    first = play()
    late = Happened(first.happened[0].at + 0.2, "pump.stopped", "cdu/0/pump0", "it stands")
    second = msgspec.structs.replace(
        first,
        trace_hash="x",
        happened=[late, *first.happened[1:]],
        times={**first.times, "detect": None},
        expectations=first.expectations[1:],
    )
    assert [one.what for one in compare(first, second)] == ["trace_hash", "times.detect", "expectations.detect", "happened[0]"]
    assert [one.what for one in compare(first, second, tolerance=1.0)] == ["times.detect", "expectations.detect"]
    shorter = msgspec.structs.replace(first, happened=first.happened[:-1])
    assert compare(first, shorter)[0].second == "nothing more"


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r").write_text('{"verdict": "PASS"}')
    with pytest.raises(ChaosError, match="is no report of one run"):
        load_report(tmp_path / "r")
    with pytest.raises(ChaosError, match="cannot be read"):
        load_report(tmp_path / "absent")


def test_the_matrix_shows_who_changes_its_verdict(tmp_path: Path) -> None:
    toy, heard = Toy(tmp_path), list[str]()
    toothless = parse({"expect": [{"name": "x", "happened": "pump.stopped"}], "steady_state": {}, "recovery": {}})
    matrix = run_matrix([parse(), toothless], toy, tell=lambda name, cell: heard.append(f"{name} {cell.variant}"))
    assert [line.right for line in matrix.lines] == [True, False]
    assert not matrix.right
    assert [cell.verdict.value for cell in matrix.lines[0].cells] == ["PASS", "FAIL", "INCONCLUSIVE", "FAIL", "FAIL"]
    assert [cell.is_right for cell in matrix.lines[1].cells] == [True, False, True, False, False]
    assert heard[:4] == [f"both-pumps {what}" for what in ("as written", "without remedy", "without physics", "with do-nothing")]


def test_a_healthy_run_and_a_near_miss_have_fewer_variants() -> None:
    calm = parse({"timeline": [], "lasts": 60, "remedy": None, "stubs": ["panic"], "expect": [{"name": "x", "told": "*", "never": True}]})
    assert [str(variant) for variant, _ in list_variants(calm)] == ["as written", "with panic"]
    near = parse({"remedy": {"stand_in": "cool", "needed": False}, "stubs": []})
    assert [str(variant) for variant, _ in list_variants(near)] == ["as written", "without physics"]
    assert str(Variant(remedy=False, physics=False)) == "without remedy and without physics"


def test_a_preview_says_when_who_and_what_it_costs() -> None:
    cue = {"after": "detect", "within": "30s", "fault": "pump.stop", "on": "cdu/0/pump0", "name": "again", "for": 5}
    base = {"at": 40, "fault": "pump.stop", "on": "pumps", "for": 60}
    toy = Toy()
    told = preview(plan_run(parse({"timeline": [base, cue]}), toy, 1))
    assert [(due.at, due.name) for due in told.schedule] == [
        (None, "again"),
        (40.0, "pump.stop@cdu/0/pump0"),
        (40.0, "pump.stop@cdu/0/pump1"),
    ]
    assert told.schedule[0].after == "detect, within 30 s"
    assert [str(one) for one in told.redundancy] == [
        "n_plus_1_pumps, pumps of cdu/0: cdu/0/pump0, cdu/0/pump1 out at once, 0 left, at least 1 needed"
    ]
    assert toy.stages == []  # nothing was done
    apart = [{**base, "on": "cdu/0/pump0", "for": 10}, {**base, "on": "cdu/0/pump1", "at": 60}]
    assert preview(plan_run(parse({"timeline": apart}), toy, 1)).redundancy[0].left == 1


def test_scenarios_are_found_by_name_and_path(tmp_path: Path) -> None:
    folder = tmp_path / "catalogue" / "power"
    folder.mkdir(parents=True)
    path = save(folder, "ber-creep")
    assert list_scenarios([tmp_path, tmp_path / "absent"]) == {"ber-creep": path}
    assert find_scenario("ber-creep", [tmp_path]) == path
    assert find_scenario(str(path), []) == path
    with pytest.raises(ChaosError, match=r"there is no scenario 'bercreep'; did you mean ber-creep\?"):
        find_scenario("bercreep", [tmp_path])
    with pytest.raises(ChaosError, match="there is no such file"):
        find_scenario("./absent.yaml", [])


def test_a_file_is_read_and_judged_whole(tmp_path: Path) -> None:
    assert read_right(save(tmp_path), Toy()).metadata.name == "both-pumps"
    with pytest.raises(ChaosError, match="no such policy"):
        read_right(save(tmp_path, changes={"stubs": ["x"]}), Toy())
    (tmp_path / "big.yaml").write_text("#" * 1_000_001)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    for name, says in (("big", "at most 1000000 are read"), ("bytes", "is not UTF-8"), ("absent", "cannot be read")):
        document, scenario = lint_file(tmp_path / f"{name}.yaml", Toy())
        assert scenario is None
        assert says in str(document.problems[0])


def test_a_seed_that_goes_beyond_the_limits_is_refused() -> None:
    changes = {"targets": {"pumps": {"select": "pump"}, "warm": {"select": "card", "pick": 2}}, "limits": {"max_nodes": 1}}
    scenario = parse(
        {**changes, "timeline": [{"at": 0, "fault": "card.warm", "on": "n0/card0", "for": 5}], "expect": [{"name": "x", "told": "*"}]}
    )
    [move] = scenario.timeline
    hit = msgspec.structs.replace(scenario, timeline=(msgspec.structs.replace(move, on="warm"),))
    reports = [run_scenario(hit, Toy(), seed) for seed in range(12)]
    refused = [report for report in reports if report.verdict is Ruling.REFUSED]
    assert 0 < len(refused) < 12
    assert "limits.max_nodes: 1: 2 nodes are hit: n0, n1; pick fewer" in refused[0].why


def test_a_fault_of_a_thing_takes_out_what_is_below_it() -> None:
    spent = find_spent(VIEW, [("cdu/0", 0.0, 9.0), ("cdu/0/pump1", 20.0, 30.0), ("n0", 0.0, 99.0)])
    assert [(one.out, one.left) for one in spent] == [(("cdu/0/pump0", "cdu/0/pump1"), 0)]
    assert [one.out for one in find_spent(VIEW, [("cdu/0/pump0", 0.0, 5.0), ("cdu/0/pump1", 5.0, 9.0)])] == [("cdu/0/pump0",)]


def test_a_verdict_is_not_right_while_something_is_left_behind() -> None:
    sticky = {"at": 1, "fault": "pump.sticky", "on": "cdu/0/pump0", "for": 9, "with": {"share": 0.5}}
    scenario = parse(
        {"timeline": [sticky], "expect": [{"name": "x", "happened": "pump.stopped"}], "recovery": {}, "remedy": None, "stubs": []}
    )
    cell = run_matrix([scenario], Toy()).lines[0].cells[0]
    assert (cell.verdict, cell.undo, cell.is_right) == (Ruling.PASS, Undo.NOT_VERIFIED, False)


def test_two_reports_part_where_daemons_said_something_else() -> None:
    first = play()
    assert [one.what for one in compare(first, msgspec.structs.replace(first, told=first.told[:1]))] == ["told[1]"]

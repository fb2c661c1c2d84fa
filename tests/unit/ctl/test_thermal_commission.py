"""`supernodectl thermal commission` as a person and as a program see it; the plant is a few lines, and no second is waited for."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from supernoded.ctl.client import AdminClient
from supernoded.ctl.main import program
from supernoded.ctl.thermal_commission import REASON, OverSocket, Recorded
from supernoded.messages import HandOrder
from tests.unit.admin.fake_desk import FakeDesk, serving
from tests.unit.admin.fake_heat import THERMAL
from tests.unit.ctl.plant import Plant

Run = Callable[..., Result]


@pytest.fixture
def plant() -> Plant:
    return Plant()


@pytest.fixture
def run(tmp_path: Path, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("supernoded.ctl.thermal_commission.OverSocket", lambda _: plant)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(program, ["thermal", "commission", *arguments], prog_name="supernodectl")

    return call


def test_it_says_what_it_will_do_then_what_it_does_and_where_the_file_belongs(run: Run, plant: Plant, tmp_path: Path) -> None:
    result = run("cdu/0", "--positions", "40,60,80", "--most", "40", "--silence", "--yes")
    assert result.exit_code == 0
    told = result.stderr.splitlines()
    assert told[0] == "This holds the valve of cdu/0 at 40, 60, 80 %, each for 180 s at most: 9 min in all."
    assert "lets go at once when the supply leaves the dew point and its margin to 40 C, at a leak, at any error" in told[1]
    assert "valve to 60 %" in told
    assert "40.0 %  28." in result.stdout
    assert "In silence it fell back after 13 s to 20.00 C." in result.stdout
    assert "Recorded in cdu0.toml." in result.stdout
    assert "into the folder that `commissioning` of [plugins.thermal] names" in result.stdout
    assert "restart supernoded" in result.stdout
    written = tomllib.loads((tmp_path / "cdu0.toml").read_text())
    assert (len(written["points"]), written["fallback_c"]) == (3, 20.0)
    assert [path.name for path in tmp_path.iterdir()] == ["cdu0.toml"]


def test_programs_get_the_record(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "west.toml"
    result = run("cdu/0", "--positions", "60", "--most", "40", "--out", str(out), "--yes", "-o", "json")
    told = msgspec.json.decode(result.stdout, type=Recorded)
    assert (told.file, told.cdu, told.silence_s, [point["valve"] for point in told.points]) == (str(out), "cdu/0", None, [60.0])


def test_it_asks_first_and_without_somebody_to_ask_it_does_nothing(run: Run, plant: Plant, tmp_path: Path) -> None:
    result = run("cdu/0", "--most", "40")
    assert result.exit_code == 2
    assert "commissioning asks first, and there is nobody to ask: say --yes" in result.stderr
    assert (plant.holds, list(tmp_path.iterdir())) == ([], [])


def test_a_no_leaves_everything_as_it_is(run: Run, plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.ctl.thermal_commission.has_terminal", lambda: True)
    result = run("cdu/0", "--most", "40")  # and nothing is typed
    assert result.exit_code == 1
    assert "Take hold of the valve of cdu/0?" in result.stderr
    assert (plant.holds, list(tmp_path.iterdir())) == ([], [])


def test_what_is_recorded_before_an_abort_is_kept_and_not_overwritten(run: Run, plant: Plant, tmp_path: Path) -> None:
    (tmp_path / "cdu0.toml").write_text("older")
    result = run("cdu/0", "--positions", "60,10", "--most", "30", "--yes")
    assert result.exit_code == 1
    assert "is allowed (--most)" in result.stderr
    assert "It did not end: 1 point in cdu0.toml.partial." in result.stderr
    assert plant.releases == 1
    assert (tmp_path / "cdu0.toml").read_text() == "older"
    assert len(tomllib.loads((tmp_path / "cdu0.toml.partial").read_text())["points"]) == 1
    again = run("cdu/0", "--positions", "60", "--most", "40", "--yes")
    assert again.exit_code == 1
    assert "cdu0.toml.partial is left from a run that did not end: move it away, or name another file with --out" in again.stderr


def test_a_run_without_a_single_point_leaves_no_file(run: Run, tmp_path: Path) -> None:
    result = run("cdu/0", "--positions", "10", "--most", "30", "--yes")
    assert (result.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "It did not end: nothing was recorded." in result.stderr


def test_a_file_that_cannot_be_written_is_found_before_the_valve_is_touched(run: Run, plant: Plant) -> None:
    result = run("cdu/0", "--most", "40", "--out", "nowhere/x.toml", "--yes")
    assert result.exit_code == 1
    assert "nowhere/x.toml.partial cannot be written" in result.stderr
    assert plant.holds == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--positions", "10,abc"], "'10,abc' is no list of per cents such as 10,50,90"),
        (["--positions", "10,101"], "101 is no position of a valve: 0 to 100 % can be asked for"),
        (["--positions", "nan"], "nan is no position of a valve"),
        (["--settle", "10"], "--settle 10 is too short"),
    ],
)
def test_what_cannot_be_is_wrong_usage(run: Run, plant: Plant, wrong: list[str], said: str) -> None:
    result = run("cdu/0", "--yes", *wrong)
    assert (result.exit_code, plant.holds) == (2, [])
    assert said in result.stderr


def test_over_the_socket_it_looks_holds_and_lets_go(tmp_path: Path) -> None:
    desk = FakeDesk()
    with serving(tmp_path / "s", desk):
        access = OverSocket(AdminClient([tmp_path / "s"], 10.0))
        assert access.look() == THERMAL
        access.hold("cdu/0/valve", 40.0, 10.0)
        access.release("cdu/0/valve")
    assert desk.hands == [("cdu/0/valve", HandOrder(value=40.0, seconds=10.0, reason=REASON)), ("cdu/0/valve", None)]

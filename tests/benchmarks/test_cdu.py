import json
import sys
from pathlib import Path

import pytest

from benchmarks import cdu
from benchmarks.cdu import CASES, Job, has_cycle, list_default, run
from benchmarks.controllers import CONTROLLERS
from sim_hardware.plant.cooling import list_designs


@pytest.mark.parametrize(("plant", "budget"), [("reference", 0.15), ("brisk", 0.35), ("uneven-rows", 0.35), ("slow-valve", 0.45)])
def test_the_steps_stay_within_their_budget(plant: str, budget: float) -> None:
    row = run(Job("ours", "steps", plant, 1.0))
    assert row["plant"] == plant
    assert float(str(row["peak_error_c"])) <= budget
    assert float(str(row["seconds_outside"])) <= 5.0
    assert row["limit_cycle"] is False


@pytest.mark.parametrize("seconds", [20, 60])
def test_square_loads_are_held_better_than_by_pi_alone(seconds: int) -> None:
    ours, alone = (run(Job(name, f"square{seconds}", "worn-valve", 1.0)) for name in ("ours", "pi"))
    assert ours["limit_cycle"] is False
    assert float(str(ours["peak_error_c"])) < float(str(alone["peak_error_c"]))


def test_a_read_error_is_a_cold_sensor_to_thermald_alone() -> None:
    peaks = {name: float(str(run(Job(name, "sensor-gap", "reference", 1.0))["peak_error_c"])) for name in CONTROLLERS}
    assert peaks["thermald"] > 5.0 > peaks["pi"] > peaks["ours"]


def test_a_wave_without_end_is_a_cycle_and_a_step_that_settles_is_none() -> None:
    assert has_cycle([0.2 if second // 20 % 2 else -0.2 for second in range(300)])
    assert not has_cycle([0.1 if second // 20 % 2 else -0.1 for second in range(300)])
    assert not has_cycle([max(0.0, 1.0 - second / 50.0) for second in range(300)])


def test_without_a_word_the_steps_run_on_every_plant_the_reference_first() -> None:
    jobs = list(list_default(list_designs()))
    assert jobs[0] == Job("ours", "steps", "reference", 1.0)
    assert {job.plant for job in jobs} == set(list_designs())
    assert {job.poll_s for job in jobs} == {1.0, 2.0, 5.0}
    assert {job.controller for job in jobs} == {"ours", "pi", "swampd", "thermald"}
    assert {case for case in CASES if "lag" in case} == {"lag5", "lag10"}


def test_a_plant_file_of_ones_own_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = "[exchanger]\nwatts_per_kelvin = 480e3\nlag_s = 3.0\n[primary]\ncelsius = 15.0\nlitres_per_second = 75.0\n"
    (tmp_path / "own.toml").write_text(f'text = "ours"\nwatts = 2e6\n{text}[valve]\nstroke_s = 15.0\n')
    monkeypatch.setattr(sys, "argv", ["cdu.py", "--plant", str(tmp_path / "own.toml"), "--case", "steps", "--json"])
    cdu.main()
    rows = json.loads(capsys.readouterr().out)
    assert [row["controller"] for row in rows] == ["ours", "pi", "swampd", "thermald"]
    assert {row["plant"] for row in rows} == {"own"}
    assert {"case", "poll_s", "peak_error_c", "seconds_outside", "valve_travel", "limit_cycle", "cores", "version"} <= set(rows[0])

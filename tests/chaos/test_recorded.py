"""What simulated sites have of their CDUs' commissioning is what the procedure records, and daemons can use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim_hardware.drives.commissioned import FOLDER, write_commissioned
from sim_hardware.drives.known import load_known_rack
from sim_hardware.plant.cooling import list_designs
from sim_hardware.world import World
from supernoded_thermal.control.commissioning import read_commissioning
from supernoded_thermal.control.exchanger import make_exchanger
from tests.chaos.recording import record_plant


def test_a_plant_recorded_anew_is_what_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "slow-valve.toml").write_text(record_plant("slow-valve"))
    before, after = read_commissioning(FOLDER / "slow-valve.toml"), read_commissioning(tmp_path / "slow-valve.toml")
    assert before is not None
    assert after is not None
    assert [round(point.valve) for point in after.points] == [round(point.valve) for point in before.points]
    assert [point.effectiveness for point in after.points] == pytest.approx([point.effectiveness for point in before.points], abs=0.01)
    assert after.flow == pytest.approx(before.flow, rel=0.01)


@pytest.mark.parametrize("plant", list_designs())
def test_every_plant_has_a_record_that_gives_a_way_back_to_the_valve(plant: str) -> None:
    data = read_commissioning(FOLDER / f"{plant}.toml")
    assert data is not None
    exchanger = make_exchanger(data)
    middle = exchanger.find_effect(50.0, data.flow)
    assert exchanger.find_valve(middle, data.flow) == pytest.approx(50.0, abs=0.5)


@pytest.mark.parametrize("name", ["direct-1x8", "direct-4x8"])
def test_a_rack_gets_the_flow_that_it_has(name: str, tmp_path: Path) -> None:
    rack = load_known_rack(name)
    data = read_commissioning(Path(write_commissioned(rack, tmp_path)) / "cdu0.toml")
    assert data is not None
    assert data.cdu == "cdu/0"
    assert data.flow == pytest.approx(World(rack, 1, lambda: 0.0).truth("cdu/0", "coolant.flow"), rel=0.02)


def test_a_unit_that_is_only_told_its_setpoint_needs_none(tmp_path: Path) -> None:
    assert write_commissioned(load_known_rack("rack-1x8"), tmp_path) == ""
    assert list(tmp_path.iterdir()) == []

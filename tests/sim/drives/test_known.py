"""What a scenario may name is what a fault may befall."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim_hardware.drives.known import list_tellings, view_rack
from sim_hardware.faults.targets import FAMILIES, list_targets
from sim_hardware.rack import load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World

RACKS = ("rack-1x8", "single-path-2x8", "lean-2x8", "generator-2x8")
OTHERWISE = {"cable", "generator"}  # a view has cables to switches too, and the generator whether or not there is one


@pytest.mark.parametrize("name", RACKS)
def test_the_families_of_a_rack_are_those_of_its_rig(name: str, tmp_path: Path) -> None:
    rig, view = Rig(World(load_rack(name), 1, lambda: 0.0), tmp_path), view_rack(name)
    both = [family for family in FAMILIES if family in view.subjects and family not in OTHERWISE]
    assert {"line", "device", "ups", "outlet"} <= set(both)
    assert {family: set(view.subjects[family]) for family in both} == {family: set(list_targets(rig, family)) for family in both}
    assert view.subjects["power"] == ("power/site",)


def test_orders_to_devices_that_no_plugin_is_told_of_here_can_be_waited_for() -> None:
    assert {
        "action.power.cap",
        "action.power.shed",
        "action.power.off",
        "action.job.checkpoint",
        "action.coolant.flow",
        "action.notify",
    } <= list_tellings()


def test_what_daemons_judge_of_coolant_can_be_waited_for() -> None:
    assert {"coolant.band", "coolant.leak", "coolant.pump", "heat", "fan.failed"} <= list_tellings()

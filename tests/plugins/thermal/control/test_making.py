import dataclasses
from pathlib import Path

import msgspec

from supernoded.plugin import Node, Topology
from supernoded_thermal.control import ControlSettings, make_loops
from tests.plugins.thermal.control.looking import STEADY, Site
from tests.plugins.thermal.control.test_commissioning import GOOD, write

SITE = {
    "nodes": [{"name": "n0", "cards": 2, "loop": "cdu0"}, {"name": "n1", "cards": 2, "loop": "west"}],
    "loops": [{"name": "cdu0"}, {"name": "west", "authority": "direct"}],
}


def place(node: Node) -> Node:
    return dataclasses.replace(node, topology=msgspec.convert(SITE, Topology))


def test_direct_has_valve_and_pumps_and_setpoint_its_setpoint(supernoded_node: Node) -> None:
    loops = make_loops(ControlSettings(), place(supernoded_node))
    assert [(loop.target, loop.scope) for loop in loops] == [
        ("cdu/0/setpoint", "cdu/0"),
        ("cdu/west/valve", "cdu/west"),
        ("cdu/west/pump", "cdu/west"),
    ]
    assert len({loop.name for loop in loops}) == 3
    assert next(loop.period for loop in loops if loop.target.endswith("valve")) == 1.0


def test_commissioning_data_are_found_by_the_name_of_the_loop(supernoded_node: Node, tmp_path: Path) -> None:
    (tmp_path / "west.toml").write_bytes(write(GOOD))
    assert len(make_loops(ControlSettings(), place(supernoded_node), tmp_path)) == 3


def test_a_record_that_cannot_be_used_costs_the_feed_forward_alone_and_is_told(supernoded_node: Node, tmp_path: Path) -> None:
    (tmp_path / "west.toml").write_bytes(write(GOOD[:1]))
    valve = make_loops(ControlSettings(), place(supernoded_node), tmp_path)[1]
    _, setpoint = valve.steer(Site().add(0.0, STEADY, valve.scope).view(0.0), valve.start(None))
    assert setpoint is not None
    assert setpoint.note.startswith(f"by PI alone: {tmp_path}/west.toml cannot be used: ")

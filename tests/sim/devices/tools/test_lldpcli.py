"""`lldpcli`: neighbours as they call themselves."""

import json

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from tests.sim.devices.tools.desks import Desk

SHOW = ("-f", "json", "show", "neighbors")


def run(desk: Desk, *argv: str) -> Run:
    return run_tool("lldpcli", argv, desk, "n0", ToolState())


def test_every_interface_with_a_neighbour_is_listed() -> None:
    desk = Desk()
    desk.values["n0/card2/port1", "link.neighbour"] = None
    listed = {name: entry for one in json.loads(run(desk, *SHOW).out)["lldp"]["interface"] for name, entry in one.items()}
    assert listed.keys() == {f"eth{number}" for number in range(1, 17)} - {"eth6"}
    assert list(listed["eth1"]["chassis"]) == ["n0/card1"]
    assert listed["eth1"]["port"]["id"] == {"type": "ifname", "value": "port1"}


def test_one_neighbour_stands_without_a_list_and_none_is_nothing() -> None:
    desk = Desk()
    assert list(json.loads(run(desk, *SHOW, "ports", "eth3").out)["lldp"]["interface"]) == ["eth3"]
    desk.values["n0/card1/port0", "link.neighbour"] = ""
    assert json.loads(run(desk, *SHOW, "ports", "eth3").out) == {"lldp": {}}


@pytest.mark.parametrize("argv", [(), ("show", "neighbors"), ("-f", "json", "show", "chassis")])
def test_other_words_are_not_understood(argv: tuple[str, ...]) -> None:
    assert run(Desk(), *argv)[:2] == (1, "")

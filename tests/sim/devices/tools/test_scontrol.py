"""The simulated Slurm: what it shows, what it refuses, and whose reason stands."""

from __future__ import annotations

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.plant.cards.orders import PowerNode
from sim_hardware.plant.job.orders import StopJob
from sim_hardware.rack import generate_rack
from tests.sim.devices.tools.desks import Desk


class Site:
    """Two nodes; asked from n0."""

    def __init__(self) -> None:
        self.desk, self.tools = Desk(generate_rack(2, 8)), ToolState()

    def run(self, *argv: str) -> Run:
        return run_tool("scontrol", argv, self.desk, "n0", self.tools)

    def state(self, node: str = "n1") -> str:
        return self.run("show", "node", node, "-o").out.partition(" State=")[2].partition(" ")[0]

    def set(self, *words: str) -> Run:
        return self.run("update", "NodeName=n1", *words)


def test_a_node_goes_through_its_states() -> None:
    site = Site()
    seen = [site.state()]
    for words in (("State=DRAIN", "Reason=why"), ("State=DOWN", "Reason=worse"), ("State=UNDRAIN",), ("State=RESUME",)):
        assert site.set(*words).rc == 0
        seen.append(site.state())
    assert seen == ["ALLOCATED", "ALLOCATED+DRAIN", "DOWN+DRAIN", "DOWN", "ALLOCATED"]
    site.desk.order(StopJob("train"))
    assert site.state() == "IDLE"
    site.desk.order(PowerNode("n1", on=False))
    assert site.state() == "DOWN*"


def test_a_reason_says_who_and_when_and_goes_with_the_flag() -> None:
    site = Site()
    site.desk.play(90.0)
    site.set("State=DRAIN", "Reason=fan tray")
    assert site.run("show", "node", "n1", "-o").out.endswith(" Reason=fan tray [slurm@2026-01-01T00:01:30]\n")
    site.set("Reason=both fan trays")
    assert "Reason=both fan trays [" in site.run("show", "node", "n1").out
    site.set("State=UNDRAIN")
    assert "Reason=" not in site.run("show", "node", "n1", "-o").out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("update", "NodeName=n9", "State=DRAIN", "Reason=x"), "slurm_update error: Invalid node name specified"),
        (("update", "NodeName=n1", "State=DRAIN"), "A reason must be given for this state"),
        (("update", "NodeName=n1", "State=SLEEPY", "Reason=x"), "Invalid node state specified"),
        (("update", "NodeName=n1"), "Invalid node state specified"),
        (("show", "job", "1"), "invalid keyword"),
        ((), "invalid keyword"),
    ],
)
def test_what_it_does_not_take_changes_nothing(argv: tuple[str, ...], said: str) -> None:
    site = Site()
    refused = site.run(*argv)
    assert (refused.rc, said in refused.err) == (1, True)
    assert site.state() == "ALLOCATED"


def test_a_user_without_the_right_is_refused_and_unknown_nodes_are_told() -> None:
    site = Site()
    site.tools.slurm.denied = True
    assert "Invalid user id" in site.set("State=DRAIN", "Reason=x").err
    assert site.run("show", "node", "n9") == Run(1, "Node n9 not found\n", seconds=0.05)

"""A switch's command line, over the plant's own switches."""

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.plant.links.orders import Congest, SetThresholds
from sim_hardware.rack import load_rack
from sim_hardware.world import World


def run(world: World, *argv: str) -> Run:
    return run_tool("switch_cli", argv, world, "n0", ToolState())


def test_settings_are_lines_of_the_configuration() -> None:
    world = World(load_rack("rack-2x8"), 1, lambda: 0.0)
    assert run(world, "s1", "display", "congestion").out == "pfc priority 4 buffer-size 120000\necn enable\necn threshold 110000\n"
    world.order(SetThresholds("switch/s1", 60_000.0, 119_000.0, ecn=False))
    assert run(world, "s1", "display", "congestion").out == "pfc priority 4 buffer-size 60000\nundo ecn enable\necn threshold 119000\n"


def test_counters_go_on_with_the_plant() -> None:
    now = [0.0]
    world = World(load_rack("rack-2x8"), 1, lambda: now[0])
    assert run(world, "s1", "display", "counters").out == "drops 0\nmarks 0\npauses 0\n"
    world.order(SetThresholds("switch/s1", 120_000.0, 119_000.0, ecn=True))
    world.order(Congest("switch/s1", 1.5))
    now[0] = 10.0
    counters = dict(line.split() for line in run(world, "s1", "display", "counters").out.splitlines())
    assert int(counters["drops"]) > 1000
    assert (counters["marks"], counters["pauses"]) == ("0", "0")


@pytest.mark.parametrize(("argv", "code"), [((), 255), (("s9", "display", "counters"), 255), (("s1", "display"), 1), (("s1", "reboot"), 1)])
def test_what_is_not_there_or_not_understood(argv: tuple[str, ...], code: int) -> None:
    assert run(World(load_rack("rack-2x8"), 1, lambda: 0.0), *argv).rc == code

import re

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.rack import generate_rack
from tests.sim.devices.tools.desks import Desk

HOP = re.compile(r"^Hop (\d)->(\d): ([\d.]+) us$", re.MULTILINE)
WORST = re.compile(r"^Ring latency: ([\d.]+) us$", re.MULTILINE)


def run(desk: Desk, tool: str, *argv: str) -> Run:
    return run_tool(tool, argv, desk, "n0", ToolState())


def test_a_closed_ring_lists_its_members() -> None:
    assert run(Desk(), "hccl_ring_check")[:3] == (0, "Ring status: OK, nodes: [0,1,2,3,4,5,6,7]\n", "")
    desk = Desk(generate_rack(3, 2))
    assert run(desk, "hccl_ring_check").out == "Ring status: OK, nodes: [0,1,2]\n"
    assert run(desk, "hccl_ring_check", "--ring", "backplane-n1").out == "Ring status: OK, nodes: [0,1]\n"


def test_a_broken_ring_names_the_place() -> None:
    desk = Desk()
    desk.values |= {("ring/backplane-n0", "ring.closed"): 0.0, ("ring/backplane-n0", "ring.broken_at"): "n0/card6/port0"}
    assert run(desk, "hccl_ring_check")[:2] == (1, "Ring broken at node 6\n")


def test_a_ring_of_which_nothing_is_known_is_not_ok() -> None:
    desk = Desk()
    desk.values["ring/backplane-n0", "ring.closed"] = None
    assert run(desk, "hccl_ring_check")[:2] == (1, "Ring status: UNKNOWN, mode: sar_ring\n")


def test_a_ring_that_fell_back_is_not_ok_though_it_is_closed() -> None:
    desk = Desk()
    desk.values["ring/backplane-n0", "ring.mode"] = "star"
    assert run(desk, "hccl_ring_check").rc == 1


def test_latency_of_each_hop_and_the_worst() -> None:
    result = run(Desk(), "hccl_ring_latency", "--ring-size", "8", "--ring-order", "0,1,2,3,4,5,6,7")
    hops = [(int(one), int(other), float(latency)) for one, other, latency in HOP.findall(result.out)]
    assert [hop[:2] for hop in hops] == [(place, (place + 1) % 8) for place in range(8)]
    assert [hop[2] for hop in hops] == pytest.approx([1.70 + place / 100 for place in range(8)])
    assert (result.rc, WORST.findall(result.out)) == (0, ["1.77"])


def test_an_order_that_is_not_the_cabling_takes_the_long_way() -> None:
    result = run(Desk(), "hccl_ring_latency", "--ring-size", "8", "--ring-order", "0,2,4,6,1,3,5,7")
    assert float(WORST.findall(result.out)[0]) > 3.0


def test_a_star_shows_its_own_latency_and_a_dead_hop_a_timeout() -> None:
    desk = Desk()
    desk.values |= {("ring/backplane-n0", "ring.mode"): "star", ("ring/backplane-n0", "hop.latency"): 18.0}
    assert WORST.findall(run(desk, "hccl_ring_latency").out) == ["18.00"]
    desk.values["ring/backplane-n0", "hop.latency"] = None
    result = run(desk, "hccl_ring_latency")
    assert (result.rc, "Ring latency: timeout" in result.out) == (1, True)


@pytest.mark.parametrize(
    ("tool", "argv", "words"),
    [
        ("hccl_ring_check", ("--ring", "x"), "no ring x"),
        ("hccl_ring_check", ("-h",), "wrong argument: -h"),
        ("hccl_ring_latency", ("--ring-size", "7", "--ring-order", "0,1,2"), "--ring-size 7 with 3 members"),
        ("hccl_ring_latency", ("--ring-order", "0,1,8"), "members are 0 to 7"),
        ("hccl_ring_latency", ("--ring-order", "0,1,1"), "each once"),
        ("hccl_ring_latency", ("--ring-order", "0"), "with 1 members"),
    ],
)
def test_wrong_arguments_end_with_2_and_say_which(tool: str, argv: tuple[str, ...], words: str) -> None:
    result = run(Desk(), tool, *argv)
    assert (result.rc, words in result.err, "usage: " + tool in result.err) == (2, True, True)

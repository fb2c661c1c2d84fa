import math
import re
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.devices.tools import TOOLS, Run, ToolImpairment, ToolState, run_tool
from sim_hardware.devices.tools.hccl_log import write_log
from sim_hardware.plant.cards.orders import FallOff, HangCard, PowerNode
from sim_hardware.plant.words import Happening, Value
from tests.sim.devices.tools.desks import Desk

LINES = (
    "npu-smi info",
    "npu-smi info -m",
    *(f"npu-smi info -t {kind} -i 0" for kind in ("board", "ecc", "health", "power", "temp", "usages")),
    *(f"hccn_tool -i 0 -{kind} -g" for kind in ("link", "link_stat", "stat", "optical", "net_health", "fec", "lldp", "speed", "ip")),
    "hccl_ring_check",
    "hccl_ring_latency",
    "dsmbandwidth -t read",
    "dsm_sync_all",
    "dsm_snapshot --list",
    "dsm_snapshot --name a",
    "msprof --steps=3",
    "nvidia-smi",
    "nvidia-smi -q -x",
    "nvidia-smi -L",
    "nvidia-smi nvlink -s",
    "ethtool -S eth1",
    "ethtool -I --show-fec eth1",
    "ethtool --json -I --show-fec eth1",
    "ethtool -m eth1",
    "mlxlink -d mlx5_1 -c -m",
    "mlxlink -d mlx5_1 -c -m --json",
    "lldpcli -f json show neighbors",
    "switch_cli s1 display congestion",
    "switch_cli s1 display counters",
    "cardctl isolate n0/card0",
    "cardctl test n0/card0",
    "scontrol show node n0 -o",
    "scontrol update NodeName=n0 State=DRAIN Reason=odd",
    "nvidia-smi --query-gpu=power.draw,memory.used,temperature.gpu --format=csv",
)


def run(desk: Desk, line: str, state: ToolState | None = None) -> Run:
    tool, *argv = line.split()
    return run_tool(tool, argv, desk, "n0", state or ToolState())


def test_there_is_a_line_for_every_tool() -> None:
    assert {line.split()[0] for line in LINES} == set(TOOLS)
    assert run(Desk(), "rocm-smi").rc == 127


@pytest.mark.parametrize("line", LINES)
def test_impairments_work_on_every_tool(line: str) -> None:
    desk, state = Desk(), ToolState()
    name = line.split(maxsplit=1)[0]
    well = run(desk, line, state)
    desk = Desk()  # some lines change the plant
    state.impairments[name] = ToolImpairment(slow_s=7.0)
    assert run(desk, line, state) == well._replace(seconds=well.seconds + 7.0)
    state.impairments[name] = ToolImpairment(rc=255)
    assert run(desk, line, state)[:3] == (255, "", "")
    state.impairments[name] = ToolImpairment(hang=True)
    assert run(desk, line, state).seconds == math.inf
    state.impairments[name] = ToolImpairment(garbage=True)
    one, other = run(Desk(), line, state), run(Desk(), line, state)
    assert one.out == other.out != well.out
    assert len(one.out) == len(well.out or "?" * 80)
    state.impair(name).garbage = False
    assert run(Desk(), line, state) == well


def test_on_a_node_that_is_not_on_nothing_ends() -> None:
    desk = Desk()
    desk.order(PowerNode("n0", on=False))
    assert all(run(desk, line).seconds == math.inf for line in LINES)


ODD = st.sampled_from(
    [None, math.nan, math.inf, -math.inf, 1e300, -1.0, 0.0, -5e9, 7.0, "", "N/A", "[[1]]", "[1", "a\nb", frozenset({"x"})]
)
SUBJECTS = ("n0", "n0/card0", "n0/card0/port0", "pool", "pool/n0", "ring/backplane-n0", "job/train", "cable/n0/card0/port0--n0/card1/port1")


class OddDesk(Desk):
    """Some of its sensors show something odd, and go on showing it."""

    def __init__(self, data: st.DataObject) -> None:
        super().__init__()
        self.data = data
        self.seen: set[tuple[str, str]] = set()

    def sense(self, subject: str, quantity: str) -> Value:
        key = (subject, quantity)
        if subject in SUBJECTS and key not in self.seen and quantity not in {"card.hung", "node.power"}:
            self.seen.add(key)
            if self.data.draw(st.booleans(), label=f"{key}"):
                self.values[key] = self.data.draw(ODD)
        return super().sense(subject, quantity)


@given(st.sampled_from(LINES), st.data())
@settings(max_examples=300, deadline=None)
def test_tools_survive_any_value_of_any_sensor(line: str, data: st.DataObject) -> None:
    result = run(OddDesk(data), line)
    assert result.rc >= 0
    assert 0.0 < result.seconds < 1e6
    assert not re.search(r"\b(nan|inf)\b", result.out, re.IGNORECASE)


def test_profile_has_a_line_a_step_about_the_cards_utilisation() -> None:
    desk = Desk()
    desk.play(4.0)
    result = run(desk, "msprof --device=2 --steps=100")
    head, *lines = result.out.splitlines()
    shares = [float(line.split(",")[2]) for line in lines]
    assert (head.split(",")[2], len(shares)) == ("AI Core Utilization(%)", 100)
    assert fmean(shares) == pytest.approx(float(str(desk.sense("n0/card2", "card.utilisation"))), abs=1.0)
    assert max(shares) - min(shares) < 8.0
    assert result.seconds == pytest.approx(201.0)
    desk.order(FallOff("n0/card2", off=True))
    assert run(desk, "msprof --device=2").rc == 1
    desk.order(HangCard("n0/card3", hung=True))
    assert run(desk, "msprof --device=3").seconds == math.inf
    assert run(desk, "msprof --device=9").rc == 2


def test_the_log_has_a_line_for_what_the_library_knows_of() -> None:
    happened = [
        Happening(1.25, "rank.silent", "job/train/rank4", "went silent"),
        Happening(2.0, "ups.on_battery", "ups/A", "no business of the library"),
        Happening(4.000125, "job.hung", "job/train", "job/train hangs in step 2: 1 ranks do not come, 4."),
    ]
    lines = list(write_log(happened))
    assert lines[0] == "[WARNING] HCCL(40000,python3):2026-01-01-00:00:01.250.000 [heartbeat.cc:1][40000] no heartbeat from job/train/rank4"
    assert lines[1].startswith("[ERROR] HCCL(40000,python3):2026-01-01-00:00:04.000.125 [collective.cc:1][40000] wait for remote notify, ")
    assert len(lines) == 2

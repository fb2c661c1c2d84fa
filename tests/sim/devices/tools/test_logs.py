"""Logs of nodes: who is told what, and what is kept."""

from __future__ import annotations

import pytest

from sim_hardware.devices.tools.job_log import write_job_log
from sim_hardware.devices.tools.logs import KEPT, NodeLogs
from sim_hardware.plant.words import Happening
from sim_hardware.rack import generate_rack

SAVED = Happening(61.0625, "checkpoint.committed", "job/train", "job/train saved step 30.", 30.0)
DOWN = Happening(1.5, "link.down", "n1/card3/port0", "It is down.")


def test_a_line_of_the_jobs_program() -> None:
    full = Happening(62.0, "checkpoint.failed", "job/train", "job/train could not save step 31: no space left on its storage.", 31.0)
    assert list(write_job_log([SAVED, DOWN, full])) == [
        "2026-01-01 00:01:01,062 INFO checkpoint.committed: job/train saved step 30",
        "2026-01-01 00:01:02,000 ERROR checkpoint.failed: job/train could not save step 31: no space left on its storage",
    ]


def test_each_log_has_what_its_program_knows_and_each_node_what_concerns_it() -> None:
    logs, told = NodeLogs(generate_rack(2, 8)), list[tuple[str, str, str]]()
    logs.epoch = 1_800_000_000.0
    logs.followers.append(lambda node, name, line: told.append((node, name, line)))
    for happening in (
        DOWN,
        Happening(1.5, "ring.broken", "ring/backplane-n1", "It is broken."),
        SAVED,
        Happening(3.0, "pump.tripped", "cdu/0/pump1", "No business of a program."),
    ):
        logs.note(happening)
    assert logs.read("n0", "hccl.log") == ""
    lines = logs.read("n1", "hccl.log").splitlines()
    assert [line.rpartition("] ")[2] for line in lines] == ["link down on n1/card3/port0", "ring cannot be closed, It is broken"]
    assert "2027-01-15-08:00:01.500" in lines[0]
    assert (
        logs.read("n0", "train.log")
        == logs.read("n1", "train.log")
        == "2027-01-15 08:01:01,062 INFO checkpoint.committed: job/train saved step 30\n"
    )
    assert logs.read("n0", "kernel.log") == ""
    assert logs.read("n1", "kernel.log") == "<6>[    1.500000] mlx5_core 0000:67:00.0 eth7: Link down\n"
    jobs = [("n0", "train.log"), ("n1", "train.log")]
    assert [(node, name) for node, name, _ in told] == [("n1", "hccl.log"), ("n1", "kernel.log"), ("n1", "hccl.log"), *jobs]
    assert "".join(line for node, name, line in told if (node, name) == ("n1", "hccl.log")) == logs.read("n1", "hccl.log")


def test_the_newest_lines_are_kept() -> None:
    logs = NodeLogs(generate_rack(1, 8))
    for number in range(KEPT + 5):
        logs.note(Happening(float(number), "link.down", f"n0/card{number}", ""))
    lines = logs.read("n0", "hccl.log").splitlines()
    assert len(lines) == KEPT
    assert lines[-1].endswith(f"link down on n0/card{KEPT + 4}")


@pytest.mark.parametrize(("node", "name"), [("n9", "hccl.log"), ("n0", "kern.log"), ("n0", "")])
def test_what_is_not_there_is_said(node: str, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such log; there are hccl\.log, train\.log"):
        NodeLogs(generate_rack(1, 8)).read(node, name)

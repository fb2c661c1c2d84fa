"""Numbers of the tool that are none, and lines longer than any."""

from __future__ import annotations

import time

import pytest

from supernoded.plugin import Node, State
from supernoded_nvidia import supernoded_sensors
from supernoded_nvidia.kernel import Driver
from supernoded_nvidia.nvlink import parse_errors, parse_status
from supernoded_nvidia.settings import NvidiaSettings
from supernoded_nvidia.values import add_up


@pytest.mark.parametrize("count", [2**32 - 1, 2**64 - 1])
def test_a_counter_at_its_ceiling_measures_nothing(count: int) -> None:
    total, note = add_up(["3", f"{count}"])
    assert total is None
    assert note.startswith("saturated")
    (reading,) = parse_errors(f"GPU 0: X\n\t Link 0: Replay Errors: {count}\n", lambda number, uuid: "n0/card0", 7.0)
    assert (reading.quantity, reading.state) == ("link.retransmits", State.UNKNOWN)


@pytest.mark.parametrize("speed", ["-1 GB/s", "0 GB/s"])
def test_a_link_without_a_speed_is_not_up(speed: str) -> None:
    state, up = parse_status(f"GPU 0: X\n\t Link 0: {speed}\n", lambda number, uuid: "n0/card0", 7.0)
    assert (state.quantity, state.state, up.value) == ("link.state", State.UNKNOWN, 0.0)
    assert state.note == f"the tool says {speed!r}"


def test_a_kernel_line_without_end_is_cheap() -> None:
    begun = time.process_time()
    assert list(Driver().read(["NVRM: " + "GPU 0000:01:00.0 " * 60_000])) == []
    assert time.process_time() - begun < 2.0


def test_each_sensor_has_the_time_that_its_runs_may_take(supernoded_node: Node) -> None:
    sensors = {sensor.name: sensor for sensor in supernoded_sensors(NvidiaSettings(), supernoded_node)}
    question = 20.0 + 2 * 9.0  # seconds: the wait for the tool; the run for all and those for each, killed and buried
    assert sensors["nvidia.smi"].timeout > 3.0 + question
    assert sensors["nvidia.nvlink"].timeout > 3.0 + 2 * question
    assert sensors["nvidia.kernel"].timeout > 3.0 + 5.0

"""Programs that fail."""

from __future__ import annotations

import pytest

from supernoded.plugin import WireError
from supernoded.testing import Answer, MemoryWires
from supernoded.wire import Pen
from supernoded.wire.command import ToolCommand
from supernoded_ascend.asking import GoneError, ask, ask_card, is_absent


async def test_a_log_that_speaks_of_lost_devices_is_no_lost_device(supernoded_wires: MemoryWires) -> None:
    command = supernoded_wires.command(["tail"])
    command.answer = lambda words: Answer(0, "the device does not exist", "", truncated=False)
    assert await ask(command, "x", within=1.0) == "the device does not exist"
    with pytest.raises(GoneError, match="the driver says 'the device does not exist'"):
        await ask_card(command, "x", within=1.0)


async def test_only_an_absent_program_is_absent(supernoded_wires: MemoryWires) -> None:
    command = supernoded_wires.command(["x"])
    command.answer = lambda words: Answer(127, "", "no such file", truncated=False)
    with pytest.raises(WireError) as caught:
        await ask(command, within=1.0)
    assert not is_absent(caught.value)
    slow = WireError("killed")
    slow.__cause__ = TimeoutError()
    assert not is_absent(slow)
    gone = WireError("cannot be started")
    gone.__cause__ = FileNotFoundError()
    assert is_absent(gone)


async def test_a_real_program_that_is_not_there() -> None:
    with pytest.raises(WireError, match="is /nowhere/hccn_tool installed") as caught:
        await ask(ToolCommand(["/nowhere/hccn_tool", "-i", "0"], Pen(lambda scope: None)), "-link", "-g", within=5.0)
    assert is_absent(caught.value)

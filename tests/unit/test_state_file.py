"""What a plugin must know again after a restart: written whole, and read back whatever is in the file."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import NotHeldError, WireError
from supernoded.state_file import StateFile
from supernoded.testing import MemoryWires


class Taken(msgspec.Struct, frozen=True):
    number: int = 0
    before: float | None = None


def make(wires: MemoryWires) -> StateFile[Taken]:
    return StateFile(wires.tree("/state"), "taken/0.json", Taken, "a thing", "look at it and remove it")


@given(
    record=st.builds(Taken, number=st.integers(-(2**63), 2**63 - 1), before=st.none() | st.floats(allow_nan=False, allow_infinity=False))
)
async def test_what_is_written_is_read_back(record: Taken) -> None:
    wires = MemoryWires()
    await make(wires).write("node", record)
    assert await make(wires).read() == record


async def test_none_is_an_empty_one(supernoded_wires: MemoryWires) -> None:
    assert await make(supernoded_wires).read() == Taken()


@given(text=st.text() | st.sampled_from(['{"number": "x"}', '{"number": 1', "null", "[]", '{"before": NaN}', "\ud800", "{" * 9999]))
async def test_any_text_is_a_record_or_says_what_to_do(text: str) -> None:
    wires = MemoryWires()
    wires.tree("/state").files["taken/0.json"] = text
    try:
        assert isinstance(await make(wires).read(), Taken)
    except WireError as error:
        assert str(error).startswith("taken/0.json in the state folder is no record of a thing (")
        assert str(error).endswith("); look at it and remove it")


async def test_one_that_cannot_be_read_and_a_pen_that_is_not_held(supernoded_wires: MemoryWires) -> None:
    supernoded_wires.tree("/state").files["taken/0.json"] = WireError("input/output error")
    with pytest.raises(WireError, match="input/output error"):
        await make(supernoded_wires).read()
    supernoded_wires.refusals["node"] = "not ours"
    with pytest.raises(NotHeldError):
        await make(supernoded_wires).write("node", Taken(1))

"""What a daemon remembers of a CDU: whatever is in its file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import NotHeldError, WireError
from supernoded.testing import MemoryWires
from supernoded_modbus.coolant.record import CoolantRecord, Kept, read_kept

NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
KEPT = st.builds(
    Kept,
    token=st.integers(0, 254),
    control=st.sampled_from(["", "auto", "setpoint", "direct"]),
    fallback=NUMBERS,
    yielded=st.text(max_size=40),
    pressure_before=NUMBERS,
    pressure_ours=NUMBERS,
)


@pytest.fixture
def record(supernoded_wires: MemoryWires) -> CoolantRecord:
    return CoolantRecord("cdu/west", supernoded_wires.tree("/state"))


@given(st.text() | st.sampled_from(["{}", "[]", "null", '{"token": "x"}', '{"token": 1e400}', '{"fallback": NaN}', "\x00", "{" * 9999]))
def test_any_file_is_a_record_or_says_what_is_wrong(text: str) -> None:
    kept = read_kept(text, "cdu/0.json")
    if kept.damaged:
        assert kept == Kept(damaged=kept.damaged)
        assert "cdu/0.json" in kept.damaged


@given(kept=KEPT)
async def test_what_is_written_is_read_back(kept: Kept) -> None:
    wires = MemoryWires()
    record = CoolantRecord("cdu/0", wires.tree("/state"))
    await record.write("cdu/0", kept)
    assert await record.read() == kept


@given(kept=KEPT, share=st.floats(0.0, 0.999))
def test_half_a_file_is_never_another_record(kept: Kept, share: float) -> None:
    wires = MemoryWires()
    record = CoolantRecord("cdu/0", wires.tree("/state"))
    with pytest.raises(StopIteration):
        record.write("cdu/0", kept).send(None)
    text = wires.tree("/state").files[record.file]
    assert isinstance(text, str)
    read = read_kept(text[: math.floor(len(text) * share)], record.file)
    assert read.damaged
    assert read.token == 0


async def test_none_is_a_record_of_nothing(record: CoolantRecord) -> None:
    assert await record.read() == Kept()


async def test_the_pen_is_asked(record: CoolantRecord, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.refusals["cdu/west"] = "not ours"
    with pytest.raises(NotHeldError):
        await record.write("cdu/west", Kept(token=1))
    assert supernoded_wires.tree("/state").files == {}


async def test_a_file_that_cannot_be_read_is_told(record: CoolantRecord, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.tree("/state").files["cdu/west.json"] = WireError("cdu/west.json: input/output error")
    with pytest.raises(WireError, match="input/output error"):
        await record.read()


def test_it_never_leads_out_of_the_folder(tmp_path: Path, supernoded_wires: MemoryWires) -> None:
    for subject in ("cdu/0", "cdu/a/b", "cdu/west"):
        file = CoolantRecord(subject, supernoded_wires.tree(str(tmp_path))).file
        assert file.startswith("cdu/")
        assert file.count("/") == 1

"""The daemon's end of a line that is lent, and its sensor, over a real unix socket to whatever answers there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.model import Reading
from supernoded.quantities import find_fault
from supernoded.reflex.looking import list_parts
from supernoded.reflex.record import Firing, append_firing
from supernoded.settings import default_settings
from supernoded.settings.reflex import Contact, Reflex, ReflexLine, ShedFrame, Trigger
from supernoded.testing.clock import ManualClock
from supernoded.wire.line_address import parse_line
from supernoded.wire.pen import Pen
from supernoded.wire.reflex import Loan, Returned, Standing, Told, lend_from

Script = Callable[[bytes], bytes]


@asynccontextmanager
async def served(place: Path, script: Script) -> AsyncIterator[None]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while said := await reader.readline():
            writer.write(script(said))
        writer.close()
        await writer.wait_closed()
        left.set()

    left = asyncio.Event()
    server = await asyncio.start_unix_server(answer, place)
    async with server:
        yield
        await left.wait()


def returned(came: Returned) -> Script:
    return lambda _: msgspec.json.encode(came) + b"\n"


async def test_a_request_goes_as_it_is_and_the_answer_is_cut(tmp_path: Path) -> None:
    heard: list[bytes] = []

    def script(said: bytes) -> bytes:
        heard.append(said)
        return msgspec.json.encode(Returned(came="answer", answer=b"xxANSWER")) + b"\n"

    async with served(tmp_path / "s", script):
        line = lend_from(tmp_path / "s")(parse_line("reflex://pduA?unit=1"), Pen(lambda _: None))
        assert line.name == "reflex://pduA"
        assert await line.exchange(b"\x01\x03", lambda came: slice(2, len(came)), 0.25, 1.5) == b"ANSWER"
        await line.close()
    assert msgspec.json.decode(heard[0], type=Loan) == Loan(line="pduA", request=b"\x01\x03", within_s=0.25, latest_s=1.5)
    assert dict(line.counts) == {"timeouts": 0, "strays": 0, "echo_errors": 0, "losses": 0, "refusals": 0}


@pytest.mark.parametrize(
    ("came", "kind"), [("silence", "timeouts"), ("corrupt", "strays"), ("echo", "echo_errors"), ("lost", "losses"), ("refused", "refusals")]
)
async def test_what_does_not_come_is_an_error_in_the_process_words_and_is_counted(tmp_path: Path, came: str, kind: str) -> None:
    reply = msgspec.convert({"type": "returned", "came": came, "text": "it may take 8 ms, this one takes 12 ms"}, Returned)
    async with served(tmp_path / "s", returned(reply)):
        line = lend_from(tmp_path / "s")(parse_line("reflex://pduA"), Pen(lambda _: None))
        with pytest.raises(WireError, match="reflex://pduA: it may take 8 ms, this one takes 12 ms"):
            await line.exchange(b"\x01", lambda _: slice(0, 1))
        await line.close()
    assert line.counts[kind] == 1


async def test_an_order_asks_the_pen_and_sends_nothing_without_it(tmp_path: Path) -> None:
    heard: list[bytes] = []

    def script(said: bytes) -> bytes:
        heard.append(said)
        return msgspec.json.encode(Returned(came="sent")) + b"\n"

    async with served(tmp_path / "s", script):
        line = lend_from(tmp_path / "s")(parse_line("reflex://pduA"), Pen(lambda scope: f"{scope} is another's"))
        for order in (line.order("feed/A", b"\x01", lambda _: None), line.broadcast("feed/A", b"\x00")):
            with pytest.raises(NotHeldError, match="feed/A is another's"):
                await order
        await line.close()
    assert heard == []


async def test_a_half_answer_and_a_stranger_are_errors(tmp_path: Path) -> None:
    async with served(tmp_path / "s", returned(Returned(came="answer", answer=b"\x01\x03"))):
        line = lend_from(tmp_path / "s")(parse_line("reflex://pduA"), Pen(lambda _: None))
        with pytest.raises(WireError, match="2 bytes came, which are no whole answer: 01 03"):
            await line.exchange(b"\x01", lambda _: None)
        await line.close()
    async with served(tmp_path / "t", lambda _: b"HTTP/1.1 400\n"):
        line = lend_from(tmp_path / "t")(parse_line("reflex://pduA"), Pen(lambda _: None))
        with pytest.raises(WireError, match="is not the reflex process"):
            await line.exchange(b"\x01", lambda _: None)
        await line.close()


async def test_nobody_there(tmp_path: Path) -> None:
    line = lend_from(tmp_path / "s")(parse_line("reflex://pduA"), Pen(lambda _: None))
    with pytest.raises(WireError, match="is the device there and listening"):
        await line.exchange(b"\x01", lambda _: None)
    assert line.counts["losses"] == 1


def make_settings(folder: Path) -> Reflex:
    lines = tuple(ReflexLine(name=name, device=Path(f"/dev/{name}")) for name in ("pduA", "pduB", "upsA"))
    triggers = tuple(Trigger(feed=feed, line=f"pdu{feed}", contact=Contact.CTS) for feed in "AB")
    frames = tuple(ShedFrame(line=f"pdu{feed}", coil=1000) for feed in "AB")
    return Reflex(socket=folder / "s", record=folder / "record", lines=lines, triggers=triggers, frames=frames)


async def read(folder: Path) -> dict[tuple[str, str], Reading]:
    settings = msgspec.structs.replace(default_settings({}, "n0"), reflex=make_settings(folder))
    [sensor] = list_parts(settings, ManualClock())
    readings = await sensor.read()
    assert [find_fault(reading) for reading in readings if reading.value is not None] == [None for one in readings if one.value is not None]
    return {(reading.subject, reading.quantity): reading for reading in readings}


def test_without_lines_there_is_no_sensor() -> None:
    assert list_parts(default_settings({}, "n0"), ManualClock()) == []


async def test_a_process_that_is_gone_is_absent_and_its_record_is_read(tmp_path: Path) -> None:
    found = await read(tmp_path)
    assert found["reflex/pduA", "reflex.state"].value == "absent"
    assert found["reflex/pduA", "reflex.firings"].value == 0
    assert found["reflex/pduA", "reflex.delay"].value is None
    assert ("reflex/upsA", "reflex.firings") not in found
    for number in (1, 2):
        firing = Firing(number=number, at=1e9, feeds=("A", "B"), lines=("pduA",), delay_ms=0.25, age_ms=3.0)
        append_firing(tmp_path / "record", firing, 10_000)
    found = await read(tmp_path)
    assert found["reflex/pduA", "reflex.firings"].value == 2
    assert found["reflex/pduA", "reflex.delay"].value == 0.25
    assert found["reflex/pduB", "reflex.firings"].value == 0


async def test_what_the_process_says(tmp_path: Path) -> None:
    told = Told(
        lines=(
            Standing(line="pduA", state="ok", text="ready", firings=1, delay_ms=0.125),
            Standing(line="upsA", state="blind", text="feed A has not been seen for 3.0 s"),
        )
    )
    async with served(tmp_path / "s", lambda _: msgspec.json.encode(told) + b"\n"):
        found = await read(tmp_path)
    assert {subject: reading.value for (subject, quantity), reading in found.items() if quantity == "reflex.state"} == {
        "reflex/pduA": "ok",
        "reflex/pduB": "absent",
        "reflex/upsA": "blind",
    }
    assert found["reflex/upsA", "reflex.state"].note == "feed A has not been seen for 3.0 s"
    assert "restart it" in found["reflex/pduB", "reflex.state"].note
    assert found["reflex/pduA", "reflex.delay"].value == 0.125

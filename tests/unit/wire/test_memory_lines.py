"""Lines and datagrams in memory, as a plugin's tests use them."""

from __future__ import annotations

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.testing import MemoryWires
from tests.unit.wire.units import find, frame


async def test_a_line_is_played_by_the_test(supernoded_wires: MemoryWires) -> None:
    line = supernoded_wires.line("serial:///dev/ttyUSB0?baud=9600&unit=1")
    assert supernoded_wires.line("serial:///dev/ttyUSB0?baud=9600&unit=2") is line
    assert line.name == "serial:///dev/ttyUSB0"
    with pytest.raises(WireError, match="nobody is on the line"):
        await line.exchange(b"\x01", find)
    line.answer = lambda request: frame(request[0]) if request != b"\x07" else b""
    assert await line.exchange(b"\x01", find) == frame(1)
    with pytest.raises(WireError, match=r"no whole answer to 07 within 0\.5 s, only silence"):
        await line.exchange(b"\x07", find)
    assert line.counts == {"timeouts": 1}
    supernoded_wires.refusals["feed/A"] = "n2 holds it"
    for order in (line.order("feed/A", b"\x02", find), line.broadcast("feed/A", b"\x02")):
        with pytest.raises(NotHeldError):
            await order
    supernoded_wires.refusals.clear()
    assert await line.order("feed/A", b"\x03", find) == frame(3)
    await line.broadcast("feed/A", b"\x04")
    assert line.sent == [b"\x01", b"\x07", b"\x03", b"\x04"]
    line.answer = lambda _: WireError("the adapter is gone")
    with pytest.raises(WireError, match="the adapter is gone"):
        await line.exchange(b"\x05", find)
    await line.close()
    assert line.closed
    with pytest.raises(WireError, match="a line is serial"):
        supernoded_wires.line("udp://h:1")


async def test_datagrams_are_played_by_the_test(supernoded_wires: MemoryWires) -> None:
    datagrams = supernoded_wires.datagrams("udp://pdu:161")
    with pytest.raises(WireError, match="nobody listens"):
        await datagrams.exchange(b"one", bool)
    datagrams.answer = lambda request: b"to " + request
    assert await datagrams.exchange(b"one", bool) == b"to one"
    with pytest.raises(WireError, match="no answer that fits to 3 bytes, sent 2 times"):
        await datagrams.exchange(b"two", lambda _: False, tries=2)
    supernoded_wires.refusals["feed/A"] = "n2 holds it"
    with pytest.raises(NotHeldError):
        await datagrams.order("feed/A", b"off", bool)
    supernoded_wires.refusals.clear()
    with pytest.raises(WireError, match="sent 1 times"):
        await datagrams.order("feed/A", b"off", lambda _: False)
    assert datagrams.sent == [b"one", b"two", b"two", b"off"]
    datagrams.answer = lambda _: WireError("refused")
    with pytest.raises(WireError, match="refused"):
        await datagrams.exchange(b"three", bool)
    await datagrams.close()
    assert datagrams.closed
    with pytest.raises(WireError, match="datagrams go to udp"):
        supernoded_wires.datagrams("tcp://h:1")

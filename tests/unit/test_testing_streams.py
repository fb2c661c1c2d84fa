"""The stream in memory: a greeting, TLS and several ends, as on a real one."""

from __future__ import annotations

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.plugin import Node, Opening
from supernoded.testing import MemoryWires

URL = "tcp://u:1"


async def greet(opening: Opening) -> None:
    await opening.ask(b"hello\n")
    await opening.secure("/ca.pem")


async def test_a_greeting_is_said_once_on_every_connection(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    line, device = supernoded_node.wires.stream(URL), supernoded_wires.stream(URL)
    line.greet_with(greet)
    device.answer = bytes.upper
    await line.exchange(b"a\n")
    await line.exchange(b"b\n")
    assert (device.sent, device.secured) == ([b"hello\n", b"a\n", b"b\n"], "/ca.pem")
    await line.close()
    await line.exchange(b"c\n")
    device.answer = None
    with pytest.raises(WireError, match="nobody listens"):
        await line.exchange(b"d\n")
    device.answer = bytes.upper
    await line.exchange(b"e\n")
    assert device.sent[3:] == [b"hello\n", b"c\n", b"hello\n", b"e\n"]


async def test_an_order_that_may_not_be_written_keeps_the_connection(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    line, device = supernoded_node.wires.stream(URL), supernoded_wires.stream(URL)
    line.greet_with(greet)
    device.answer = bytes.upper
    supernoded_wires.refusals["feed/A"] = "not ours"
    with pytest.raises(NotHeldError):
        await line.order("feed/A", b"off\n")
    await line.exchange(b"a\n")
    assert device.sent == [b"hello\n", b"a\n"]


async def test_the_end_may_be_found_by_a_function(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    line, device = supernoded_node.wires.stream(URL), supernoded_wires.stream(URL)
    device.answer = lambda _: b"abc"
    assert await line.exchange(b"x\n", lambda came: slice(len(came))) == b"abc"
    with pytest.raises(WireError, match=r"no whole answer to b'x.n', only b'abc'"):
        await line.exchange(b"x\n", lambda _: None)

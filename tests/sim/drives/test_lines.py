"""The daemon's own lines and datagrams in virtual time: over the rig's paced lines, and over the simulated network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from sim_hardware.bus import Line as Bus
from sim_hardware.bus import LineFaults, Pace, Reply, serve_gateway
from sim_hardware.bus.rtu import decode_frame, encode_frame
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import RigWires
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.errors import WireError
from supernoded.wire import Line, Pen
from supernoded.wire.system import SystemWires

READ = b"\x03\x00\x00\x00\x01"
RPU, FLOW = 12, b"\x03\x90\x00\x00\x01"  # the CDU's unit, and its first register
Story = Callable[[Rig, RigWires], Coroutine[Any, Any, None]]


def tell(story: Story) -> SimLoop:
    """Play it with a served rack and the wires of its first node."""
    loop = SimLoop(1)
    net = Net(loop)

    async def scene() -> None:
        rig = Rig(World(generate_rack(1, 8), 1, loop.time), Path("/lines"))
        async with rig.serve(SimNetwork(net)):
            pen = Pen(lambda _: None)
            wires = RigWires(rig, "n0", pen, SystemWires(pen))
            await story(rig, wires)
            await wires.close()

    play(loop, scene())
    assert loop.failures == []
    return loop


def find(came: bytes) -> slice | None:
    """One register of whoever answers."""
    if len(came) < 7:
        return None
    adu = decode_frame(came[:7])
    if adu is None or adu.unit not in (5, RPU) or adu.pdu[:2] != b"\x03\x02":
        raise WireError(f"no answer: {came.hex(' ')}")
    return slice(0, 7)


def test_a_register_is_read_over_the_line_of_the_rig() -> None:
    async def story(rig: Rig, wires: RigWires) -> None:
        line = wires.owned_by("modbus").line("serial:///lines/cdu0?baud=19200&unit=12&map=rpu")
        before = asyncio.get_running_loop().time()
        assert (await line.exchange(encode_frame(RPU, FLOW), find))[:3] == b"\x0c\x03\x02"
        pace = rig.lines["/lines/cdu0"].pace
        assert asyncio.get_running_loop().time() - before >= pace.time_of(8 + 7) + pace.t35
        with pytest.raises(WireError, match="belongs to modbus"):
            wires.owned_by("other").line("serial:///lines/cdu0")

    tell(story)


def test_a_late_answer_on_the_line_of_the_rig_is_dropped() -> None:
    async def story(rig: Rig, wires: RigWires) -> None:
        line = wires.line("serial:///lines/cdu0?baud=19200")
        rig.lines["/lines/cdu0"].faults = LineFaults(late_s=1.0)
        with pytest.raises(WireError, match="only silence"):
            await line.exchange(encode_frame(RPU, FLOW), find, within=0.5, latest=2.0)
        rig.lines["/lines/cdu0"].faults = LineFaults()
        assert (await line.exchange(encode_frame(RPU, FLOW), find))[:3] == b"\x0c\x03\x02"
        assert line.counts["late"] == 7

    tell(story)


def test_a_path_without_a_line_is_a_device_that_is_not_there() -> None:
    async def story(_: Rig, wires: RigWires) -> None:
        with pytest.raises(WireError, match=r"serial:///lines/none: No such file or directory"):
            await wires.line("serial:///lines/none").exchange(encode_frame(RPU, FLOW), find)

    tell(story)


def test_a_gateway_and_datagrams_go_over_the_simulated_network() -> None:
    class Echo(asyncio.DatagramProtocol):
        transport: asyncio.DatagramTransport

        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            self.transport.sendto(b"to " + data, addr)

    async def story(rig: Rig, wires: RigWires) -> None:
        loop = asyncio.get_running_loop()
        async with serve_gateway(rig.lines["/lines/cdu0"], "127.0.0.1", 4001):
            line = wires.line("tcp://127.0.0.1:4001?baud=19200")
            assert (await line.exchange(encode_frame(RPU, FLOW), find))[:3] == b"\x0c\x03\x02"
        transport, device = await loop.create_datagram_endpoint(Echo, ("127.0.0.1", 9161))
        device.transport = transport
        datagrams = wires.datagrams("udp://127.0.0.1:9161")
        assert await datagrams.exchange(b"one", lambda answer: answer == b"to one") == b"to one"
        transport.close()
        with pytest.raises(WireError, match=r"udp://127\.0\.0\.1:9161: no answer to 3 bytes sent 3 times, 1 s each: Connection refused"):
            await datagrams.exchange(b"two", bool)

    tell(story)


# every fault of a line: the unit answers with how many requests it has heard, so a wrong answer shows

FAULTS = {
    "none": (LineFaults(), ""),
    "late": (LineFaults(late_s=0.3, late_share=0.4), ""),
    "later than a time-out": (LineFaults(late_s=0.9, late_share=0.4), ""),
    "twice": (LineFaults(duplicate=0.5), ""),
    "twice behind a slow adapter": (LineFaults(duplicate=0.5, usb_ms=16.0), "&adapter_ms=16"),
    "lost": (LineFaults(drop_frames=0.3), ""),
    "bytes lost": (LineFaults(drop_bytes=0.02), ""),
    "bits flipped": (LineFaults(flip=0.02), ""),
    "split": (LineFaults(split_s=0.05), ""),
    "split and late": (LineFaults(split_s=0.05, late_s=0.3, late_share=0.5), ""),
    "wrong unit": (LineFaults(wrong_unit=frozenset({5})), ""),
    "two of one id": (LineFaults(twins=frozenset({5})), ""),
    "echo": (LineFaults(echo=True), "&echo=yes"),
    "echo and twice": (LineFaults(echo=True, duplicate=0.5), "&echo=yes"),
    "held": (LineFaults(stuck="held"), ""),
    "babbling": (LineFaults(stuck="babble"), ""),
}
DEAD = {"wrong unit", "held", "babbling"}  # nothing can be had; of two with one id only what they happen to say in step
ROUNDS = 60


class Counting:
    """Answers a read with how many it has heard."""

    def __init__(self) -> None:
        self.heard = 0

    def answer(self, unit: int, pdu: bytes) -> Reply | None:
        del unit, pdu
        self.heard += 1
        return Reply(b"\x03\x02" + self.heard.to_bytes(2, "big"))


async def ask_often(line: Line, unit: Counting, rounds: int) -> int:
    """Ask again and again; gives how often the answer was right, and is never wrong."""
    right = 0
    for _ in range(rounds):
        try:
            answer = await line.exchange(encode_frame(5, READ), find, within=0.4, latest=1.5)
        except WireError:
            continue
        assert int.from_bytes(answer[3:5], "big") == unit.heard
        right += 1
    return right


@pytest.mark.parametrize("baud", [9600, 115200])
@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_of_a_line_gives_the_answer_of_another_request(name: str, baud: int) -> None:
    faults, query = FAULTS[name]

    async def story(rig: Rig, wires: RigWires) -> None:
        bus, unit = Bus("extra", Pace(baud), seed=7), Counting()
        bus.attach(5, unit.answer)
        rig.lines["/lines/extra"] = bus
        bus.faults = faults
        rounds = 5 if name == "babbling" else ROUNDS
        right = await ask_often(wires.line(f"serial:///lines/extra?baud={baud}{query}"), unit, rounds)
        bus.faults = LineFaults()  # else a driver babbles on for ever
        least = 0 if name in {*DEAD, "two of one id"} else rounds // 5
        assert least <= right <= (0 if name in DEAD else rounds)

    tell(story)

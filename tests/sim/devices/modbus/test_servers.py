"""Units over TCP and on lines, in virtual time, with their impairments."""

import asyncio
import struct
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sim_hardware.bus import Line, LineFaults, Pace
from sim_hardware.bus.rtu import decode_frame, encode_frame
from sim_hardware.devices.modbus import SerialDevice, TcpDevice, build_site
from sim_hardware.devices.modbus.mbap import TcpAdu, encode_tcp
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.power.orders import FireShed
from sim_hardware.rack import generate_rack
from tests.sim.bus.masters import Master
from tests.sim.devices.modbus.samples import make_unit
from tests.sim.devices.panels import FakePanel

READ = b"\x04\x00\x82\x00\x02"
SUPPLY = b"\x04\x04" + struct.pack(">HH", 0x0000, 0x41B0)  # 22.0, swapped


def run(work: Coroutine[None, None, None]) -> None:
    loop = SimLoop(1)
    Net(loop)
    play(loop, work)
    assert loop.failures == []


def make_cdu() -> TcpDevice:
    unit, _ = make_unit("dcd", values={("cdu/0", "coolant.supply_temperature"): 22.0})
    return TcpDevice("cdu/0", "dcd", unit)


def over_tcp(scenario: Callable[[TcpDevice, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]) -> None:
    async def work() -> None:
        device = make_cdu()
        async with device.serve("127.0.0.1", 502) as url:
            assert url == "modbus://127.0.0.1:502?map=dcd"
            reader, writer = await asyncio.open_connection("127.0.0.1", 502)
            await scenario(device, reader, writer)
            writer.close()

    run(work())


def frame(transaction: int, pdu: bytes = READ, unit: int = 1) -> bytes:
    return encode_tcp(TcpAdu(transaction, unit, pdu))


def test_the_transaction_id_comes_back() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frame(7) + frame(65535) + frame(8)[:5])
        assert await reader.readexactly(26) == frame(7, SUPPLY) + frame(65535, SUPPLY)
        writer.write(frame(8)[5:])
        assert await reader.readexactly(13) == frame(8, SUPPLY)

    over_tcp(scenario)


def test_the_unit_may_be_0_1_or_255() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for unit in (0, 1, 255):
            writer.write(frame(1, READ, unit))
            assert await reader.readexactly(13) == frame(1, SUPPLY, unit)
        writer.write(frame(1, READ, 9))
        assert await reader.readexactly(9) == frame(1, b"\x84\x0b", 9)

    over_tcp(scenario)


def test_several_clients() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other, to_other = await asyncio.open_connection("127.0.0.1", 502)
        writer.write(frame(1))
        to_other.write(frame(2))
        assert await other.readexactly(13) == frame(2, SUPPLY)
        assert await reader.readexactly(13) == frame(1, SUPPLY)
        assert len(device.clients) == 2
        to_other.close()
        await asyncio.sleep(0.1)
        assert len(device.clients) == 1

    over_tcp(scenario)


def test_what_is_no_modbus_ends_the_connection() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await reader.read() == b""

    over_tcp(scenario)


@given(st.binary(min_size=1, max_size=300))
@settings(max_examples=40, deadline=None)
def test_any_bytes_leave_the_device_well(data: bytes) -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        other, to_other = await asyncio.open_connection("127.0.0.1", 502)
        to_other.write(frame(2))
        assert await other.readexactly(13) == frame(2, SUPPLY)
        to_other.close()

    over_tcp(scenario)


def test_a_silent_device_keeps_its_connections() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        device.impairment.silent = True
        writer.write(frame(1))
        await asyncio.sleep(10.0)
        device.impairment.silent = False
        writer.write(frame(2))
        assert await reader.readexactly(13) == frame(2, SUPPLY)

    over_tcp(scenario)


def test_a_refusing_device_ends_a_new_connection() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        device.impairment.refusing = True
        other, to_other = await asyncio.open_connection("127.0.0.1", 502)
        with pytest.raises(ConnectionResetError):
            await other.read()
        to_other.close()

    over_tcp(scenario)


def test_a_slow_device_answers_late_and_in_order() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        device.impairment.delay_s = 2.0
        begun = loop.time()
        writer.write(frame(1))
        await asyncio.sleep(0.5)
        device.impairment.delay_s = 0.0
        writer.write(frame(2))
        assert await reader.readexactly(26) == frame(1, SUPPLY) + frame(2, SUPPLY)
        assert loop.time() - begun == pytest.approx(2.0, abs=0.01)

    over_tcp(scenario)


def test_a_garbled_answer_keeps_its_head() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        device.impairment.garbled = 1.0
        writer.write(frame(3))
        answer = await reader.readexactly(13)
        assert answer[:7] == frame(3, SUPPLY)[:7]
        assert sum(one != other for one, other in zip(answer, frame(3, SUPPLY), strict=True)) == 1

    over_tcp(scenario)


def test_a_line_of_a_feed() -> None:
    """Two PDUs and a UPS on it: each answers for itself, and one broadcast fires both PDUs."""

    async def work() -> None:
        panel = FakePanel(rack=generate_rack(9, 8), values={("pdu/A1", "pdu.voltage"): 230.0, ("pdu/A2", "pdu.voltage"): 231.0})
        site = build_site(panel, "/dev/sim", 1)
        line = site.lines["/dev/sim/feed-A"]
        there = [device for device in site.devices if isinstance(device, SerialDevice) and device.line is line]
        async with AsyncExitStack() as stack:
            assert [await stack.enter_async_context(device.serve()) for device in there] == [
                "serial:///dev/sim/feed-A?baud=115200&unit=1&map=pdu",
                "serial:///dev/sim/feed-A?baud=115200&unit=2&map=pdu",
                "serial:///dev/sim/feed-A?baud=115200&unit=247&map=ups",
            ]
            master = Master(line)
            for unit, volts in ((1, 2300), (2, 2310)):
                assert decode_frame(await master.ask(unit, b"\x03\x00\x16\x00\x01")) == (unit, b"\x03\x02" + struct.pack(">H", volts))
            assert await master.ask(0, b"\x05\x03\xe8\xff\x00") == b""
            assert panel.orders == [FireShed(pdu="pdu/A1"), FireShed(pdu="pdu/A2")]
        assert await master.ask(1, b"\x03\x00\x16\x00\x01") == b""  # off the line again

    run(work())


def test_the_devices_of_a_rack() -> None:
    site = build_site(FakePanel(), "/dev/sim", 1)
    assert [device.name for device in site.devices] == ["cdu/0", "cdu/0/rtu", "pdu/A1", "ups/A/modbus", "pdu/B1", "ups/B/modbus"]
    assert list(site.lines) == ["/dev/sim/cdu0", "/dev/sim/feed-A", "/dev/sim/feed-B"]
    rtu = site.devices[1]
    assert isinstance(rtu, SerialDevice)
    assert rtu.url == "serial:///dev/sim/cdu0?baud=19200&unit=12&map=rpu"


def test_a_big_site_fits_its_lines() -> None:
    site = build_site(FakePanel(rack=generate_rack(1024, 8)), "/dev/sim", 1)
    numbers = [device.number for device in site.devices if isinstance(device, SerialDevice) and device.line.name == "feed-A"]
    assert numbers == [*range(1, 129), 247]


def on_line(prepare: Callable[[SerialDevice], None]) -> tuple[bytes, float]:
    """The answer to a read of the flow, and when it came."""
    got: list[tuple[bytes, float]] = []

    async def work() -> None:
        line = Line("cdu0", Pace(19200, "E"))
        unit, _ = make_unit("rpu", values={("cdu/0", "coolant.flow"): 100.0})
        device = SerialDevice("cdu/0/rtu", "rpu", unit, line, 12, "/dev/sim/cdu0")
        async with device.serve() as url:
            assert url.endswith("?baud=19200&unit=12&map=rpu&parity=E&stop=1")
            prepare(device)
            master = Master(line)
            answer = await master.ask(12, b"\x03\x90\x00\x00\x01", 10.0)
            got.append((answer, master.chunks[0][0] if master.chunks else 0.0))

    run(work())
    return got[0]


FLOW = encode_frame(12, b"\x03\x02\x03\xe8")


def test_a_unit_on_a_line_answers() -> None:
    answer, at = on_line(lambda device: None)
    assert answer == FLOW
    assert at < 0.020


@pytest.mark.parametrize("name", ["silent", "refusing"])
def test_a_silent_unit_on_a_line(name: str) -> None:
    assert on_line(lambda device: setattr(device.impairment, name, True))[0] == b""


def test_a_slow_unit_on_a_line() -> None:
    answer, at = on_line(lambda device: setattr(device.impairment, "delay_s", 3.0))
    assert answer == FLOW
    assert at == pytest.approx(3.0, abs=0.05)


def test_a_garbled_unit_on_a_line() -> None:
    answer, _ = on_line(lambda device: setattr(device.impairment, "garbled", 1.0))
    assert len(answer) == len(FLOW)
    assert decode_frame(answer) is None


def test_faults_of_the_line_and_of_the_unit_are_two_things() -> None:
    answer, _ = on_line(lambda device: setattr(device.line, "faults", LineFaults(echo=True)))
    assert answer == encode_frame(12, b"\x03\x90\x00\x00\x01") + FLOW


def test_a_client_that_asks_without_end_waits_once_so_many_answers_do() -> None:
    async def scenario(device: TcpDevice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        device.impairment.delay_s = 5.0
        for transaction in range(1000):
            writer.write(frame(transaction))
            await asyncio.sleep(0.001)
        device.impairment.silent = True  # takes what comes now, and answers none of it
        got = await reader.readexactly(64 * 13)
        assert got[-13:] == frame(63, SUPPLY)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readexactly(1), 60.0)

    over_tcp(scenario)


def test_the_lines_of_the_feeds_have_the_speed_of_the_rack() -> None:
    rack = generate_rack(1, 8)
    slow = replace(rack, sim=replace(rack.sim, power=replace(rack.sim.power, feed_baud=9600)))
    site = build_site(FakePanel(rack=slow), "/dev/sim", 1)
    assert {path: line.pace.baud for path, line in site.lines.items()} == {
        "/dev/sim/cdu0": 19_200,
        "/dev/sim/feed-A": 9600,
        "/dev/sim/feed-B": 9600,
    }

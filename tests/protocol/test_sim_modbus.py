"""Real peers work the simulated CDU and PDU: pymodbus, pyserial and mbpoll (libmodbus), over TCP and over the device path of a line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import serial
from pymodbus import FramerType
from pymodbus.client import AsyncModbusSerialClient, AsyncModbusTcpClient, ModbusBaseClient
from pymodbus.exceptions import ModbusIOException
from pymodbus.pdu.mei_message import ReadDeviceInformationResponse

from sim_hardware.bus import Line, LineFaults, Pace, serve_gateway, serve_pty
from sim_hardware.bus.rtu import encode_frame
from sim_hardware.devices.modbus import SerialDevice, TcpDevice, Unit, build_site, load_map
from sim_hardware.plant.cooling.orders import SetTemperature
from sim_hardware.plant.power.orders import SwitchOutlet
from sim_hardware.plant.words import Order, Value
from tests.sim.devices.panels import FakePanel

PATIENCE = 10.0  # s for what does come; a loaded machine is slow

pytestmark = pytest.mark.usefixtures("quiet")

VALUES: dict[tuple[str, str], Value] = {
    ("cdu/0", "coolant.flow"): 812.3,
    ("cdu/0", "coolant.supply_temperature"): 22.1,
    ("cdu/0", "coolant.return_temperature"): 31.9,
    ("cdu/0", "coolant.pressure_difference"): 150.0,
    ("cdu/0", "coolant.serial"): "C-0007",
    ("ups/A", "ups.input_voltage"): 229.9,
    ("pdu/A1", "pdu.voltage"): 230.4,
    ("pdu/A1", "pdu.serial"): "P-0001",
    ("pdu/A1/outlet1", "outlet.state"): "on",
    ("pdu/A1/outlet4", "outlet.state"): "on",
}


class Switching(FakePanel):
    """Outlets do what they are told to."""

    def order(self, order: Order) -> None:
        super().order(order)
        if isinstance(order, SwitchOutlet):
            self.values[f"pdu/A1/outlet{order.outlet}", "outlet.state"] = "on" if order.on else "off"


@dataclass
class Bench:
    """The devices of a rack at their wires."""

    panel: Switching
    lines: dict[str, Line]
    cdu: str  # paths
    feed: str
    port: int  # Modbus TCP


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    panel = Switching(values=dict(VALUES))
    site = build_site(panel, str(tmp_path), 1)
    async with AsyncExitStack() as stack:
        for path, line in site.lines.items():
            await stack.enter_async_context(serve_pty(line, Path(path)))
        urls = {device.name: await stack.enter_async_context(device.serve("127.0.0.1")) for device in site.devices}
        port = int(urls["cdu/0"].partition("?")[0].rpartition(":")[2])
        yield Bench(panel, site.lines, f"{tmp_path}/cdu0", f"{tmp_path}/feed-A", port)


@asynccontextmanager
async def connected(client: ModbusBaseClient) -> AsyncIterator[ModbusBaseClient]:
    assert await client.connect()
    yield client
    client.close()


def open_serial(path: str, baud: int) -> ModbusBaseClient:
    return AsyncModbusSerialClient(path, baudrate=baud, timeout=PATIENCE)


async def mbpoll(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "mbpoll", *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, stdin=asyncio.subprocess.DEVNULL
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return output.decode()


async def test_pymodbus_reads_and_sets_the_cdu_over_tcp(bench: Bench) -> None:
    async with connected(AsyncModbusTcpClient("127.0.0.1", port=bench.port)) as client:
        answer = await client.read_input_registers(130, count=2, device_id=1)
        words = answer.registers
        assert client.convert_from_registers(words, client.DATATYPE.FLOAT32, word_order="little") == pytest.approx(22.1, abs=1e-5)
        setpoint = client.convert_to_registers(24.5, client.DATATYPE.FLOAT32, word_order="little")
        assert not (await client.write_registers(10, setpoint, device_id=1)).isError()
        assert bench.panel.orders == [SetTemperature(cdu="cdu/0", celsius=24.5)]
        refused = await client.write_register(500, 1, device_id=1)
        assert refused.exception_code == 2
        told = await client.read_device_information(read_code=3, object_id=0, device_id=1)
        assert isinstance(told, ReadDeviceInformationResponse)
        assert told.information[0x80] == b"C-0007"


async def test_pymodbus_reads_the_cdu_on_its_line(bench: Bench) -> None:
    async with connected(open_serial(bench.cdu, 19200)) as client:
        answer = await client.read_holding_registers(36864, count=5, device_id=12)
        assert answer.registers == [8123, 221, 319, 2500, 1000]
        assert not (await client.write_register(37918, 230, device_id=12)).isError()
        assert bench.panel.orders == [SetTemperature(cdu="cdu/0", celsius=23.0)]


async def test_pymodbus_switches_an_outlet_of_the_pdu(bench: Bench) -> None:
    async with connected(open_serial(bench.feed, 115200)) as client:
        assert (await client.read_coils(0, count=4, device_id=1)).bits[:4] == [True, False, False, True]
        assert not (await client.write_coil(3, False, device_id=1)).isError()
        assert (await client.read_coils(0, count=4, device_id=1)).bits[:4] == [True, False, False, False]
        assert bench.panel.orders == [SwitchOutlet(pdu="pdu/A1", outlet=4, on=False)]
        assert (await client.read_holding_registers(22, device_id=1)).registers == [2304]


async def test_pymodbus_through_a_serial_server(bench: Bench) -> None:
    async with serve_gateway(bench.lines[bench.cdu], "127.0.0.1") as (host, port):
        client = AsyncModbusTcpClient(host, port=port, framer=FramerType.RTU, timeout=PATIENCE)
        async with connected(client):
            assert (await client.read_holding_registers(36864, device_id=12)).registers == [8123]


async def test_the_line_takes_its_time(bench: Bench) -> None:
    """The path has no speed of its own: the record shows that bytes were paced, and the loop's clock that they were waited for."""
    loop = asyncio.get_running_loop()
    async with connected(open_serial(bench.cdu, 19200)) as client:
        begun = loop.time()
        await client.read_holding_registers(36864, count=5, device_id=12)
        pieces = bench.lines[bench.cdu].record.pieces
        due = 8 * 10 / 19200 + 35 / 19200 + 15 * 10 / 19200
        assert loop.time() - begun >= due
        assert pieces[-1].end - pieces[0].start >= due


async def test_pyserial_takes_a_late_answer_for_that_of_its_next_question(tmp_path: Path) -> None:
    """The trap for which a line must be drained after a time-out."""
    line = Line("late", Pace(115200))
    panel = FakePanel(values={("cdu/0", "coolant.flow"): 100.0, ("cdu/0", "coolant.supply_temperature"): 22.0})
    device = SerialDevice("cdu/0/rtu", "rpu", Unit(panel, load_map("rpu"), "cdu/0"), line, 12, str(tmp_path / "line"))
    async with serve_pty(line, tmp_path / "line") as path, device.serve():
        port = await asyncio.to_thread(serial.Serial, path, 115200, timeout=0.2)
        line.faults = LineFaults(late_s=1.0)
        await asyncio.to_thread(port.write, encode_frame(12, b"\x03\x90\x00\x00\x01"))
        assert await asyncio.to_thread(port.read, 7) == b""
        line.faults, port.timeout = LineFaults(late_s=60.0), PATIENCE
        await asyncio.to_thread(port.write, encode_frame(12, b"\x03\x90\x01\x00\x01"))
        assert await asyncio.to_thread(port.read, 7) == encode_frame(12, b"\x03\x02\x03\xe8")  # the flow, where a temperature was asked
        port.close()


async def test_a_client_at_a_wrong_speed_is_not_understood(bench: Bench) -> None:
    port = await asyncio.to_thread(serial.Serial, bench.cdu, 9600, timeout=0.1)
    await asyncio.to_thread(port.write, encode_frame(12, b"\x03\x90\x00\x00\x01"))
    assert await asyncio.to_thread(port.read, 7) == b""
    port.baudrate, port.timeout = 19200, PATIENCE
    await asyncio.to_thread(port.write, encode_frame(12, b"\x03\x90\x00\x00\x01"))
    assert await asyncio.to_thread(port.read, 7) == encode_frame(12, b"\x03\x02\x1f\xbb")
    port.close()


async def test_the_path_can_be_closed_and_opened_again(bench: Bench) -> None:
    for _ in range(3):
        async with connected(open_serial(bench.cdu, 19200)) as client:
            assert (await client.read_holding_registers(36864, device_id=12)).registers == [8123]


async def test_a_path_that_is_no_link_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "line"
    place.write_text("mine")
    with pytest.raises(FileExistsError):
        async with serve_pty(Line("line"), place):
            pytest.fail("it was taken")
    assert place.read_text() == "mine"


async def test_a_left_over_link_is_replaced_and_the_own_one_goes(tmp_path: Path) -> None:
    place = tmp_path / "line"
    place.symlink_to("/nowhere")
    before = len(list(Path("/proc/self/fd").iterdir()))
    async with serve_pty(Line("line"), place):
        assert place.exists()
    assert not place.is_symlink()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_mbpoll_over_tcp(bench: Bench) -> None:
    output = await mbpoll("-1", "-0", "-a1", "-r138", "-c1", "-t3:float", "-p", str(bench.port), "127.0.0.1")
    assert "[138]: \t150" in output
    await mbpoll("-1", "-0", "-a1", "-r1", "-t4", "-p", str(bench.port), "127.0.0.1", "77")
    assert "[1]: \t77" in await mbpoll("-1", "-0", "-a1", "-r1", "-t4", "-p", str(bench.port), "127.0.0.1")


async def test_mbpoll_over_the_device_path(bench: Bench) -> None:
    cdu = ("-1", "-0", "-mrtu", "-b19200", "-Pnone", "-a12", bench.cdu)
    output = await mbpoll("-r36864", "-c3", *cdu)
    assert "[36864]: \t8123" in output
    assert "[36866]: \t319" in output
    pdu = ("-1", "-0", "-mrtu", "-b115200", "-Pnone", "-a1", "-t0", bench.feed)
    assert "[3]: \t1" in await mbpoll("-r3", "-c1", *pdu)
    await mbpoll("-r3", *pdu, "0")
    assert "[3]: \t0" in await mbpoll("-r3", "-c1", *pdu)


async def test_pymodbus_gives_up_on_a_silent_unit_and_finds_the_others(bench: Bench) -> None:
    line = bench.lines[bench.feed]
    line.faults = LineFaults(silent=frozenset({1}))
    client = AsyncModbusSerialClient(bench.feed, baudrate=115200, timeout=0.1, retries=0)
    async with connected(client):
        with pytest.raises(ModbusIOException):
            await client.read_holding_registers(22, device_id=1)
    async with connected(open_serial(bench.feed, 115200)) as other:
        assert (await other.read_holding_registers(110, device_id=247)).registers == [2299]


async def test_two_tcp_devices_do_not_share_anything(tmp_path: Path) -> None:
    panels = [FakePanel(values={("cdu/0", "coolant.serial"): serial_number}) for serial_number in ("C-1", "C-2")]
    devices = [TcpDevice("cdu/0", "plc", Unit(panel, load_map("plc"), "cdu/0")) for panel in panels]
    async with devices[0].serve("127.0.0.1") as one, devices[1].serve("127.0.0.1") as other:
        assert one != other
        for url, due in ((one, [0x432D, 0x3100]), (other, [0x432D, 0x3200])):
            port = int(url.partition("?")[0].rpartition(":")[2])
            async with connected(AsyncModbusTcpClient("127.0.0.1", port=port)) as client:
                assert (await client.read_holding_registers(10708, count=2, device_id=1)).registers == due

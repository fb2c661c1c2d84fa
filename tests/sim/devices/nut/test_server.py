"""The server on the simulated network, in virtual time."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from sim_hardware.devices.nut import NutServer
from sim_hardware.devices.panel import Device, Impairment
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.power.orders import SetUpsMode
from sim_hardware.plant.words import Value
from tests.sim.devices.nut.values import panel
from tests.sim.devices.panels import FakePanel

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class LoopPanel(FakePanel):
    """Its time is the loop's, and it counts how often somebody wants to know the status."""

    looks = 0

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def sense(self, subject: str, quantity: str) -> Value:
        self.looks += quantity == "ups.status"
        return super().sense(subject, quantity)


Scene = Callable[[NutServer, LoopPanel, str, int], Coroutine[None, None, None]]


def run(scene: Scene) -> None:
    loop = SimLoop(1)
    Net(loop)
    plant = LoopPanel(values=panel().values)
    server = NutServer(plant, "A")

    async def main() -> None:
        async with server.serve("127.0.0.1") as url:
            assert url.startswith("nut://127.0.0.1:")
            assert url.endswith("/ups-a")
            await scene(server, plant, "127.0.0.1", int(url.split(":")[2].split("/")[0]))

    play(loop, main())
    assert loop.failures == []


async def ask(streams: Streams, line: bytes) -> bytes:
    streams[1].write(line + b"\n")
    return await streams[0].readline()


def test_lines_are_answered_one_by_one_however_they_come() -> None:
    async def scene(server: NutServer, plant: FakePanel, host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"NET")
        await asyncio.sleep(1)
        writer.write(b"VER\nGET VAR ups-a ups.status\nLOGOUT\nVER\n")
        assert (await reader.read()).split(b"\n") == [b"1.3", b'VAR ups-a ups.status "OL CHRG"', b"OK Goodbye", b""]
        writer.close()

    run(scene)


def test_each_answer_takes_the_delay() -> None:
    async def scene(server: NutServer, plant: FakePanel, host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        server.impairment.delay_s = 3.0
        writer.write(b"NETVER\nNETVER\n")
        started = plant.now()
        assert (await reader.readline(), await reader.readline()) == (b"1.3\n", b"1.3\n")
        assert plant.now() - started == pytest.approx(6.0, abs=0.01)
        writer.close()

    run(scene)


def test_silence_refusal_and_garbling() -> None:
    async def scene(server: NutServer, plant: FakePanel, host: str, port: int) -> None:
        streams = await asyncio.open_connection(host, port)
        server.impairment.silent = True
        streams[1].write(b"NETVER\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(streams[0].readline(), 60)
        server.impairment.silent = False
        assert await ask(streams, b"NETVER") == b"1.3\n"
        server.impairment.garbled = 1.0
        streams[1].write(b"NETVER\n")
        garbled = await streams[0].readexactly(4)
        assert sum(one != other for one, other in zip(garbled, b"1.3\n", strict=True)) == 1
        server.impairment.refusing = True
        turned_away = await asyncio.open_connection(host, port)
        with pytest.raises(ConnectionResetError):
            await turned_away[0].readline()
        streams[1].close()

    run(scene)


def test_a_line_without_an_end_is_refused_and_the_client_dropped() -> None:
    async def scene(server: NutServer, plant: FakePanel, host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"x" * 5000)
        assert await reader.read() == b"ERR UNKNOWN-COMMAND\n"
        again, other = await asyncio.open_connection(host, port)
        other.write(b"\n" * 20_000)
        assert await again.readexactly(20_000 * 20) == b"ERR UNKNOWN-COMMAND\n" * 20_000
        writer.close()
        other.close()

    run(scene)


def test_a_shutdown_with_return_runs_on_its_own_timer() -> None:
    async def scene(server: NutServer, plant: FakePanel, host: str, port: int) -> None:
        streams = await asyncio.open_connection(host, port)
        for line in (b"USERNAME admin", b"PASSWORD simulated", b"INSTCMD ups-a shutdown.return"):
            assert await ask(streams, line) == b"OK\n"
        await asyncio.sleep(19.9)
        assert plant.orders == []
        await asyncio.sleep(0.2)
        assert plant.orders == [SetUpsMode(ups="A", mode="off")]
        await asyncio.sleep(31.0)
        assert plant.orders[1:] == [SetUpsMode(ups="A", mode="normal")]
        streams[1].close()

    run(scene)


def test_it_is_a_device_of_the_bench() -> None:
    device: Device = NutServer(panel(), "A")
    assert (device.name, device.impairment) == ("ups/A", Impairment())


def test_a_login_ends_with_its_connection() -> None:
    async def scene(server: NutServer, plant: FakePanel, host: str, port: int) -> None:
        streams = await asyncio.open_connection(host, port)
        for line in (b"USERNAME admin", b"PASSWORD simulated", b"LOGIN ups-a"):
            assert await ask(streams, line) == b"OK\n"
        assert server.unit.logins == ["127.0.0.1"]
        streams[1].close()
        await asyncio.sleep(1)
        assert server.unit.logins == []

    run(scene)


def test_a_client_that_reads_nothing_is_answered_no_further_until_it_does() -> None:
    async def scene(server: NutServer, plant: LoopPanel, host: str, port: int) -> None:
        asked = 3000
        reader, writer = await asyncio.open_connection(host, port, limit=1024)
        writer.write(b"GET VAR ups-a ups.status\n" * asked)
        await asyncio.sleep(60.0)
        assert plant.looks < asked
        for _ in range(asked):
            assert (await reader.readline()).startswith(b"VAR ")
        assert plant.looks == asked
        writer.close()

    run(scene)


def test_no_more_is_read_while_lines_wait_for_the_delay() -> None:
    async def scene(server: NutServer, plant: FakePanel, host: str, port: int) -> None:
        server.impairment.delay_s = 0.1
        reader, writer = await asyncio.open_connection(host, port)
        for _ in range(100):
            writer.write(b"NETVER\n" * 10)
            await asyncio.sleep(0.01)
        (connection,) = server._connections
        assert len(connection._lines) <= 10
        for _ in range(1000):
            assert await reader.readline() == b"1.3\n"
        writer.close()

    run(scene)

"""A serial server on the network of virtual time."""

import asyncio

from sim_hardware.bus import LineFaults, serve_gateway
from sim_hardware.bus.rtu import encode_frame
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from tests.sim.bus.masters import READ, make_line

FIRST = encode_frame(5, b"\x03\x02\x00\x01")


def test_clients_share_the_line_and_hear_everything() -> None:
    loop = SimLoop(1)
    Net(loop)

    async def scenario() -> None:
        line, units = make_line()
        async with serve_gateway(line, "127.0.0.1", 4001) as (host, port):
            one, to_one = await asyncio.open_connection(host, port)
            other, to_other = await asyncio.open_connection(host, port)
            to_one.write(encode_frame(5, READ))
            assert await one.readexactly(7) == await other.readexactly(7) == FIRST
            to_other.close()
            await asyncio.sleep(0.1)
            to_one.write(encode_frame(5, READ))
            assert (await one.readexactly(7))[:4] == b"\x05\x03\x02\x00"
            assert len(units[5].heard) == 2
            to_one.close()
            await asyncio.gather(to_one.wait_closed(), to_other.wait_closed())
        assert line.record.counts["answers"] == 2

    play(loop, scenario())
    assert loop.failures == []


def test_faults_of_the_line_pass_through() -> None:
    loop = SimLoop(1)
    Net(loop)

    async def scenario() -> None:
        line, _ = make_line(LineFaults(echo=True))
        async with serve_gateway(line, "127.0.0.1") as (host, port):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(encode_frame(5, READ))
            assert await reader.readexactly(15) == encode_frame(5, READ) + FIRST
            writer.close()
            await writer.wait_closed()

    play(loop, scenario())
    assert loop.failures == []


def test_a_client_that_reads_nothing_misses_what_its_buffer_does_not_hold() -> None:
    loop = SimLoop(1)
    Net(loop)

    async def scenario() -> None:
        line, _ = make_line()
        async with serve_gateway(line, "127.0.0.1") as (host, port):
            reader, writer = await asyncio.open_connection(host, port, limit=1024)
            await asyncio.sleep(0.1)
            line.faults = LineFaults(stuck="babble")
            await asyncio.sleep(60.0)
            line.faults = LineFaults()
            await asyncio.sleep(1.0)
            said = line.record.counts["bytes"]
            writer.write_eof()
            got = len(await reader.read())
            assert 60_000 < got < 80_000 < said
            writer.close()

    play(loop, scenario())
    assert loop.failures == []

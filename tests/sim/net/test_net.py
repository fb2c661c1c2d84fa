"""The network in memory: streams, datagrams, cuts, ends."""

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Mark, Net, Segment

Scenario = Callable[[SimLoop, Net], Coroutine[None, None, None]]


def run(scenario: Scenario, seed: int = 1) -> Net:
    loop = SimLoop(seed)
    net = Net(loop)
    play(loop, scenario(loop, net))
    assert loop.failures == []
    return net


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(host: str | None = None, port: int = 502) -> None:
    async with await asyncio.start_server(echo, host, port) as server:
        await server.serve_forever()


async def ask(host: str, question: bytes = b"hello", port: int = 502) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(question)
        return await reader.readexactly(len(question))
    finally:
        writer.close()


async def ready() -> None:
    """Let what was spawned get as far as listening."""
    await asyncio.sleep(0.1)


def test_hosts_talk_by_name_and_show_addresses() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        names: list[object] = []

        async def client() -> None:
            _, writer = await asyncio.open_connection("cdu0", 502)
            names.extend((writer.get_extra_info("peername"), writer.get_extra_info("sockname")[0]))
            names.append(writer.get_extra_info("socket").getpeername())
            writer.close()
            assert await ask("cdu0") == await ask(net.address("cdu0")) == b"hello"

        loop.spawn("cdu0", serve)
        await ready()
        assert await loop.spawn("n0", client).ended == 0
        assert names == [(net.address("cdu0"), 502), net.address("n0"), (net.address("cdu0"), 502)]

    assert run(scenario).segments >= 4


@pytest.mark.parametrize(
    ("bound", "dialled", "client", "reached"),
    [
        ("127.0.0.1", "127.0.0.1", "cdu0", True),
        ("127.0.0.1", "localhost", "other@cdu0", True),
        ("127.0.0.1", "cdu0", "n0", False),
        ("127.0.0.1", "127.0.0.1", "n0", False),
        ("0.0.0.0", "cdu0", "n0", True),
        ("0.0.0.0", "127.0.0.1", "other@cdu0", True),
        ("cdu0", "cdu0", "n0", True),
        (None, "cdu0", "n0", True),
    ],
)
def test_who_reaches_a_server(bound: str | None, dialled: str, client: str, reached: bool) -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        loop.spawn("cdu0", lambda: serve(bound))
        await ready()
        name, _, host = client.partition("@")
        if name == "cdu0":
            name, host = "second", "cdu0"
        answers: list[bytes | type] = []

        async def main() -> None:
            try:
                answers.append(await ask(dialled))
            except ConnectionRefusedError:
                answers.append(ConnectionRefusedError)

        await loop.spawn(name, main, host=host or None).ended
        assert answers == [b"hello" if reached else ConnectionRefusedError]

    run(scenario)


def test_port_0_takes_a_free_port_and_a_taken_one_is_refused() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        first = await asyncio.start_server(echo, "127.0.0.1", 0)
        second = await asyncio.start_server(echo, "127.0.0.1", 0)
        ports = [server.sockets[0].getsockname()[1] for server in (first, second)]
        assert ports[0] != ports[1]
        assert await ask("127.0.0.1", port=ports[1]) == b"hello"
        with pytest.raises(OSError, match=r"in use: site:\d+; site#0 listens there"):
            await asyncio.start_server(echo, None, ports[0])
        first.close()
        assert (first.sockets, first.is_serving()) == ((), False)
        with pytest.raises(ConnectionRefusedError):
            await ask("127.0.0.1", port=ports[0])

    run(scenario)


def test_unix_paths_belong_to_a_host_and_tell_who_calls() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        callers: list[tuple[int, ...]] = []

        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            packed = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            assert struct.unpack("3i", packed) == writer.get_extra_info("peercred")
            callers.append(writer.get_extra_info("peercred"))
            writer.close()

        async def listen() -> None:
            async with await asyncio.start_unix_server(greet, "/run/x.sock") as server:
                await server.serve_forever()

        async def call() -> None:
            _, writer = await asyncio.open_unix_connection("/run/x.sock")
            await ready()
            writer.close()

        loop.spawn("n0", listen, uid=7)
        await ready()
        caller = loop.spawn("ctl", call, host="n0", uid=1001, gid=100)
        assert await caller.ended == 0
        assert callers == [(caller.pid, 1001, 100)]
        with pytest.raises(FileNotFoundError):
            await asyncio.open_unix_connection("/run/x.sock")  # the site is another host
        loop.kill(loop.processes["n0"])
        late = loop.spawn("ctl", call, host="n0")
        assert await late.ended == 1
        assert isinstance(loop.failures.pop().error, ConnectionRefusedError)

    run(scenario)


def test_bytes_keep_their_order() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        loop.spawn("cdu0", serve)
        await ready()
        reader, writer = await asyncio.open_connection("cdu0", 502)
        for digit in b"0123456789" * 50:
            writer.write(bytes([digit]))
        assert await reader.readexactly(500) == b"0123456789" * 50
        writer.close()

    run(scenario)


@settings(max_examples=60, deadline=None)
@given(
    chunks=st.lists(st.binary(min_size=1, max_size=300), max_size=30),
    pauses=st.lists(st.sampled_from([0.0, 0.0001, 0.3]), min_size=30, max_size=30),
    delay=st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)),
    fragment=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 1000),
)
def test_bytes_arrive_complete_and_in_order_whatever_the_chunks_and_delays(
    chunks: list[bytes], pauses: list[float], delay: tuple[float, float], fragment: float, seed: int
) -> None:
    loop = SimLoop(seed)
    net = Net(loop, delay=(min(delay), max(delay)), fragment=fragment)
    received: list[bytes] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read())
        writer.close()

    async def main() -> None:
        await asyncio.start_server(take, "sink", 1)
        _, writer = await asyncio.open_connection("sink", 1)
        for number, (chunk, pause) in enumerate(zip(chunks, pauses, strict=False)):
            if number % 7 == 3:
                net.partition("site", "sink")
                loop.after(0.2, net.heal, "site", "sink")
            writer.write(chunk)
            await asyncio.sleep(pause)
        writer.write_eof()
        await asyncio.sleep(60)
        writer.close()

    play(loop, main())
    assert received == [b"".join(chunks)]
    assert loop.failures == []


def test_half_closing_ends_one_direction_only() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        async def answer_at_eof(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            whole = await reader.read()
            writer.write(whole[::-1])
            writer.close()

        await asyncio.start_server(answer_at_eof, "dev", 1)
        reader, writer = await asyncio.open_connection("dev", 1)
        writer.write(b"abc")
        writer.write_eof()
        with pytest.raises(RuntimeError, match="write_eof"):
            writer.write(b"more")
        assert await reader.read() == b"cba"
        writer.close()

    run(scenario)


def test_writing_waits_for_a_reader_that_does_not_read() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        started = asyncio.Event()

        async def read_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await started.wait()
            await reader.read()
            writer.close()

        await asyncio.start_server(read_late, "dev", 1, limit=1000)
        _, writer = await asyncio.open_connection("dev", 1)
        sent = 0

        async def pump() -> None:
            nonlocal sent
            for _ in range(1000):
                writer.write(bytes(1000))
                await writer.drain()
                sent += 1000

        pumping = asyncio.create_task(pump())
        await asyncio.sleep(10)
        assert sent <= 70_000
        started.set()
        await pumping
        assert sent == 1_000_000
        writer.close()

    run(scenario)


def test_killing_a_process_resets_its_peers_and_refuses_the_next() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        server = loop.spawn("cdu0", serve)
        await ready()
        reader, writer = await asyncio.open_connection("cdu0", 502)
        loop.after(1, loop.kill, server)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert loop.time() < 1.2
        with pytest.raises(ConnectionRefusedError):
            await ask("cdu0")
        writer.close()

    assert run(scenario).ghosts == 0


def test_a_process_that_leaves_by_itself_closes_its_streams() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        async def short() -> None:
            await asyncio.start_server(echo, None, 502)
            await asyncio.sleep(1)

        loop.spawn("cdu0", short)
        await ready()
        reader, writer = await asyncio.open_connection("cdu0", 502)
        assert await reader.read() == b""
        writer.close()

    run(scenario)


def test_data_for_a_closed_end_is_answered_with_a_reset() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        await asyncio.start_server(hang_up, "dev", 1)
        lost = loop.create_future()

        class Client(asyncio.Protocol):
            def eof_received(self) -> bool:
                return True

            def connection_lost(self, exc: Exception | None) -> None:
                lost.set_result(exc)

        transport, _ = await loop.create_connection(Client, "dev", 1)
        await ready()
        transport.write(b"anybody?")
        assert isinstance(await lost, ConnectionResetError)

    run(scenario)


def test_a_write_of_the_dead_is_a_ghost_and_goes_nowhere() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        heard: list[bytes] = []
        writers: list[asyncio.StreamWriter] = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)
            while data := await reader.read(100):
                heard.append(data)
            writer.close()

        async def client() -> None:
            _, writer = await asyncio.open_connection("dev", 1)
            writers.append(writer)
            await asyncio.sleep(100)

        await asyncio.start_server(listen, "dev", 1)
        process = loop.spawn("n0", client)
        await ready()
        pipe = writers[-1].transport
        process.exit_code = -9  # dead, but its ends are still there: the one case that must be noticed
        pipe.write(b"ghost")
        await ready()
        assert heard == []
        process.exit_code = None

    assert run(scenario).ghosts == 1


def test_a_cut_holds_streams_and_healing_sends_again_in_order() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        loop.spawn("cdu0", serve)
        await ready()
        reader, writer = await asyncio.open_connection("cdu0", 502)
        net.partition("site", "cdu0")
        for digit in b"0123456789":
            writer.write(bytes([digit]))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(20):
                await reader.read(1)
        net.heal("site", "cdu0")
        writer.write(b"!")
        assert await reader.readexactly(11) == b"0123456789!"
        writer.close()

    run(scenario)


def test_dialling_over_a_cut_takes_the_callers_timeout_or_gets_through_after_healing() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        loop.spawn("cdu0", serve)
        await ready()
        net.isolate("cdu0")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await ask("cdu0")
        assert loop.time() == pytest.approx(3.1, abs=0.01)
        loop.after(4, net.rejoin, "cdu0")
        assert await ask("cdu0") == b"hello"
        net.isolate("cdu0")
        began = loop.time()
        with pytest.raises(TimeoutError, match="cdu0:502 does not answer site"):
            await ask("cdu0")
        assert loop.time() - began == pytest.approx(127, abs=0.1)

    run(scenario)


def test_a_paused_server_still_accepts_and_answers_later() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        server = loop.spawn("cdu0", serve)
        await ready()
        loop.pause(server)
        loop.after(5, loop.resume, server)
        assert await ask("cdu0") == b"hello"
        assert loop.time() > 5

    run(scenario)


def test_a_connection_that_comes_while_the_server_closes_is_reset() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        async def close_at_2() -> None:
            server = await asyncio.start_server(echo, None, 502)
            loop.call_at(2, server.close)
            await asyncio.sleep(10)

        process = loop.spawn("cdu0", close_at_2)
        loop.at(1, loop.pause, process)
        loop.at(4, loop.resume, process)
        await asyncio.sleep(3)
        with pytest.raises(ConnectionResetError):
            await ask("cdu0")

    run(scenario)


def test_the_watcher_sees_every_segment() -> None:
    seen: list[Segment] = []

    async def scenario(loop: SimLoop, net: Net) -> None:
        net.watch = seen.append
        loop.spawn("cdu0", serve)
        await ready()
        await ask("cdu0", b"\x01\x06")
        await ready()

    net = run(scenario)
    assert len(seen) == net.segments
    first = seen[0]
    assert (first.kind, str(first.process), first.source, first.target, first.address) == (
        "tcp",
        "site#0",
        "site",
        "cdu0",
        (net.address("cdu0"), 502),
    )
    assert [segment.data for segment in seen if segment.source == "cdu0"] == [b"\x01\x06", Mark.EOF]


def test_tls_is_an_error_that_says_so() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        with pytest.raises(ValueError, match="carries no TLS"):
            await asyncio.open_connection("cdu0", 443, ssl=True)

    run(scenario)


def test_the_digest_covers_what_was_sent() -> None:
    def digest(question: bytes, seed: int) -> str:
        loop = SimLoop(seed)
        Net(loop)

        async def main() -> None:
            await asyncio.start_server(echo, "dev", 502)
            await ask("dev", question)

        play(loop, main())
        return loop.digest()

    assert digest(b"abc", 1) == digest(b"abc", 1)
    assert len({digest(b"abc", 1), digest(b"abd", 1), digest(b"abc", 2)}) == 3

"""Datagrams in the simulated network."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net

Scenario = Callable[[SimLoop, Net], Coroutine[None, None, None]]


def run(scenario: Scenario) -> None:
    loop = SimLoop(1)
    play(loop, scenario(loop, Net(loop)))
    assert loop.failures == []


async def ready() -> None:
    await asyncio.sleep(0.1)


class Sink(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.heard: list[tuple[bytes, object]] = []
        self.errors: list[Exception] = []

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.heard.append((data, addr))

    def error_received(self, exc: Exception) -> None:
        self.errors.append(exc)


async def udp(local: tuple[str, int] | None = None, remote: tuple[str, int] | None = None) -> tuple[asyncio.DatagramTransport, Sink]:
    transport, sink = await asyncio.get_running_loop().create_datagram_endpoint(Sink, local_addr=local, remote_addr=remote)
    return transport, sink


def test_datagrams_arrive_with_their_sender_and_are_lost_by_rate() -> None:
    def heard(loss: float) -> int:
        loop = SimLoop(1)
        net = Net(loop, loss=loss)

        async def main() -> int:
            _, sink = await udp(("dev", 161))
            sender, _ = await udp(("mgr", 5000), ("dev", 161))
            for number in range(1000):
                sender.sendto(b"%d" % number)
            await ready()
            assert {addr for _, addr in sink.heard} <= {(net.address("mgr"), 5000)}
            return len(sink.heard)

        return play(loop, main())

    assert heard(0.0) == 1000
    assert 650 < heard(0.3) < 750


def test_datagrams_over_a_cut_are_gone_for_good() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        _, sink = await udp(("dev", 161))
        sender, _ = await udp()
        net.partition("site", "dev")
        sender.sendto(b"lost", ("dev", 161))
        await ready()
        net.heal("site", "dev")
        sender.sendto(b"found", ("dev", 161))
        await ready()
        assert [data for data, _ in sink.heard] == [b"found"]

    run(scenario)


def test_a_connected_datagram_socket_hears_that_nobody_is_there() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        connected, hears = await udp(remote=("dev", 161))
        connected.sendto(b"x")
        loose, hears_not = await udp()
        loose.sendto(b"x", ("dev", 161))
        await ready()
        assert [type(error) for error in hears.errors] == [ConnectionRefusedError]
        assert hears_not.errors == []

    run(scenario)


def test_a_taken_port_and_a_datagram_that_is_too_long_are_refused() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        first, sink = await udp(("dev", 161))
        with pytest.raises(OSError, match="udp dev:161"):
            await udp(("dev", 161))
        first.sendto(bytes(65508), ("dev", 161))
        await ready()
        assert (len(sink.errors), sink.heard) == (1, [])
        first.close()
        second, _ = await udp(("dev", 161))
        assert second.get_extra_info("sockname") == (net.address("dev"), 161)

    run(scenario)


def test_datagrams_of_the_dead_go_nowhere_and_their_port_is_free() -> None:
    async def scenario(loop: SimLoop, net: Net) -> None:
        async def process() -> None:
            await udp(("0.0.0.0", 161))
            await asyncio.sleep(100)

        loop.spawn("dev", process)
        await ready()
        loop.kill(loop.processes["dev"])
        sender, sink = await udp(remote=("dev", 161))
        sender.sendto(b"x")
        await ready()
        assert len(sink.errors) == 1
        await udp(("dev", 161))

    run(scenario)

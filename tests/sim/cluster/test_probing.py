"""The second view past the broker, on a simulated network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from supernoded.cluster.fleet.probing import MOST, Prober, reach
from supernoded.model import Reading
from supernoded.topology import Supernode, Topology
from supernoded.wire.names import Lookup


class Room:
    """Machines on a network, some with a listener, and the prober of n0."""

    def __init__(self, *names: str, silent: tuple[str, ...] = ()) -> None:
        self.loop = SimLoop(1)
        self.net = Net(self.loop)
        self.late: list[str] = []
        self.beating = set(names)
        self.names, self.silent = names, silent
        topology = Topology(nodes=tuple(Supernode(name=name, cards=1, address=f"{name}:22") for name in names))
        self.prober = Prober(topology, SimClock(self.loop, "n0"), lambda: self.late, lambda name, _: name in self.beating)

    def play(self, scene: Callable[[], Awaitable[None]]) -> None:
        async def serve() -> None:
            server = await asyncio.get_running_loop().create_server(asyncio.Protocol, None, 22)
            async with server:
                await server.serve_forever()

        async def idle() -> None:
            await asyncio.Event().wait()

        async def main() -> None:
            for name in self.names:
                self.loop.spawn(f"{name}/ssh", idle if name in self.silent else serve, host=name)
            await asyncio.sleep(0.1)
            await scene()

        play(self.loop, main())

    async def probe(self, rounds: int = 1) -> dict[str, Reading]:
        """The newest of each node."""
        found: dict[str, Reading] = {}
        for _ in range(rounds):
            for readings, _ in await self.prober.probe():
                found |= {reading.subject: reading for reading in readings}
        return found


def test_a_machine_that_takes_or_refuses_a_connection_is_there() -> None:
    room = Room("n1", "n2", silent=("n2",))

    async def scene() -> None:
        told = await room.probe(4)
        assert {name: (reading.value, reading.note) for name, reading in told.items()} == {
            "n1": (1.0, "it takes the connection"),
            "n2": (1.0, "it refuses the connection, so it is there"),
        }

    room.play(scene)


def test_silence_counts_only_of_a_probe_that_can_be_answered() -> None:
    room = Room("n1", "n2", "n3")

    async def scene() -> None:
        room.late = ["n3"]
        room.beating.discard("n3")
        room.net.isolate("n3")
        told = await room.probe()
        assert told["n3"].value is None or told["n3"].value == 0.0  # n1 may have answered in the same round
        told = await room.probe(4)
        assert (told["n3"].value, told["n1"].value) == (0.0, 1.0)
        assert told["n3"].note == "no answer within 1.5 s"
        room.beating.add("n3")
        told = await room.probe()
        assert told["n3"].value is None
        assert "but it beats, so this probe proves nothing" in told["n3"].note

    room.play(scene)


def test_where_nobody_answers_the_probe_itself_is_in_doubt() -> None:
    room = Room("n1", "n2")

    async def scene() -> None:
        room.late = ["n1", "n2"]
        room.beating.clear()
        for name in ("n1", "n2"):
            room.net.isolate(name)
        told = await room.probe(3)
        assert [reading.value for reading in told.values()] == [None, None]
        assert "no other machine has answered a probe from here either" in told["n1"].note

    room.play(scene)


def test_all_are_probed_in_turns_and_never_too_many_at_once() -> None:
    names = tuple(f"n{number}" for number in range(90))
    room = Room(*names)

    async def scene() -> None:
        told = await room.probe()
        assert len(told) == 3
        assert set(await room.probe(30)) == set(names)
        room.late = list(names)
        ((late, _), (others, _)) = await room.prober.probe()
        assert (len(late), len(others) <= 3) == (MOST, True)

    room.play(scene)


async def test_a_name_that_cannot_be_looked_up_says_nothing_of_the_machine() -> None:
    answers, note = await reach(Lookup("no-such-host.invalid", 22), within=5.0)
    assert answers is None or note.startswith("no answer within")


async def test_a_real_port_of_this_machine_is_reached_or_refuses() -> None:
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert await reach(Lookup("127.0.0.1", port)) == (True, "it takes the connection")
    assert await reach(Lookup("127.0.0.1", port)) == (True, "it refuses the connection, so it is there")

"""A simulated plant beside the site, in real time: its nodes' tools and its job's processes reach the daemons through files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sim_hardware.devices.job import Crew
from sim_hardware.drives.nodes import serve_nodes
from sim_hardware.drives.pacing import PlantClock
from sim_hardware.drives.ranks import find_socket, look_after, speak_for
from sim_hardware.drives.venues import Loopback
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.kind import Nothing
from sim_hardware.plant.words import Happening, Order, Value
from sim_hardware.rack import Rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from tests.system.cluster.peers import PATIENCE


class NotingWorld(World):
    """Keeps what it is ordered, also what has no effect any more."""

    def __init__(self, rack: Rack, now: Callable[[], float]) -> None:
        super().__init__(rack, 1, now)
        self.orders: list[Order] = []

    def order(self, order: Order) -> None:
        """See `World.order`."""
        self.orders.append(order)
        super().order(order)


@dataclass
class Plant:
    """A rig in play. `news` is set by everything that happens in it."""

    rig: Rig
    world: NotingWorld
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, fault: str, target: str) -> None:
        """Begin a fault of the catalogue."""
        CATALOGUE[fault].begin(self.rig, target, Nothing())

    def truth(self, subject: str, quantity: str) -> Value:
        """What is so."""
        return self.world.truth(subject, quantity)

    def read_number(self, subject: str, quantity: str) -> float:
        """The same of what is a number."""
        value = self.truth(subject, quantity)
        assert isinstance(value, float)
        return value

    def list_happened(self, kind: str, since: float = 0.0) -> list[Happening]:
        """What happened after a moment of the plant's time."""
        return [news for news in self.world.happened if news.kind == kind and news.at > since]

    async def wait(self, kind: str, subject: str, since: float = 0.0, within: float = PATIENCE) -> Happening:
        """Until something happens."""

        def find() -> Happening | None:
            return next((news for news in self.list_happened(kind, since) if news.subject == subject), None)

        await self.until(lambda: find() is not None, f"{kind} of {subject}", within)
        found = find()
        assert found is not None
        return found

    async def until(self, condition: Callable[[], bool], what: str, within: float = PATIENCE) -> None:
        """Until it is so; it is looked at whenever something happens."""
        try:
            async with asyncio.timeout(within):
                while not condition():
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            happened = "\n".join(f"{news.at:8.3f} {news.kind} {news.subject} {news.text}" for news in list(self.world.happened)[-40:])
            raise AssertionError(f"{what}: not within {within:g} s; what happened last:\n{happened}") from None


@asynccontextmanager
async def running_plant(folder: Path, rack: Rack) -> AsyncIterator[Plant]:
    """A plant with its tools, devices on loopback, and the job's processes, which find a daemon's socket as `<folder>/<node>/run`."""
    world = NotingWorld(rack, PlantClock(asyncio.get_running_loop().time))
    plant = Plant(Rig(world, folder, 1), world)
    world.watches.append(lambda _: plant.news.set())
    async with plant.rig.serve(Loopback()), AsyncExitStack() as stack:
        await serve_nodes(stack, plant.rig, folder)
        crew = Crew(world, lambda _: time.time())
        tasks = [asyncio.create_task(look_after(crew))] if crew.peers else []
        for node in (node.name for node in rack.nodes if crew.peers):
            path = find_socket(folder, node)
            tasks.append(asyncio.create_task(speak_for(crew, node, path, path.exists)))
        try:
            yield plant
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [error for error in ended if isinstance(error, Exception)] == []

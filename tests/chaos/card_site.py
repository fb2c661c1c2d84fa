"""The smallest whole site that replaces a card: three daemons with what it takes, over a plant with a job of four ranks and two spares.

n0 has the launcher and gives leave (`fleet`), n1 has the card that fails, n2 decides (`spares`) and has the spare.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

import supernoded_ascend
import supernoded_fleet
import supernoded_host
import supernoded_isolation
from sim_hardware.devices.job import Crew
from sim_hardware.devices.tools.words import ToolImpairment, ToolState
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.ranks import find_socket, look_after, speak_for
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.site import SimSite
from sim_hardware.drives.software import SimSoftware
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import SYSFS
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.loop import Process, SimLoop
from sim_hardware.plant.cards.orders import IsolateCard
from sim_hardware.plant.job.orders import AbortCollective, RemapRanks, ResumeJob
from sim_hardware.plant.words import Order
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import Card, Node, Ring, Sim, SimJob, Spare
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.registry import Found
from supernoded.settings import Settings

NODES = ("n0", "n1", "n2")
LAUNCHER, VICTIMS, HOLDER = NODES
VICTIM, SPARE, RANK = "n1/card1", "n2/card0", 3
JOB = "job/train"
CODE = "8C03A000"  # asks for a reset
COUNTED = (AbortCollective, RemapRanks, ResumeJob, IsolateCard)

# Quick eyes and short patience, so that a saga is over in seconds; what guards and breakers allow is as it comes.
SETTINGS = """\
[roles]
fleet = "n0"
spares = "n2"
[incidents]
clear_after_s = 5.0
[job]
silent_s = 3.0
[plugins.ascend]
hccn_tool = []
log_folder = ""
timeout_s = 1.0
cards_s = 2.0
health_s = 2.0
boards_s = 10.0
[plugins.host]
period_s = 5.0
[plugins.isolation]
settle_s = 0.0
code_looks = 2
common_s = 3.0
"""


# The same with leased roles; a fourth node, which has nothing else to do, decides first.
FOURTH = "n3"
LEASED = """\
[journal]
database = "postgresql://supernoded@database/site"
[seats]
term_s = 6.0
renew_s = 1.5
candidates = {spares = ["n3", "n2", "n0"], fleet = ["n0", "n1", "n2"]}
""" + SETTINGS[SETTINGS.index("[incidents]") :]


def make_rack(*, fourth: bool = False) -> Rack:
    """Nodes without power, coolant and cables, as none of these has a part in this; the cards from n2 on are spares."""
    nodes = tuple(Node(name=name, cards=2) for name in (*NODES, FOURTH)[: 4 if fourth else 3])
    spares = [card for node in nodes[2:] for card in node.list_cards()]
    slots = [slot for node in nodes for slot in node.list_cards()]
    return Rack(
        nodes=nodes,
        rings=(Ring(name="cluster", level="cluster", order=tuple(node.name for node in nodes)),),
        cards=tuple(Card(card=slot, serial=f"SN{number:03d}") for number, slot in enumerate(slots)),
        spares=tuple(Spare(card=card) for card in spares),
        sim=Sim(text="a few nodes", job=SimJob(step_s=1.0, save_s=2.0, checkpoint_every_s=8.0, tensor=2)),
    )


def list_plugins(_: Settings) -> Sequence[Found]:
    """Those that have a part in it."""
    ours = {"ascend": supernoded_ascend, "fleet": supernoded_fleet, "host": supernoded_host, "isolation": supernoded_isolation}
    return [Found(name=name, plugin=plugin) for name, plugin in ours.items()]


class CountingWorld(World):
    """Keeps what it is ordered, of the `COUNTED`."""

    def __init__(self, rack: Rack, loop: SimLoop, orders: list[tuple[float, Order]]) -> None:
        super().__init__(rack, loop.seed, loop.time)
        self._orders = orders

    def order(self, order: Order) -> None:
        """See `World.order`."""
        if isinstance(order, COUNTED):
            self._orders.append((self.now(), order))
        super().order(order)


class CountingTools(ToolState):
    """Keeps when the fence was called."""

    def __init__(self, node: str, loop: SimLoop, runs: list[tuple[float, str]]) -> None:
        super().__init__()
        self._node, self._loop, self._runs = node, loop, runs

    def impair(self, tool: str) -> ToolImpairment:
        """See `ToolState.impair`."""
        if tool == "cardctl":
            self._runs.append((self._loop.time(), self._node))
        return super().impair(tool)


@dataclass
class CardSite:
    """The site while it plays, on the loop of its world."""

    loop: SimLoop
    folder: Path
    settings: str = SETTINGS
    rack: Rack = field(default_factory=make_rack)
    orders: list[tuple[float, Order]] = field(default_factory=list)  # that reached the plant, of the `COUNTED`
    fences: list[tuple[float, str]] = field(default_factory=list)  # when `cardctl` was run, and where

    def __post_init__(self) -> None:
        self.nodes = tuple(node.name for node in self.rack.nodes)
        self.rig = Rig(CountingWorld(self.rack, self.loop, self.orders), self.folder, self.loop.seed)
        self.rig.tools.update({node: CountingTools(node, self.loop, self.fences) for node in self.nodes})
        self.site = SimSite(self.loop, list_plugins, rig=self.rig)
        self.crew = Crew(self.rig.world, lambda node: self.site.clocks[node].now())

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Broker, database, plant, daemons and the job's processes."""
        self.site.broker.start()
        self.site.database.start()
        self.rig.world.watches.append(lambda happening: self.loop.trace("plant", happening.kind, happening.subject, happening.text))
        async with self.rig.serve(SimNetwork(self.site.net)):
            self.rig.software = SimSoftware(self.site, self.folder)
            self._start_daemons()
            self.loop.spawn("job", partial(look_after, self.crew))
            for node in self.nodes:
                speak = partial(speak_for, self.crew, node, find_socket(self.folder, node))
                self.loop.spawn(f"{node}/job", speak, host=node)
            yield

    def _start_daemons(self) -> None:
        (self.folder / TOPOLOGY).write_text(write_site(self.rack, self.rig.endpoints))
        places = Places(self.folder, ("broker", 1883), SYSFS, kernel=True, endpoints=self.rig.endpoints, seed=self.loop.seed)
        for node in self.nodes:
            (self.folder / f"{node}.toml").write_text(write_settings(self.rack, node, places, self.settings))
            self.start(node)

    def start(self, node: str) -> Process:
        """Start a daemon, or start it anew."""
        return self.site.start(node, self.folder / f"{node}.toml")

    def begin(self, fault: str, target: str, **parameters: Any) -> None:
        """Begin a fault of the catalogue."""
        kind = CATALOGUE[fault]
        kind.begin(self.rig, target, msgspec.convert(parameters, kind.parameters))

    def end(self, fault: str, target: str, **parameters: Any) -> None:
        """End it."""
        kind = CATALOGUE[fault]
        kind.end(self.rig, target, msgspec.convert(parameters, kind.parameters))

    def find_rank(self, rank: int) -> str:
        """The card that a rank is on, by the plant."""
        return str(self.rig.world.truth(f"{JOB}/rank{rank}", "rank.card"))

    def sense(self, quantity: str) -> float | str:
        """A fact of the job, by the plant."""
        value = self.rig.world.truth(JOB, quantity)
        return value if isinstance(value, float | str) else str(value)

    def list_isolated(self) -> list[str]:
        """The cards that are fenced, by the plant."""
        return [card for card in self.rack.list_cards() if self.rig.world.truth(card, "card.isolated") == 1.0]


async def wait_until(condition: Callable[[], bool], seconds: float, every: float = 0.5) -> bool:
    """Whether it came true within so many virtual seconds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition():
        if loop.time() >= end:
            return False
        await asyncio.sleep(every)
    return True

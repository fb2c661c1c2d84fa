"""Whole daemons that lease their roles, around a valve that writes down who turns it, and an observer of who tells that he has a role."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec
import tomli_w

from sim_hardware.drives import SimSite
from sim_hardware.drives.keys import write_keys
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.rack import generate_rack
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import RoleView
from supernoded.history import View
from supernoded.model import Effect, Setpoint, Sight
from supernoded.plugin import hookimpl
from supernoded.registry import Found, discover
from supernoded.settings import Settings
from supernoded.wire import Node, Tree

NODES = ("n0", "n1", "n2")
CDU = "cdu/0"
TERM, RENEW = 6.0, 1.5  # s
GOOD_FOR = 0.9 * TERM
PERIOD = 0.5  # s between two setpoints


@dataclass
class Scene:
    """What the valve saw and what was told, by virtual time."""

    loop: SimLoop
    site: SimSite
    folder: Path
    puts: list[tuple[float, str]] = field(default_factory=list)
    views: list[tuple[float, RoleView]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def start(self, node: str) -> None:
        """Start a daemon, or start it anew."""
        self.site.start(node, self.folder / f"{node}.toml")

    def kill(self, node: str) -> None:
        """As a power cut does."""
        self.loop.kill(self.loop.processes[node])

    def turned_by(self, begin: float, end: float) -> set[str]:
        """Who turned the valve between two times."""
        return {node for at, node in self.puts if begin <= at < end}

    def first_by(self, node: str, since: float = 0.0) -> float:
        """When a node turned it first."""
        return next(at for at, who in self.puts if who == node and at >= since)

    def last_by(self, node: str, until: float = 1e9) -> float:
        """When a node turned it last."""
        return next(at for at, who in reversed(self.puts) if who == node and at < until)

    def told(self, role: str) -> list[tuple[str, int, bool]]:
        """The turns of what was told of a role: node, epoch, held."""
        turns = [(view.node, view.epoch, view.held) for _, view in self.views if view.role == role]
        return [turn for index, turn in enumerate(turns) if not index or turns[index - 1] != turn]

    def said(self, node: str, words: str) -> list[float]:
        """When a daemon logged something with these words."""
        return [entry.at for entry in self.loop.entries if entry.who == node and words in entry.what]


@dataclass
class Valve:
    """Anybody can write it; the pen is asked by the wire."""

    tree: Tree
    node: str
    scene: Scene
    target: str = f"{CDU}/valve"
    quantity: str = "coolant.valve"

    async def now_at(self) -> Setpoint:
        return Setpoint(target=self.target, quantity=self.quantity, value=30.0, unit="%")

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        await self.tree.order(scope, "valve", f"{self.node} {setpoint.value:g}\n")
        self.scene.puts.append((self.scene.loop.time(), self.node))

    async def hand_back(self, scope: str) -> Sight:
        await self.tree.order(scope, "valve", "auto\n")
        return Sight(effect=Effect.PRESENT)


@dataclass(frozen=True)
class Turn:
    """A loop that always has something to put."""

    name: str = "turn"
    scope: str = CDU
    period: float = PERIOD
    target: str = f"{CDU}/valve"
    watches: Mapping[str, float] = field(default_factory=dict)

    def start(self, now_at: Setpoint | None) -> None: ...

    def steer(self, seen: View, memory: None) -> tuple[None, Setpoint]:
        return None, Setpoint(target=self.target, quantity="coolant.valve", value=40.0, unit="%", until=seen.now)


def list_plugins(scene: Scene, settings: Settings) -> Sequence[Found]:
    """The valve and who turns it."""

    def make_handles(node: Node) -> Sequence[Valve]:
        return [Valve(node.wires.tree(str(scene.folder)), node.name, scene)]

    parts = SimpleNamespace(supernoded_handles=hookimpl(make_handles), supernoded_loops=hookimpl(lambda: [Turn()]))
    return [Found(name="turner", plugin=parts)]


def write_config(folder: Path, node: str, *, keys: bool) -> None:
    """The settings of one daemon of three, on one coolant loop."""
    rack = msgspec.structs.replace(generate_rack(3, 1), ups=(), pdus=())
    table = {
        "node": node,
        "mode": "act",
        "state": str(folder / node),
        "runtime": str(folder / node / "run"),
        "plugins_off": [found.name for found in discover(())],
        "mqtt": {"host": "broker"},
        "journal": {"database": "postgresql://supernoded@database/site"},
        "seats": {"term_s": TERM, "renew_s": RENEW, "candidates": {"*": list(NODES)}},
        "keys": write_keys(rack, node, folder) if keys else {},
        "nodes": [{"name": name, "cards": 1, "loop": "cdu0"} for name in NODES],
        "loops": [{"name": "cdu0"}],
    }
    (folder / f"{node}.toml").write_text(tomli_w.dumps(table))


def play(folder: Path, direct: Callable[[Scene], None], until: float, *, seed: int = 1, keys: bool = False) -> Scene:
    """Play a scene; `direct` says before it begins what happens when."""
    loop = SimLoop(seed)
    scene = Scene(loop, SimSite(loop, lambda settings: list_plugins(scene, settings), skew=0.4), folder)

    async def main() -> None:
        scene.site.broker.start()
        scene.site.database.start()
        loop.spawn("observer", partial(_observe, scene))
        for node in NODES:
            write_config(folder, node, keys=keys)
            scene.start(node)
        direct(scene)
        await asyncio.sleep(until)

    with virtual_time(loop):
        loop.run_until_complete(main())
        scene.failures += [f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures]
    return scene


async def _observe(scene: Scene) -> None:
    async with scene.site.broker.connect("observer", Message(topic="observer", payload=b"gone")) as link:
        await link.subscribe([topics.of_role_views("c0")])
        async for message in link.messages():
            scene.views.append((scene.loop.time(), topics.decode(message.payload, RoleView)))

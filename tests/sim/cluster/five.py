"""Five whole daemons on one loop; n0 has the role `fleet`. Each machine answers on port 22, as an ssh does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import supernoded_fleet
import supernoded_host
from sim_hardware.drives import SimSite
from sim_hardware.drives.keys import write_keys
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import Node as RackNode
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import EventTold, FleetTold, OutcomeTold
from supernoded.model import Event
from supernoded.registry import Found

NODES = tuple(f"n{number}" for number in range(5))
CONFIG = """\
node = "{node}"
mode = "act"
state = "{folder}/{node}"
runtime = "{folder}/{node}/run"
{seats}
[mqtt]
host = "broker"
[keys]
{keys}[incidents]
clear_after_s = 5.0
[plugins.fleet]
settle_s = 10.0
hold_after_s = 4.0
probation_s = 30.0
{more}
"""


@dataclass
class Heard:
    """What an observer on the broker heard, with the virtual time."""

    events: list[tuple[float, Event]] = field(default_factory=list)
    outcomes: list[tuple[float, OutcomeTold]] = field(default_factory=list)
    told: FleetTold | None = None
    failures: list[str] = field(default_factory=list)

    def raised(self, kind: str) -> list[tuple[float, str]]:
        """When which subject was raised."""
        return [(at, event.subject) for at, event in self.events if event.kind == kind and event.raised]

    def acted(self, kind: str) -> list[tuple[float, str, str]]:
        """What was done, when, and with which result."""
        return [(at, told.target, told.outcome.result.value) for at, told in self.outcomes if told.kind == kind]


class Five:
    """The site while it plays."""

    def __init__(self, folder: Path, seed: int, more: str, loops: Mapping[str, str], spares: str, plugin: object, skew: float) -> None:
        self.folder, self.loop, self.heard = folder, SimLoop(seed), Heard()
        self.site = SimSite(self.loop, lambda _: list_plugins(plugin), skew=skew)
        rack = Rack(nodes=tuple(RackNode(name=name, cards=1) for name in NODES))
        nodes = "".join(f'[[nodes]]\nname = "{name}"\ncards = 1\naddress = "{name}:22"\nloop = "{loops.get(name, "")}"\n' for name in NODES)
        for name in NODES:
            keys = "".join(f'{key} = "{file}"\n' for key, file in write_keys(rack, name, folder).items())
            fixed = f'roles = {{fleet = "n0", spares = "{spares}"}}'
            text = CONFIG.format(node=name, folder=folder, more=more, seats="" if "database" in more else fixed, keys=keys)
            (folder / f"{name}.toml").write_text(text + nodes)

    def start(self, name: str) -> None:
        """Start a daemon, or start it anew."""
        self.site.start(name, self.folder / f"{name}.toml")

    def kill(self, name: str) -> None:
        """Kill a daemon; its machine goes on."""
        self.loop.kill(self.loop.processes[name])

    def turn_off(self, name: str) -> None:
        """The whole machine."""
        self.kill(name)
        self.site.net.isolate(name)

    def turn_on(self, name: str) -> None:
        """The whole machine."""
        self.site.net.rejoin(name)
        self.start(name)


def list_plugins(plugin: object) -> Sequence[Found]:
    """The fleet's plugin, the one that performs notices, and a test's own."""
    ours = [Found(name="fleet", plugin=supernoded_fleet), Found(name="host", plugin=supernoded_host)]
    return ours if plugin is None else [*ours, Found(name="wanting", plugin=plugin)]


def play(
    folder: Path,
    script: Mapping[float, Callable[[Five], object]],
    seconds: float,
    *,
    seed: int = 1,
    more: str = "",
    loops: Mapping[str, str] = {},
    spares: str = "n0",
    plugin: object = None,
    skew: float = 0.0,
) -> Heard:
    """Play it: each call at its virtual second. `more` is TOML for all, `loops` says which node hangs in which.

    Each clock is `skew` seconds ahead of the one before.
    """
    five = Five(folder, seed, more, loops, spares, plugin, skew)
    loop, site = five.loop, five.site

    async def main() -> None:
        site.broker.start()
        site.database.start()
        loop.spawn("observer", lambda: _observe(five))
        for name in NODES:
            loop.spawn(f"{name}/ssh", _serve, host=name)
            five.start(name)
        for at, call in script.items():
            loop.at(at, partial(call, five))
        await asyncio.sleep(seconds)

    with virtual_time(loop):
        loop.run_until_complete(main())
        five.heard.failures = [f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures]
    return five.heard


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, None, 22)
    async with server:
        await server.serve_forever()


async def _observe(five: Five) -> None:
    loop, heard = five.loop, five.heard
    async with five.site.broker.connect("observer", Message(topic="observer", payload=b"gone")) as link:
        await link.subscribe(["supernode/#"])
        async for message in link.messages():
            leaf = message.topic.split("/")[5] if message.topic.count("/") > 4 else message.topic.rpartition("/")[2]
            if leaf == "event":
                heard.events.append((loop.time(), topics.decode(message.payload, EventTold).event))
            elif leaf == "outcome":
                heard.outcomes.append((loop.time(), topics.decode(message.payload, OutcomeTold)))
            elif leaf == "fleet":
                heard.told = topics.decode(message.payload, FleetTold)

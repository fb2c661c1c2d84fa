"""A part of a role sees what other nodes read, by digests, and says that it cannot when they are cut off."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from sim_hardware.drives import SimSite
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import Digest, EventTold
from supernoded.history import View
from supernoded.model import Event, Level, Reading, Severity, Verdict
from supernoded.plugin import hookimpl
from supernoded.registry import Found
from supernoded.settings import Settings

CONFIG = """\
node = "{node}"
state = "{folder}/{node}"
runtime = "{folder}/{node}/run"
roles = {{"ring/pod" = "n0"}}
plugins_off = ["ascend", "fabric", "host", "isolation", "link_ber", "network", "nvidia", "redfish", "ring"]
[mqtt]
host = "broker"
[[nodes]]
name = "n0"
cards = 1
[[nodes]]
name = "n1"
cards = 1
[[rings]]
name = "pod"
level = "cluster"
order = ["n0", "n1"]
"""
DOWN, CUT = 20.0, 40.0


@dataclass(frozen=True)
class Port:
    """The port of a node; that of n1 goes down, and up again."""

    node: str
    clock: Clock
    name: str = "port"
    scope: str = "node"
    period: float = 1.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        now = asyncio.get_running_loop().time()
        up = self.node == "n0" or not DOWN <= now < DOWN + 10.0
        subject = f"{self.node}/card0/port0"
        return [Reading(subject=subject, quantity="link.state", value=float(up), unit="1", at=self.clock.now())]


@dataclass(frozen=True)
class Watch:
    """Every port of the ring."""

    kind: str = "ring.watched"
    scope: str = "ring/pod"
    watches: Mapping[str, float] = field(default_factory=lambda: {"link.state": 60.0})

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Iterable[Verdict]]:
        return memory, [self._say(port, seen) for port in seen.subjects("link.state")]

    def _say(self, port: str, seen: View) -> Verdict:
        up = seen.number("link.state", port)
        level = Level.UNSURE if up is None else Level.CLEAR if up else Level.RAISED
        text = f"{port} by {' and '.join(seen.sources('link.state', port))}"
        return Verdict(kind=self.kind, subject=port, level=level, text=text, at=seen.now, severity=Severity.CRITICAL)


def plugins(settings: Settings) -> Sequence[Found]:
    parts = SimpleNamespace(
        supernoded_sensors=hookimpl(lambda node: [Port(node.name, node.clock)]),
        supernoded_rules=hookimpl(lambda: [Watch()]),
    )
    return [Found(name="watch", plugin=parts)]


@dataclass
class Heard:
    events: list[Event] = field(default_factory=list)
    digests: list[tuple[float, str]] = field(default_factory=list)
    states: dict[float, set[str]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    folder, loop, heard = tmp_path_factory.mktemp("roles"), SimLoop(1), Heard()

    async def observe(site: SimSite) -> None:
        async with site.broker.connect("observer", Message(topic="observer", payload=b"gone")) as link:
            await link.subscribe(["supernode/#"])
            async for message in link.messages():
                leaf = message.topic.rpartition("/")[2]
                if leaf == "event":
                    heard.events.append(topics.decode(message.payload, EventTold).event)
                elif leaf == "digest":
                    heard.digests.append((loop.time(), topics.decode(message.payload, Digest).node))

    async def main() -> None:
        site = SimSite(loop, plugins)
        site.broker.start()
        loop.spawn("observer", lambda: observe(site))
        for node in ("n0", "n1"):
            (folder / f"{node}.toml").write_text(CONFIG.format(node=node, folder=folder))
            site.start(node, folder / f"{node}.toml")
        loop.at(CUT, lambda: site.net.partition("n1", "broker"))
        await asyncio.sleep(CUT + 30.0)

    with virtual_time(loop):
        loop.run_until_complete(main())
    assert [failure.message for failure in loop.failures] == []
    return heard


def test_the_holder_judges_the_port_of_another_node_within_a_moment(heard: Heard) -> None:
    (raised, cleared) = (event for event in heard.events if event.kind == "ring.watched")
    assert (raised.subject, raised.scope, raised.raised, raised.text) == ("n1/card0/port0", "ring/pod", True, "n1/card0/port0 by port")
    assert cleared.raised is False
    assert cleared.at - raised.at == pytest.approx(10.0, abs=1.0)


def test_only_the_holder_judges(heard: Heard) -> None:
    assert len([event for event in heard.events if event.kind == "ring.watched"]) == 2


def test_digests_come_every_five_seconds_and_on_change_until_the_link_is_cut(heard: Heard) -> None:
    times = [at for at, node in heard.digests if node == "n1"]
    assert max(times) <= CUT + 0.5
    calm = [at for at in times if 5.0 < at < DOWN - 1.0]
    assert all(4.4 < later - earlier < 5.6 for earlier, later in itertools.pairwise(calm))
    assert len([at for at in times if DOWN <= at < DOWN + 2.0]) >= 1

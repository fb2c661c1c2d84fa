"""A role's remedy acts on a card of another node: whole daemons, signed commands, that node's own guards; without keys nothing is done."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from sim_hardware.drives import SimSite
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import OutcomeTold
from supernoded.history import View
from supernoded.model import Action, Effect, Level, Outcome, Reading, Result, Sight, Step, Verdict
from supernoded.parts import Case, World
from supernoded.plugin import hookimpl
from supernoded.registry import Found
from supernoded.settings import Settings
from tests.unit.cluster.nodekeys import make_issuer, write_keys

OFF = [
    "ascend",
    "fabric",
    "fleet",
    "host",
    "isolation",
    "kubernetes",
    "link_ber",
    "network",
    "nvidia",
    "redfish",
    "ring",
    "slurm",
    "thermal",
]
CONFIG = """\
node = "{node}"
mode = "act"
state = "{folder}/{node}"
runtime = "{folder}/{node}/run"
roles = {{"spares" = "n0", "fleet" = "n0"}}
plugins_off = {off}
{keys}
[mqtt]
host = "broker"
[policies.poking]
mode = "{mode}"
[[nodes]]
name = "n0"
cards = 1
[[nodes]]
name = "n1"
cards = 1
"""


@dataclass(frozen=True)
class Gauge:
    """A card that is bad, on n1."""

    node: str
    clock: Clock
    name: str = "gauge"
    scope: str = "node"
    period: float = 1.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        healthy = float(self.node != "n1")
        return [Reading(subject=f"{self.node}/card0", quantity="card.utilisation", value=healthy, unit="%", at=self.clock.now())]


@dataclass(frozen=True)
class Watch:
    kind: str = "card.bad"
    scope: str = "spares"
    watches: Mapping[str, float] = field(default_factory=lambda: {"card.utilisation": 60.0})

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        return memory, [
            Verdict(kind=self.kind, subject=card, level=Level.RAISED, text=f"{card} is bad", at=seen.now)
            for card in seen.subjects("card.utilisation")
            if seen.number("card.utilisation", card) == 0.0
        ]


@dataclass(frozen=True)
class Poke:
    answers: str = "card.bad"

    def next(self, case: Case, world: World, now: float) -> Step | None:
        if "poke" in case.done:
            return None
        return Step(name="poke", kind="acme.poke", target=case.incident.subject, reason="it is bad", patience=8.0)


@dataclass(frozen=True)
class Finger:
    """Pokes the cards of its own node."""

    node: str
    poked: list[str]
    kinds: frozenset[str] = frozenset({"acme.poke"})

    @property
    def targets(self) -> Sequence[str]:
        return (f"{self.node}/*",)

    async def apply(self, action: Action) -> None:
        self.poked.append(f"{action.step.target} on {self.node}")

    async def observe(self, action: Action) -> Sight:
        return Sight(effect=Effect.PRESENT if self.poked else Effect.ABSENT, text="it was poked" if self.poked else "")


@dataclass
class Played:
    poked: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)


def play(folder: Path, *, keys: bool = True, mode: str = "act") -> Played:
    loop, played = SimLoop(1), Played()

    def plugins(settings: Settings) -> Sequence[Found]:
        parts = SimpleNamespace(
            supernoded_sensors=hookimpl(lambda node: [Gauge(node.name, node.clock)]),
            supernoded_rules=hookimpl(lambda: [Watch()]),
            supernoded_remedies=hookimpl(lambda: [Poke()]),
            supernoded_actuators=hookimpl(lambda node: [Finger(node.name, played.poked)]),
        )
        return [Found(name="poking", plugin=parts)]

    async def observe(site: SimSite) -> None:
        async with site.broker.connect("observer", Message(topic="observer", payload=b"gone")) as link:
            await link.subscribe([topics.of_nodes("c0", "outcome")])
            async for message in link.messages():
                played.outcomes += [topics.decode(message.payload, OutcomeTold).outcome]

    async def main() -> None:
        site, issuer = SimSite(loop, plugins), make_issuer(now=loop.wall())
        site.broker.start()
        loop.spawn("observer", lambda: observe(site))
        for node in ("n0", "n1"):
            table = write_keys(folder, node, issuer, loop.wall())
            named = [f'{name} = "{getattr(table, name)}"' for name in ("key_file", "certificate_file", "ca_file")]
            mine = mode if node == "n1" else "act"
            config = CONFIG.format(node=node, folder=folder, keys="\n".join(["[keys]", *named] if keys else []), mode=mine, off=OFF)
            (folder / f"{node}.toml").write_text(config)
            site.start(node, folder / f"{node}.toml")
        async with asyncio.timeout(60.0):
            while not played.outcomes:
                await asyncio.sleep(0.5)

    with virtual_time(loop):
        loop.run_until_complete(main())
    assert [failure.message for failure in loop.failures] == []
    return played


def test_the_card_is_poked_by_its_own_node(tmp_path: Path) -> None:
    played = play(tmp_path)
    assert played.poked == ["n1/card0 on n1"]
    assert [outcome.result for outcome in played.outcomes] == [Result.DONE]


def test_what_that_nodes_mode_forbids_is_refused_with_its_sentence(tmp_path: Path) -> None:
    played = play(tmp_path, mode="observe")
    assert played.poked == []
    (outcome,) = played.outcomes
    assert outcome.result is Result.REFUSED
    assert outcome.text.startswith("n1: policy poking is in mode observe")


def test_without_keys_nothing_is_done_and_it_says_why(tmp_path: Path) -> None:
    played = play(tmp_path, keys=False)
    assert played.poked == []
    (outcome,) = played.outcomes
    assert outcome.result is Result.EXPIRED
    assert "this node has no key to sign with" in outcome.text

"""Five whole daemons whose network falls apart while each wants to take a card of its own out, and is whole again."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from sim_hardware.loop.play import virtual_time
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import RoleView
from supernoded.history import View
from supernoded.model import NODE, Level, Step, Verdict
from supernoded.parts import Case, World
from supernoded.plugin import Node, hookimpl
from tests.sim.cluster.five import NODES, Five

BROKER, DATABASE = "broker", "database"
KIND = "x.test.wanted"
CUT, WANTED, HEALED, ENDS = 12.0, 18.0, 40.0, 90.0  # virtual seconds: who is late is known soon after the cut; probations end in time
MORE = """\
[journal]
database = "postgresql://supernoded@database/site"
[seats]
term_s = 6.0
renew_s = 1.5
candidates = {"*" = ["n0", "n1", "n2", "n3", "n4"]}
[breakers]
cards_out = 100
per_cause = 100
per_hour = 100
"""

Sides = tuple[tuple[str, ...], ...]


def list_shapes(sides: int, names: Sequence[str] = NODES) -> Iterator[Sides]:
    """Every way in which the nodes fall into so many sides, with broker and database on any of them or on none."""
    for nodes in _split(names, sides):
        for broker, database in itertools.product(range(sides + 1), repeat=2):
            groups = [*map(list, nodes), [], []]
            groups[min(sides, broker)].append(BROKER)
            groups[database if database < sides else sides + 1].append(DATABASE)
            yield tuple(tuple(group) for group in groups if group)


def _split(nodes: Sequence[str], sides: int) -> Iterator[list[list[str]]]:
    """Every partition of a set into so many parts that are not empty."""
    if len(nodes) < sides or sides < 1:
        return
    if sides == 1:
        yield [list(nodes)]
        return
    first, rest = nodes[0], nodes[1:]
    for parts in _split(rest, sides - 1):
        yield [[first], *parts]
    for parts in _split(rest, sides):
        for index in range(len(parts)):
            yield [[first, *part] if index == place else list(part) for place, part in enumerate(parts)]


@dataclass(frozen=True)
class Want:
    """Raises this node's own card from a virtual second on."""

    node: Node
    begin: float  # seconds of virtual time by this node's clock
    kind: str = KIND
    scope: str = NODE
    watches: Mapping[str, float] = field(default_factory=lambda: {"host.uptime": 60.0})

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Iterable[Verdict]]:
        level = Level.RAISED if seen.now >= self.begin else Level.CLEAR
        card = f"{self.node.name}/card0"
        return memory, [Verdict(kind=KIND, subject=card, level=level, text=f"{card} is wanted out", at=seen.now)]


@dataclass(frozen=True)
class Out:
    """Holds it."""

    answers: str = KIND

    def next(self, case: Case, world: World, now: float) -> tuple[Step, ...]:
        del world, now
        details = {"cause": "fault", "serial": ""}
        step = Step(name="1-hold", kind="card.hold", target=case.incident.subject, reason="r", patience=12.0, details=details)
        return () if step.name in case.done or step.name in case.running else (step,)


@dataclass
class Seen:
    """What came of it."""

    sides: Sides
    done: dict[str, str]  # what each node's want came to
    holds: dict[str, list[tuple[str, str]]]  # by node: id and subject of what stands at the end
    holders: dict[str, list[str]]  # by role: who says at the end that he has it
    first: str  # who had the role `fleet` before
    failures: list[str]

    def faults(self) -> Iterator[str]:
        """Everything that must not be."""
        side = next(side for side in self.sides if BROKER in side)
        here = [node for node in NODES if node in side]
        out = sorted(node for node, result in self.done.items() if result == "done")
        if out and 2 * len(here) <= len(NODES):
            yield f"{out} took cards out on a side of {len(here)}"
        if not set(out) <= set(here):
            yield f"{out} took cards out, not all of them on the side {here}"
        if self.first in here and DATABASE in side and 2 * len(here) > len(NODES) and out != here:
            yield f"of {here} only {out} took cards out"
        if len({tuple(holds) for holds in self.holds.values()}) != 1:
            yield f"the nodes do not agree on holds: {self.holds}"
        for node, holds in self.holds.items():
            if sorted(subject for _, subject in holds if "/" in subject) != [f"{one}/card0" for one in out]:
                yield f"{node} has the holds {holds}, and {out} took cards out"
        for role, nodes in self.holders.items():
            if len(nodes) != 1:
                yield f"{role} is had by {nodes}"
        yield from self.failures


def play_partition(folder: Path, sides: Sides, seed: int = 1) -> Seen:
    """Play one shape in a fresh folder."""
    epoch = 1_800_000_000.0
    plugin = SimpleNamespace(
        supernoded_rules=hookimpl(lambda node: [Want(node, epoch + WANTED)]), supernoded_remedies=hookimpl(lambda: [Out()])
    )
    five = Five(folder, seed, MORE, {}, "n0", plugin, 0.0)
    loop, site = five.loop, five.site
    views: list[RoleView] = []
    first: list[str] = []

    async def main() -> None:
        site.broker.start()
        site.database.start()
        loop.spawn("observer", partial(_observe, five, views))
        for name in NODES:
            five.start(name)
        for one, other in itertools.combinations(sides, 2):
            for here, there in itertools.product(one, other):
                loop.at(CUT, site.net.partition, here, there)
                loop.at(HEALED, site.net.heal, here, there)
        await asyncio.sleep(CUT - 0.5)
        first.extend(_list_holders(views).get("fleet", []))
        await asyncio.sleep(ENDS - CUT)

    with virtual_time(loop):
        loop.run_until_complete(main())
        failures = [f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures]
    return Seen(sides, _read_done(folder), _read_holds(folder), _list_holders(views), "".join(first), failures)


async def _observe(five: Five, views: list[RoleView]) -> None:
    async with five.site.broker.connect("observer", Message(topic="observer", payload=b"gone")) as link:
        await link.subscribe([topics.of_role_views("c0")])
        async for message in link.messages():
            view = topics.decode(message.payload, RoleView)
            views.append(view)


def _list_holders(views: Iterable[RoleView]) -> dict[str, list[str]]:
    """Who says that he has each role: the last word of each node on it, and the highest epoch counts."""
    last = {(view.role, view.node): view for view in views}
    roles: dict[str, list[str]] = {}
    for (role, node), view in sorted(last.items()):
        newest = max(other.epoch for (name, _), other in last.items() if name == role)
        if view.held and view.epoch == newest:
            roles.setdefault(role, []).append(node)
    return roles


def _read_done(folder: Path) -> dict[str, str]:
    found = {}
    for name in NODES:
        with sqlite3.connect(folder / name / "journal.db") as db:
            rows = db.execute("SELECT result FROM actions WHERE kind = 'card.hold' AND policy = 'wanting'").fetchall()
        found[name] = "+".join(str(row[0]) for row in rows)
    return found


def _read_holds(folder: Path) -> dict[str, list[tuple[str, str]]]:
    found = {}
    for name in NODES:
        with sqlite3.connect(folder / name / "journal.db") as db:
            found[name] = [
                (str(id_), str(subject)) for id_, subject in db.execute("SELECT id, subject FROM holds WHERE lifted IS NULL ORDER BY id")
            ]
    return found

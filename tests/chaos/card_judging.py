"""What came of a card that is replaced: read off the plant, and off the journals only where the plant cannot know."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sim_hardware.loop.explorer import Crash
from sim_hardware.plant.cards.orders import IsolateCard
from sim_hardware.plant.words import Happening
from tests.chaos.card_site import RANK, SPARE, VICTIM, VICTIMS, CardSite

FAILS_AT = 14.0  # virtual seconds: a step is durable by then
NEVER = 1e5  # s: who is gone so long has gone for good
KINDS = ("card.silent", "card.faulty", "card.software", "rank.silent")
STEPS = {
    "card.hang": ("capture", "hold", "abort", "fence", "test", "remap", "resume", "tell"),
    "card.code": ("capture", "save", "hold", "test", "abort", "fence", "remap", "resume", "tell"),
}


# The job's own save may come first: see `unsaved`. A bundle may be looked for while a daemon is frozen; nothing waits for it.
MAY_BE = frozenset({("save", "unconfirmed"), ("capture", "unconfirmed")})


@dataclass(frozen=True)
class Row:
    """One action of the journals, by virtual time."""

    step: str
    result: str | None
    intended: float
    concluded: float
    text: str

    @property
    def verb(self) -> str:
        """Of `1-fence-n1/card1`."""
        return self.step.split("-")[1]


@dataclass
class Ending:
    """What the world shows after the scene, and where the strike fell."""

    scene: str
    struck: str  # the daemon that is
    orders: Counter[str]  # that reached the plant
    fences: int  # calls of the site's own fence on the card's node
    isolated: list[str]
    rank: str
    world: float
    state: str
    stepped: float  # when it was first seen to step on the spare; inf = never
    happened: Counter[str]
    unsaved: bool  # a job that ran was ended without a step that is newer than the trouble
    rows: list[Row]
    incidents: list[tuple[str, str]]
    holds: dict[str, list[tuple[str, str, str]]]  # by node: id, subject, owner
    digest: str
    ghosts: int
    where: str
    turns: int
    due: float
    second_life: bool
    failures: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """Everything that must not be."""
        judges = (self._judge_counts, self._judge_plant, self._judge_steps, self._judge_agreement, self._judge_lives)
        return [fault for judge in judges for fault in judge()]

    def _judge_counts(self) -> Iterator[str]:
        for order, count in sorted(self.orders.items()):
            if count != 1:
                yield f"{order} reached the plant {count} times"
        for kind in ("card.isolated", "job.aborted", "job.remapped", "job.resumed"):
            if self.happened[kind] != 1:
                yield f"{kind} happened {self.happened[kind]} times"
        if self.fences > 1 + (self.struck == VICTIMS):
            yield f"the fence was called {self.fences} times"

    def _judge_plant(self) -> Iterator[str]:
        if self.unsaved:
            yield "the running job was ended without a step that was saved after the trouble began"
        if self.isolated != [VICTIM]:
            yield f"{self.isolated} are isolated"
        if self.rank != SPARE:
            yield f"rank {RANK} is on {self.rank}"
        if (self.world, self.state) not in ((4.0, "running"), (4.0, "saving")):
            yield f"the job is {self.state} with {self.world:g} ranks"
        if self.stepped > self.due:
            yield f"the job steps at {self.stepped:.1f} s, later than {self.due:.1f} s"

    def _judge_steps(self) -> Iterator[str]:
        concluded = Counter(row.verb for row in self.rows if row.result is not None)
        for verb in STEPS[self.scene]:
            if concluded[verb] != 1 and (verb, concluded[verb]) != ("save", 0):
                yield f"{verb} concluded {concluded[verb]} times"
        for row in self.rows:
            if row.verb.startswith("back"):  # a test on its way back, begun while its node was not heard: what it fails it stays out for
                continue
            if row.verb not in STEPS[self.scene]:
                yield f"{row.verb} was done, too"
            if row.result != "done" and (row.verb, row.result) not in MAY_BE:
                yield f"{row.verb} came to {row.result}: {row.text}"

    def _judge_agreement(self) -> Iterator[str]:
        if len(self.incidents) != 1:
            yield f"{len(self.incidents)} incidents: {self.incidents}"
        told = {tuple(holds) for holds in self.holds.values()}
        if len(told) != 1:
            yield f"the nodes do not agree on holds: {self.holds}"
        for node, holds in self.holds.items():
            if [(subject, owner) for _, subject, owner in holds] != [(VICTIM, "isolation")]:
                yield f"{node} has the holds {holds}"

    def _judge_lives(self) -> Iterator[str]:
        if self.ghosts:
            yield f"{self.ghosts} writes by the dead"
        if not self.second_life:
            yield "the second life never started"
        yield from self.failures


def read_rows(site: CardSite) -> list[Row]:
    """The steps of the sagas, as whoever had the role has written them."""
    epoch = site.loop.wall() - site.loop.time()
    names = [site.folder / node / "journal.db" for node in site.nodes] + [site.folder / "database.db"]
    query = "SELECT a.step, a.result, a.intended, a.concluded, a.outcome FROM actions a JOIN incidents i ON a.incident = i.id"
    found = []
    for name in names:
        for step, result, intended, concluded, text in ask(name, f"{query} WHERE a.origin = '' AND i.kind IN {KINDS}"):
            found.append(Row(step, result, intended - epoch, math.inf if concluded is None else concluded - epoch, text or ""))
    return sorted(found, key=lambda row: row.intended)


def read_holds(site: CardSite) -> dict[str, list[tuple[str, str, str]]]:
    """What stands, by each daemon that lives: id, subject, owner."""
    query = "SELECT id, subject, owner FROM holds WHERE lifted IS NULL ORDER BY id"
    alive = [node for node in site.nodes if not site.loop.processes[node].dead]
    return {node: [(str(id_), str(of), str(owner)) for id_, of, owner in ask(site.folder / node / "journal.db", query)] for node in alive}


def ask(name: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows of a journal; none where there is none."""
    if not name.exists():
        return []
    with sqlite3.connect(name) as db:
        return db.execute(query).fetchall()


def look(site: CardSite, scene: str, struck: str, crash: Crash, stepped: float, due: float) -> Ending:
    """At the end of a scene."""
    names = {node: site.folder / node / "journal.db" for node in site.nodes}
    incidents = [
        row
        for name in (*names.values(), site.folder / "database.db")
        for row in ask(name, f"SELECT kind, subject FROM incidents WHERE origin = '' AND kind IN {KINDS}")
    ]
    rows = read_rows(site)
    orders = Counter(name_order(order) for at, order in site.orders if at >= FAILS_AT)
    return Ending(
        scene=scene,
        struck=struck,
        orders=orders,
        fences=sum(node == VICTIMS for _, node in site.fences) - sum(row.verb.startswith("back") for row in rows),
        isolated=site.list_isolated(),
        rank=site.find_rank(RANK),
        world=float(site.sense("job.world_size")),
        state=str(site.sense("job.state")),
        stepped=stepped,
        happened=Counter(one.kind for one in site.rig.world.happened),
        unsaved=scene == "card.code" and not any(one.kind == "checkpoint.committed" for one in _list_between(site)),
        rows=rows,
        incidents=incidents,
        holds=read_holds(site),
        digest="",
        ghosts=site.site.net.ghosts,
        where=find_place(crash.at, rows),
        turns=0,
        due=due,
        second_life=crash.k == 0 or crash.back_after == NEVER or (crash.second_life is not None and not crash.second_life.dead),
        failures=[f"{failure.process}: {failure.message}: {failure.error!r}" for failure in site.loop.failures],
    )


def _list_between(site: CardSite) -> list[Happening]:
    """What happened to the plant between the fault and the end of the collective."""
    ended = next((one.at for one in site.rig.world.happened if one.kind == "job.aborted"), math.inf)
    return [one for one in site.rig.world.happened if FAILS_AT <= one.at <= ended]


def name_order(order: object) -> str:
    """As `IsolateCard n1/card1`."""
    return f"{type(order).__name__} {order.card} {order.isolated}" if isinstance(order, IsolateCard) else type(order).__name__


def find_place(at: float | None, rows: list[Row]) -> str:
    """During which steps the strike fell."""
    if at is None:
        return "none"
    under_way = [row.verb for row in rows if row.intended <= at < row.concluded]
    return "+".join(sorted(set(under_way))) or "between"

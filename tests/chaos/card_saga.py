"""A scene of the crash tests: a card fails, and while it is replaced one daemon is killed or paused before one of its turns.

What came of it is read off the plant, and off the journals only where the plant cannot know.
"""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from sim_hardware.loop import SimLoop
from sim_hardware.loop.explorer import Crash, How
from sim_hardware.loop.play import virtual_time
from sim_hardware.plant.cards.orders import IsolateCard
from sim_hardware.plant.words import Happening
from tests.chaos.card_site import CODE, HOLDER, NODES, RANK, SPARE, VICTIM, CardSite, wait_until

FAILS_AT = 14.0  # virtual seconds: a step is durable by then
WITHIN = 60.0  # s until the job steps on a spare (design section 14: max(15 s, 3 p95 steps) + 45 s), and what a strike takes comes on top
AFTER = 12.0  # s that are still played, so that what is done twice shows
SETTLES = 20.0  # s beside an outage for a daemon that comes back: start, link, digests, retained holds
KINDS = ("card.silent", "card.faulty", "card.software", "rank.silent")
STEPS = {
    "card.hang": ("capture", "hold", "abort", "fence", "test", "remap", "resume", "tell"),
    "card.code": ("capture", "save", "hold", "test", "abort", "fence", "remap", "resume", "tell"),
}


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
    orders: Counter[str]  # that reached the plant
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
        return [*self._judge_plant(), *self._judge_journals(), *self._judge_lives()]

    def _judge_plant(self) -> Iterator[str]:
        for order, count in sorted(self.orders.items()):
            if count != 1:
                yield f"{order} reached the plant {count} times"
        for kind in ("card.isolated", "job.aborted", "job.remapped", "job.resumed"):
            if self.happened[kind] != 1:
                yield f"{kind} happened {self.happened[kind]} times"
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

    def _judge_journals(self) -> Iterator[str]:
        concluded = Counter(row.verb for row in self.rows if row.result is not None)
        for verb in STEPS[self.scene]:
            if concluded[verb] != 1 and (verb, concluded[verb]) != ("save", 0):
                yield f"{verb} concluded {concluded[verb]} times"
        for row in self.rows:
            if row.verb not in STEPS[self.scene]:
                yield f"{row.verb} was done, too"
            if row.result != "done":
                yield f"{row.verb} came to {row.result}: {row.text}"
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


def play_saga(
    folder: Path, scene: str, node: str, crash: Crash, seed: int = 7, *, taken: Mapping[str, list[float]] | None = None
) -> Ending:
    """Play it in a folder of its own; `crash` strikes the daemon of `node`. `taken` gets the times of the daemons' turns."""
    folder.mkdir(parents=True, exist_ok=True)
    loop = SimLoop(seed)
    site = CardSite(loop, folder)
    stepped: list[float] = []

    def steps() -> bool:
        if site.find_rank(RANK) == SPARE and site.sense("job.state") == "running":
            stepped.append(loop.time())
        return bool(stepped)

    outage = crash.back_after + SETTLES if crash.k else 0.0

    async def main() -> Ending:
        async with site.run():
            if taken is None:
                crash.arm(loop, loop.processes[node], lambda: site.start(node))
            else:
                _count_turns(loop, taken)
            begin = {"card.hang": lambda: site.begin("card.hang", VICTIM), "card.code": lambda: site.begin("card.code", VICTIM, code=CODE)}
            loop.at(FAILS_AT, begin[scene])
            await asyncio.sleep(FAILS_AT)
            await wait_until(steps, WITHIN + outage)
            await wait_until(lambda: has_told(site), 30.0, every=2.0)
            await asyncio.sleep(AFTER)
            return _look(site, scene, crash, min(stepped, default=math.inf), FAILS_AT + WITHIN + outage)

    with virtual_time(loop):
        ending = loop.run_until_complete(main())
        ending.digest, ending.turns = loop.digest(), crash.turns
        return ending


def _count_turns(loop: SimLoop, taken: Mapping[str, list[float]]) -> None:
    for name, times in taken.items():
        loop.processes[name].before_turn = lambda _, times=times: times.append(loop.time())


def has_told(site: CardSite) -> bool:
    """Whether people have heard how it ended, and so the saga is over."""
    return any(row.verb == "tell" and row.result for row in read_rows(site))


def read_rows(site: CardSite) -> list[Row]:
    """The steps of the sagas, as whoever had the role has written them."""
    epoch = site.loop.wall() - site.loop.time()
    names = [site.folder / node / "journal.db" for node in NODES] + [site.folder / "database.db"]
    query = "SELECT a.step, a.result, a.intended, a.concluded, a.outcome FROM actions a JOIN incidents i ON a.incident = i.id"
    found = []
    for name in names:
        for step, result, intended, concluded, text in _ask(name, f"{query} WHERE a.origin = '' AND i.kind IN {KINDS}"):
            found.append(Row(step, result, intended - epoch, math.inf if concluded is None else concluded - epoch, text or ""))
    return sorted(found, key=lambda row: row.intended)


def _ask(name: Path, query: str) -> list[tuple]:  # type: ignore[type-arg]
    if not name.exists():
        return []
    with sqlite3.connect(name) as db:
        return db.execute(query).fetchall()


def _look(site: CardSite, scene: str, crash: Crash, stepped: float, due: float) -> Ending:
    names = {node: site.folder / node / "journal.db" for node in NODES}
    incidents = [
        row
        for name in (*names.values(), site.folder / "database.db")
        for row in _ask(name, f"SELECT kind, subject FROM incidents WHERE origin = '' AND kind IN {KINDS}")
    ]
    rows = read_rows(site)
    orders = Counter(name_order(order) for at, order in site.orders if at >= FAILS_AT)
    return Ending(
        scene=scene,
        orders=orders,
        isolated=site.list_isolated(),
        rank=site.find_rank(RANK),
        world=float(site.sense("job.world_size")),
        state=str(site.sense("job.state")),
        stepped=stepped,
        happened=Counter(one.kind for one in site.rig.world.happened),
        unsaved=scene == "card.code" and not any(one.kind == "checkpoint.committed" for one in _list_between(site)),
        rows=rows,
        incidents=incidents,
        holds={
            node: [tuple(row) for row in _ask(name, "SELECT id, subject, owner FROM holds WHERE lifted IS NULL ORDER BY id")]
            for node, name in names.items()
        },
        digest="",
        ghosts=site.site.net.ghosts,
        where=find_place(crash.at, rows),
        turns=0,
        due=due,
        second_life=crash.k == 0 or (crash.second_life is not None and not crash.second_life.dead),
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


@dataclass(frozen=True)
class Reference:
    """The scene without a strike: its window, from before the incident until after the last outcome, and how many turns each daemon has in it."""

    ending: Ending
    window: tuple[float, float]
    turns: dict[str, int]

    def spread(self, node: str, points: int, seed: int) -> list[int]:
        """So many of a daemon's turns, evenly spread, others for another seed."""
        turns, offset = self.turns[node], Random(seed).random()
        return [int((number + offset) * turns / points) + 1 for number in range(points)]


def play_reference(folder: Path, scene: str) -> Reference:
    """Play it once and count the turns of all daemons."""
    taken: dict[str, list[float]] = {node: [] for node in NODES}
    ending = play_saga(folder, scene, HOLDER, Crash(How.KILL, 0, (0.0, 0.0), 0.0), taken=taken)
    window = (ending.rows[0].intended - 0.5, ending.rows[-1].concluded + 0.5)
    return Reference(ending, window, {node: sum(window[0] <= at <= window[1] for at in times) for node, times in taken.items()})

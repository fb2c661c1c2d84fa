"""Twenty minutes in which cards, ranks, daemons, broker, database, network and clocks fail at random: what must hold whatever comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from sim_hardware.faults.kind import FaultError
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.plant.words import PlantError
from tests.chaos.card_judging import Row, ask, read_holds, read_rows
from tests.chaos.card_site import CODE, FOURTH, JOB, LEASED, NODES, CardSite, make_rack

BEGINS, QUIET, ENDS = 20.0, 840.0, 1200.0  # virtual seconds: no fault lasts beyond `QUIET`
GAP = (20.0, 100.0)  # s between two faults
CARDS = tuple(f"{node}/card{slot}" for node in NODES for slot in range(2))
DAEMONS = (*NODES, FOURTH)
MOST_OUT = 4  # breakers.cards_out, as it comes
SETTINGS = f"{LEASED}probation_s = 60.0\nretest_s = 120.0\nagain_s = 300.0\n"

KINDS: Mapping[str, tuple[Sequence[str], tuple[float, float], Mapping[str, Any]]] = {
    "card.hang": (CARDS, (60.0, 240.0), {}),
    "card.code": (CARDS, (60.0, 240.0), {"code": CODE}),
    "job.rank_silent": (tuple(f"{JOB}/rank{rank}" for rank in range(4)), (30.0, 120.0), {}),
    "daemon.killed": (DAEMONS, (1.0, 30.0), {}),
    "broker.lost": (("broker",), (2.0, 30.0), {}),
    "net.partition": (("network",), (5.0, 40.0), {}),
    "database.lost": (("database",), (2.0, 40.0), {}),
    "node.clock": (DAEMONS, (10.0, 60.0), {"seconds": 120.0}),
}


@dataclass(frozen=True)
class Blow:
    """One fault of a storm."""

    at: float
    until: float
    kind: str
    target: str
    parameters: Mapping[str, Any]


def draw_storm(seed: int) -> tuple[Blow, ...]:
    """The faults of a seed, in the order in which they begin; one of a kind and target ends before the next begins."""
    dice, at, blows = Random(f"storm {seed}"), BEGINS, list[Blow]()
    free: dict[tuple[str, str], float] = {}
    while at < QUIET:
        kind = dice.choice(list(KINDS))
        targets, (least, most), parameters = KINDS[kind]
        target, lasts = dice.choice(targets), dice.uniform(least, most)
        if kind == "net.partition":
            parameters = {"groups": " ".join(dice.sample(DAEMONS, dice.choice((1, 1, 2))))}
        if free.get((kind, target), 0.0) < at:
            until = min(at + lasts, QUIET)
            blows.append(Blow(at, until, kind, target, parameters))
            free[kind, target] = until + 1.0
        at += dice.uniform(*GAP)
    return tuple(blows)


@dataclass
class Aftermath:
    """What was seen while it blew, and what is left."""

    blows: tuple[Blow, ...]
    isolated: set[str]  # at any time
    suspects: set[str]  # cards that had a fault, or a rank that was silent on them
    most_out: int
    state: str
    steps: float  # of the job in the last minute
    world: float
    rows: list[Row]
    holds: dict[str, list[tuple[str, str, str]]]
    open_: set[str]  # subjects of the open incidents
    failures: list[str] = field(default_factory=list)

    def faults(self) -> Iterator[str]:
        """Everything that must not be."""
        if healthy := sorted(self.isolated - self.suspects):
            yield f"{healthy} were isolated, and nothing was wrong with them"
        if self.most_out > MOST_OUT:
            yield f"{self.most_out} cards were out at once"
        told = any(row.step.endswith("tell-stopped") and row.result == "done" for row in self.rows)
        if self.steps <= 0.0 and not told:
            yield f"the job is {self.state}, steps no more, and nobody was told"
        if self.world not in (4.0, 2.0):
            yield f"the job has {self.world:g} ranks: a replica has 2"
        if len({tuple(holds) for holds in self.holds.values()}) != 1:
            yield f"the nodes do not agree on holds: {self.holds}"
        for id_, subject, owner in next(iter(self.holds.values())):
            if owner not in {"isolation", "fleet"}:
                yield f"hold {id_} on {subject} is of {owner!r}"
            elif subject not in self.open_:
                yield f"hold {id_} of {owner} on {subject} has no open incident that would lift it"
        yield from self.failures


def play_storm(folder: Path, seed: int) -> Aftermath:
    """Play it in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    loop = SimLoop(seed)
    site, blows = CardSite(loop, folder, settings=SETTINGS, rack=make_rack(fourth=True)), draw_storm(seed)
    isolated, suspects, outs, steps = set[str](), set[str](), [0], list[float]()

    def strike(blow: Blow) -> None:
        suspects.add(site.find_rank(int(blow.target[-1])) if blow.kind == "job.rank_silent" else blow.target)
        with suppress(FaultError, PlantError):  # what cannot be broken now is not
            site.begin(blow.kind, blow.target, **blow.parameters)

    def lift(blow: Blow) -> None:
        with suppress(FaultError, PlantError):
            site.end(blow.kind, blow.target, **blow.parameters)

    def look() -> None:
        out = site.list_isolated()
        isolated.update(out)
        outs.append(len(out))
        if loop.time() > ENDS - 60.0:
            steps.append(float(site.sense("job.step")))
        loop.after(1.0, look)

    async def main() -> Aftermath:
        async with site.run():
            look()
            for blow in blows:
                loop.at(blow.at, partial(strike, blow))
                loop.at(blow.until, partial(lift, blow))
            await asyncio.sleep(ENDS)
            names = [folder / "database.db", *(folder / node / "journal.db" for node in site.nodes)]
            return Aftermath(
                blows=blows,
                isolated=isolated,
                suspects=suspects,
                most_out=max(outs),
                state=str(site.sense("job.state")),
                steps=steps[-1] - steps[0],
                world=float(site.sense("job.world_size")),
                rows=read_rows(site),
                holds=read_holds(site),
                open_={row[0] for name in names for row in ask(name, "SELECT subject FROM incidents WHERE closed IS NULL")},
                failures=[f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures],
            )

    with virtual_time(loop):
        return loop.run_until_complete(main())

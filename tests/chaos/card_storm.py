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
from tests.chaos.card_spares import Blow, Glimpse, Held, glimpse, judge_holds, judge_replicas, read_past_holds

BEGINS, QUIET, ENDS = 20.0, 840.0, 1200.0  # virtual seconds: no fault lasts beyond `QUIET`
OUTAGE = 200.0  # s: longer than probations, resends, leases and what a hold is asked for, shorter than spares are waited for
GAP = (20.0, 100.0)  # s between two pairs of faults
SOON = (1.0, 40.0)  # s between an outage and the card that fails, whichever comes first: so that they fall into each other
CARDS = tuple(f"{node}/card{slot}" for node in NODES for slot in range(2))
DAEMONS = (*NODES, FOURTH)
MACHINES = (*DAEMONS, "broker", "database")
MOST_OUT = 4  # breakers.cards_out, as it comes
SETTINGS = (
    f"{LEASED}probation_s = 60.0\nretest_s = 120.0\nagain_s = 300.0\n"
    "[guards]\nattempts_per_subject = 50\n[breakers]\nper_hour = 50\nper_cause = 50\n"  # or a storm would be over after the third card
)

KINDS: Mapping[str, tuple[Sequence[str], tuple[float, float], Mapping[str, Any]]] = {
    "card.hang": (CARDS, (60.0, 240.0), {}),
    "card.code": (CARDS, (60.0, 240.0), {"code": CODE}),
    "job.rank_silent": (tuple(f"{JOB}/rank{rank}" for rank in range(4)), (30.0, 120.0), {}),
    "daemon.killed": (DAEMONS, (1.0, OUTAGE), {}),
    "broker.lost": (("broker",), (2.0, OUTAGE), {}),
    "net.partition": (("network",), (5.0, OUTAGE), {}),
    "database.lost": (("database",), (2.0, OUTAGE), {}),
    "node.clock": (DAEMONS, (10.0, 60.0), {"seconds": 120.0}),
}
TROUBLES, OUTAGES = tuple(KINDS)[:3], tuple(KINDS)[3:]


def draw_storm(seed: int) -> tuple[Blow, ...]:
    """The faults of a seed, in the order in which they begin; one of a kind and target ends before the next begins."""
    dice, at, blows = Random(f"storm {seed}"), BEGINS, list[Blow]()
    free: dict[tuple[str, str], float] = {}
    while at < QUIET:
        pair = [dice.choice(TROUBLES), dice.choice(OUTAGES)]
        for kind, gap in zip(dice.sample(pair, 2), (SOON, GAP), strict=True):
            blow = _draw_blow(dice, at, kind)
            if free.get((kind, blow.target), 0.0) < at < QUIET:
                blows.append(blow)
                free[kind, blow.target] = blow.until + 1.0
            at += dice.uniform(*gap)
    return tuple(blows)


def _draw_blow(dice: Random, at: float, kind: str) -> Blow:
    targets, (least, most), parameters = KINDS[kind]
    target, until = dice.choice(targets), min(at + dice.uniform(least, most), QUIET)
    if kind == "net.partition":
        parameters = {"groups": " ".join(dice.sample(MACHINES, dice.choice((1, 2, 3))))}
    return Blow(at, until, kind, target, parameters)


@dataclass
class Aftermath:
    """What was seen while it blew, and what is left."""

    blows: Sequence[Blow]
    isolated: set[str]  # at any time
    most_out: int
    state: str
    steps: float  # of the job in the last minute
    world: float
    rows: list[Row]
    holds: dict[str, list[tuple[str, str, str]]]
    open_: set[str]  # subjects of the open incidents
    seen: list[Glimpse]
    ended: list[float]  # when the job's collective was
    struck: dict[str, float]  # when each of the suspects first was
    past: list[Held]  # holds of all daemons, lifted or not
    failures: list[str] = field(default_factory=list)

    def faults(self) -> Iterator[str]:
        """Everything that must not be."""
        if healthy := sorted(self.isolated - set(self.struck)):
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
        yield from judge_replicas(self.seen, self.ended, self.blows, self.past)
        yield from sorted(set(judge_holds(self.past, self.struck)))
        yield from self.failures


def play_storm(folder: Path, seed: int, blows: Sequence[Blow] = (), ends: float = ENDS) -> Aftermath:
    """Play it in a folder of its own: the faults of the seed, or others that are given, until `ends` in virtual seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    loop = SimLoop(seed)
    site, blows = CardSite(loop, folder, settings=SETTINGS, rack=make_rack(fourth=True)), blows or draw_storm(seed)
    isolated, struck, outs, steps, seen = set[str](), dict[str, float](), [0], list[float](), list[Glimpse]()

    def strike(blow: Blow) -> None:
        struck.setdefault(site.find_rank(int(blow.target[-1])) if blow.kind == "job.rank_silent" else blow.target, loop.time())
        with suppress(FaultError, PlantError):  # what cannot be broken now is not
            site.begin(blow.kind, blow.target, **blow.parameters)

    def lift(blow: Blow) -> None:
        with suppress(FaultError, PlantError):
            site.end(blow.kind, blow.target, **blow.parameters)

    def look() -> None:
        out = site.list_isolated()
        isolated.update(out)
        outs.append(len(out))
        seen.append(glimpse(site))
        if loop.time() > ends - 60.0:
            steps.append(float(site.sense("job.step")))
        loop.after(1.0, look)

    async def main() -> Aftermath:
        async with site.run():
            look()
            for blow in blows:
                loop.at(blow.at, partial(strike, blow))
                loop.at(blow.until, partial(lift, blow))
            await asyncio.sleep(ends)
            names = [folder / "database.db", *(folder / node / "journal.db" for node in site.nodes)]
            return Aftermath(
                blows=blows,
                isolated=isolated,
                most_out=max(outs),
                state=str(site.sense("job.state")),
                steps=steps[-1] - steps[0],
                world=float(site.sense("job.world_size")),
                rows=read_rows(site),
                holds=read_holds(site),
                open_={row[0] for name in names for row in ask(name, "SELECT subject FROM incidents WHERE closed IS NULL")},
                seen=seen,
                ended=[one.at for one in site.rig.world.happened if one.kind == "job.aborted"],
                struck=struck,
                past=read_past_holds(site),
                failures=[f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures],
            )

    with virtual_time(loop):
        return loop.run_until_complete(main())

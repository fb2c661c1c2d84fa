"""A scene of the crash tests: a card fails, and while it is replaced one daemon is killed or paused before one of its turns."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sim_hardware.loop import Process, SimLoop
from sim_hardware.loop.explorer import Crash, How
from sim_hardware.loop.play import virtual_time
from tests.chaos.card_judging import FAILS_AT, NEVER, Ending, look, read_rows
from tests.chaos.card_site import CODE, HOLDER, LEASED, RANK, SPARE, VICTIM, CardSite, make_rack, wait_until

WITHIN = 60.0  # s until the job steps on a spare (design section 14: max(15 s, 3 p95 steps) + 45 s), and what a strike takes comes on top
AFTER = 12.0  # s that are still played, so that what is done twice shows
SETTLES = 20.0  # s beside an outage for a daemon that comes back: start, link, digests, retained holds


def play_saga(
    folder: Path,
    scene: str,
    node: str,
    crash: Crash,
    seed: int = 7,
    *,
    leased: bool = False,
    taken: dict[str, list[float]] | None = None,
) -> Ending:
    """Play it in a folder of its own; `crash` strikes the daemon of `node`. `taken` gets the times of the daemons' turns."""
    folder.mkdir(parents=True, exist_ok=True)
    loop = SimLoop(seed)
    site = CardSite(loop, folder, settings=LEASED, rack=make_rack(fourth=True)) if leased else CardSite(loop, folder)
    stepped: list[float] = []

    def steps() -> bool:
        if site.find_rank(RANK) == SPARE and site.sense("job.state") == "running":
            stepped.append(loop.time())
        return bool(stepped)

    returns = crash.back_after < NEVER
    outage = (crash.back_after if returns else 0.0) + SETTLES if crash.k else 0.0

    async def main() -> Ending:
        async with site.run():
            if taken is None:
                crash.arm(loop, loop.processes[node], lambda: site.start(node))
            else:
                _count_turns(site, taken)
            begin = {"card.hang": lambda: site.begin("card.hang", VICTIM), "card.code": lambda: site.begin("card.code", VICTIM, code=CODE)}
            loop.at(FAILS_AT, begin[scene])
            await asyncio.sleep(FAILS_AT)
            await wait_until(steps, WITHIN + outage)
            await wait_until(lambda: has_told(site), 30.0, every=2.0)
            if crash.at is not None and returns:
                await asyncio.sleep(max(crash.at + crash.back_after - loop.time(), 0.0))
            await asyncio.sleep(AFTER)
            return look(site, scene, node, crash, min(stepped, default=math.inf), FAILS_AT + WITHIN + outage)

    with virtual_time(loop):
        ending = loop.run_until_complete(main())
        ending.digest, ending.turns = loop.digest(), crash.turns
        return ending


def _count_turns(site: CardSite, taken: dict[str, list[float]]) -> None:
    def note(process: Process) -> None:
        taken[process.name].append(site.loop.time())

    for name in site.nodes:
        taken[name] = []
        site.loop.processes[name].before_turn = note


def has_told(site: CardSite) -> bool:
    """Whether people have heard how it ended, and so the saga is over."""
    return any(row.verb == "tell" and row.result for row in read_rows(site))


@dataclass(frozen=True)
class Reference:
    """The scene without a strike: its window, from before the incident until after the last outcome, and when each daemon has a turn."""

    ending: Ending
    window: tuple[float, float]
    taken: Mapping[str, list[float]]

    @property
    def turns(self) -> dict[str, int]:
        """Of each daemon, in the window."""
        return {node: self.count(node, self.window) for node in self.taken}

    def count(self, node: str, window: tuple[float, float]) -> int:
        """How many turns a daemon has in some window."""
        return sum(window[0] <= at <= window[1] for at in self.taken[node])

    def spread(self, node: str, points: int, seed: int) -> list[int]:
        """So many of a daemon's turns, evenly spread, others for another seed."""
        turns, offset = self.turns[node], Random(seed).random()
        return [int((number + offset) * turns / points) + 1 for number in range(points)]


def play_reference(folder: Path, scene: str, *, leased: bool = False) -> Reference:
    """Play it once and count the turns of all daemons."""
    taken: dict[str, list[float]] = {}
    ending = play_saga(folder, scene, HOLDER, Crash(How.KILL, 0, (0.0, 0.0), 0.0), leased=leased, taken=taken)
    window = (ending.rows[0].intended - 0.5, ending.rows[-1].concluded + 0.5)
    return Reference(ending, window, taken)


class References:
    """Each scene's, played when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._played: dict[tuple[str, bool], Reference] = {}

    def find(self, scene: str, *, leased: bool = False) -> Reference:
        """Of a scene."""
        if (scene, leased) not in self._played:
            self._played[scene, leased] = play_reference(self._folder / f"{scene}-{leased}", scene, leased=leased)
        return self._played[scene, leased]


def find_seed() -> int:
    """Which turns are struck: SUPERNODED_CHAOS_SEED, else always the same, so that what is red today was red yesterday."""
    return int(os.environ.get("SUPERNODED_CHAOS_SEED") or 1)

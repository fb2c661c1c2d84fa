"""The scene of the crash tests: a chiller fails, the daemon's remedy notes, saves, fences and tests; somewhere in between it is killed."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import supernoded_acme
from sim_hardware.drives import SimSite
from sim_hardware.loop import SimLoop
from sim_hardware.loop.explorer import Crash, How
from sim_hardware.loop.play import virtual_time
from supernoded.registry import Found, discover
from supernoded.settings import Settings
from tests.chaos.chiller import Chiller

STEPS = ("note", "save", "fence", "test")
FAILS_AT, ENDS_AT = 6.0, 40.0  # virtual seconds
WINDOW = (FAILS_AT + 2.5, FAILS_AT + 8.5)  # from before the incident opens until after its last outcome

CONFIG = """\
node = "n0"
state = "{folder}/n0"
runtime = "{folder}/n0/run"
[mqtt]
host = "broker"
[policies.acme]
mode = "{mode}"
[plugins.acme]
wire = "tcp://chiller:7100"
patience = 30.0
steer = false
"""


def acme_beside_ours(settings: Settings) -> Sequence[Found]:
    """The stranger's, whether it is installed or not, beside what reads the machine: a saga has hundreds of lives, and each pays."""
    ours = [found for found in discover(settings.plugins_off) if found.name == "host"]
    return sorted([*ours, Found(name="acme", plugin=supernoded_acme)], key=lambda found: found.name)


@dataclass
class Ending:
    """What the world shows after the scene, and where the crash fell."""

    counts: dict[str, int]  # by step name: how often the chiller performed it
    fenced: bool
    rows: list[tuple[str, str | None]]  # step, result
    incidents: int
    digest: str
    ghosts: int
    second_life: bool
    where: str  # "before intent", "intent to first byte", "first byte to outcome", "between steps", "none"
    turns: int
    failures: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """Everything that must not be."""
        found = [f"{step} performed {self.counts.get(step, 0)} times" for step in STEPS if self.counts.get(step, 0) != 1]
        found += [] if self.fenced else ["the chiller is not fenced"]
        found += [f"{self.incidents} incidents"] if self.incidents != 1 else []
        concluded = Counter(step for step, result in self.rows if result is not None)
        found += [f"{step} concluded {concluded[step]} times" for step in STEPS if concluded[step] != 1]
        found += [f"{step} came to {result}" for step, result in self.rows if result != "done"]
        found += [f"{self.ghosts} writes by the dead"] if self.ghosts else []
        found += [] if self.second_life else ["the second life never started"]
        return found + self.failures


def play_saga(folder: Path, crash: Crash, seed: int = 7, mode: str = "act") -> Ending:
    """Play the scene in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "supernoded.toml"
    config.write_text(CONFIG.format(folder=folder, mode=mode))
    loop = SimLoop(seed)
    chiller = Chiller(loop.time)

    async def main() -> None:
        site = SimSite(loop, acme_beside_ours)
        site.broker.start()
        loop.spawn("chiller", lambda: _serve(chiller))
        loop.at(FAILS_AT, lambda: setattr(chiller, "health", "failing"))
        crash.arm(loop, site.start("n0", config), lambda: site.start("n0", config))
        await asyncio.sleep(ENDS_AT)
        ghosts.append(site.net.ghosts)

    ghosts: list[int] = []
    with virtual_time(loop):
        loop.run_until_complete(main())
        return _look(folder / "n0" / "journal.db", chiller, crash, loop, ghosts[0])


async def _serve(chiller: Chiller) -> None:
    server = await asyncio.start_server(chiller.serve, "chiller", 7100)
    await server.serve_forever()


def _look(journal: Path, chiller: Chiller, crash: Crash, loop: SimLoop, ghosts: int) -> Ending:
    with sqlite3.connect(journal) as db:
        rows = db.execute("SELECT step, result, intended, concluded FROM actions ORDER BY intended").fetchall()
        incidents = db.execute("SELECT count(*) FROM incidents").fetchone()[0]
    return Ending(
        counts=_by_step(chiller.counts),
        fenced=chiller.fenced,
        rows=[(step, result) for step, result, _, _ in rows],
        incidents=incidents,
        digest=loop.digest(),
        ghosts=ghosts,
        second_life=crash.k == 0 or (crash.second_life is not None and not crash.second_life.dead),
        where=_place(crash, rows, chiller, loop.wall() - loop.time()),
        turns=crash.turns,
        failures=[f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures],
    )


def _by_step(counts: Counter[str]) -> dict[str, int]:
    """Orders of one step count together, whatever their incident: a step of two incidents is done twice too."""
    by_step: Counter[str] = Counter()
    for ident, count in counts.items():
        by_step[ident.rpartition("/")[2]] += count
    return dict(by_step)


def _place(crash: Crash, rows: Sequence[tuple[str, str, float, float | None]], chiller: Chiller, epoch: float) -> str:
    """Where in the saga the crash fell."""
    if crash.at is None:
        return "none"
    sent = dict(chiller.heard)
    for step, _, intended, concluded in rows:
        begun, over = intended - epoch, math.inf if concluded is None else concluded - epoch
        if begun <= crash.at < sent.get(step, begun):
            return "intent to first byte"
        if sent.get(step, over) <= crash.at < over:
            return "first byte to outcome"
    return "between steps"


def reference(folder: Path) -> Ending:
    """The scene without a crash; `turns` is how many crash points its window has."""
    return play_saga(folder, Crash(How.KILL, 0, WINDOW, 0.0))

"""Three nodes that lease their roles in one database, with everything that can come between them; no daemon around them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sim_hardware.drives.database import SimDatabase
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import virtual_time
from sim_hardware.net import Net
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.roles.leased import LeasedSeats
from supernoded.cluster.roles.seats import FixedSeats
from supernoded.cluster.roles.views import Herald, Views
from supernoded.settings import Seats as Terms
from supernoded.supervisor import Health
from tests.unit.worlds import LOG

NAMES = ("n0", "n1", "n2")
ROLES = ("cdu/0", "fleet")
TERMS = Terms(term_s=6.0, renew_s=1.5)
LOOK = 0.05  # s between two looks at who may write


Direct = Callable[["Site"], object]


@dataclass
class Rival:
    """One life of one node."""

    name: str
    clock: SimClock
    seats: LeasedSeats
    views: Views
    herald: Herald
    health: Health


@dataclass
class Site:
    """All of them. `holders` is who might write at each look, by role; `clashes` is when it was more than one."""

    loop: SimLoop
    folder: Path
    skew: float = 0.4
    rivals: dict[str, Rival] = field(default_factory=dict)
    holders: list[tuple[float, dict[str, tuple[str, ...]]]] = field(default_factory=list)
    clashes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.net = Net(self.loop)
        self.database = SimDatabase(self.net)
        self._clocks = {name: SimClock(self.loop, name, skew=self.skew * index) for index, name in enumerate(NAMES)}

    def start(self, name: str) -> None:
        """A life of a node, unless one lives."""
        if name not in self.loop.processes or self.loop.processes[name].dead:
            self.loop.spawn(name, partial(self.live, name))

    def kill(self, name: str) -> None:
        """End it without a word."""
        self.loop.kill(self.loop.processes[name])

    def pause(self, name: str) -> None:
        """As SIGSTOP."""
        if not self.loop.processes[name].dead:
            self.loop.pause(self.loop.processes[name])

    def resume(self, name: str) -> None:
        """As SIGCONT."""
        if self.loop.processes[name].paused:
            self.loop.resume(self.loop.processes[name])

    def is_up(self, name: str) -> bool:
        """Whether anybody would answer."""
        process = self.loop.processes.get(name)
        return process is not None and not process.dead and not process.paused

    async def live(self, name: str) -> None:
        """One life of a node, in the process that runs this."""
        clock, health = self._clocks[name], Health(self._clocks[name], LOG)
        journal = self.database.open(name, self.folder / "database.db", clock, LOG)
        views = Views("c0", NAMES, clock, health)
        life = str(self.loop.here().pid)
        seats = LeasedSeats(f"{name}#{life}", FixedSeats(name, {}), dict.fromkeys(ROLES, NAMES), TERMS, journal, clock, views, health, LOG)
        seats.confirm = partial(self._confirm, name)
        herald = Herald(seats, Speaker(name, "c0", life), views, clock, partial(self._publish, name))
        self.rivals[name] = Rival(name, clock, seats, views, herald, health)
        await asyncio.gather(seats.run(), journal.run(), herald.run())

    async def _confirm(self, asker: str, role: str, node: str) -> bool | None:
        chance = self.loop.stream("confirming")
        await asyncio.sleep(chance.uniform(0.0, 0.7))
        if self.net.apart(asker, node) or not self.is_up(node):
            await asyncio.sleep(60.0)
        answer = self.rivals[node].seats.is_vacant(role)
        await asyncio.sleep(chance.uniform(0.0, 0.7))
        return answer

    def _publish(self, name: str, topic: str, payload: bytes, **_: object) -> bool:
        for other in NAMES:
            if other != name and not self.net.apart(name, other) and self.is_up(other):
                self.loop.after(self.net.way(), self.rivals[other].views.hear, Message(topic=topic, payload=payload))
        return True

    def look(self) -> None:
        """Whose pen would write now: that of a process that stands still too, for it may wake up at any moment."""
        found = {role: tuple(name for name in NAMES if self._may_write(name, role)) for role in ROLES}
        self.holders.append((self.loop.time(), found))
        self.clashes += [f"{self.loop.time():.2f} s: {role} of {', '.join(names)}" for role, names in found.items() if len(names) > 1]
        self.loop.after(LOOK, self.look)

    def _may_write(self, name: str, role: str) -> bool:
        process = self.loop.processes.get(name)
        if process is None or process.dead or name not in self.rivals:
            return False
        return self.rivals[name].seats.find_refusal(role) is None

    def holder(self, role: str, at: float) -> str:
        """Who might write at a time."""
        return next((" and ".join(found[role]) for when, found in reversed(self.holders) if when <= at), "")


def play(folder: Path, direct: Direct, until: float, *, seed: int = 1, skew: float = 0.4) -> Site:
    """Play a scene; `direct` says before it begins what happens when."""
    loop = SimLoop(seed)
    site = Site(loop, folder, skew)

    async def main() -> None:
        site.database.start()
        for name in NAMES:
            site.start(name)
        loop.after(LOOK, site.look)
        direct(site)
        await asyncio.sleep(until)

    with virtual_time(loop):
        loop.run_until_complete(main())
        assert [(failure.message, failure.error) for failure in loop.failures] == []
    return site

"""Everything one scope runs, as one task: its sensors, rules, loops and cases. A role's starts with its seat."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from supernoded import recording
from supernoded.actions import Performer, Route
from supernoded.cases import Casework
from supernoded.clock import Clock
from supernoded.errors import FencedError, JournalError
from supernoded.guards import Guard, Tally
from supernoded.history import DEFAULT_WINDOW, FORGET_AFTER, History, View
from supernoded.incidents import Ledger
from supernoded.journal import entries, queries
from supernoded.journal.writer import Journal
from supernoded.judging import LEAST_INTERVAL, Bench
from supernoded.model import Cause, Incident, Reading, Result
from supernoded.modes import Modes
from supernoded.parts import World
from supernoded.registry import Parts
from supernoded.sampling import Sampler, Take
from supernoded.settings import Settings
from supernoded.steering import Helm, Steering
from supernoded.supervisor import Health, keep
from supernoded.topology import Topology
from supernoded.worker import Bureau, Teller

MOST_ACTIONS = 1_000  # of an earlier life that count against the rates of this one
SNAPSHOT_EVERY = 10.0  # seconds between two snapshots of the rules' memories
DRAWN = ("coolant.",)  # families of which people are shown the last ten minutes, however short a window suffices the rules
FORGET_TURNS = 60  # snapshots between two looks at what nobody reports any more: what is a day old may become ten minutes older


@dataclass(frozen=True)
class Means:
    """What the scopes of one daemon share."""

    settings: Settings
    topology: Topology
    parts: Parts
    route: Route
    clock: Clock
    health: Health
    modes: Modes
    guards: Sequence[Guard]
    tally: Tally
    teller: Teller
    world: Callable[[], World]
    held: Callable[[str], str | None]
    log: logging.Logger


Known = Iterable[tuple[Sequence[Reading], float]]


class Duty:
    """One scope at work.

    `readings_to` takes what is worth a row and how loops fare: the node's own journal, whatever the scope. `known` gives what the other
    scopes of this daemon have read, with how long each counts as fresh: a role that is gained begins with that.
    """

    def __init__(
        self, scope: str, epoch: int, means: Means, journal: Journal, readings_to: Journal, known: Callable[[], Known] = lambda: ()
    ) -> None:
        self.scope, self.epoch, self.journal = scope, epoch, journal
        self._m, self._readings_to, self._known = means, readings_to, known
        parts, set_ = means.parts, means.settings.incidents
        rules = [rule for rule in parts.rules if rule.scope == scope]
        loops = [loop for loop in parts.loops if loop.scope == scope and loop.target in parts.handles]
        diagnoses = [diagnosis for diagnosis in parts.diagnoses if diagnosis.scope == scope]
        watchers = [*rules, *diagnoses, *loops, *(parts.remedies[rule.kind] for rule in rules if rule.kind in parts.remedies)]
        windows = _windows(watchers)
        self.history = History({quantity: max(window, _drawn_for(quantity)) for quantity, window in windows.items()})
        self.ledger = Ledger(scope, means.topology.shared, set_.clear_after_s, set_.common_window_s, set_.common_count)
        performer = Performer(means.route, means.guards, means.tally, journal, means.clock)
        bureau = Bureau(
            scope=scope,
            epoch=epoch,
            parts=parts,
            performer=performer,
            journal=journal,
            clock=means.clock,
            modes=means.modes,
            health=means.health,
            teller=means.teller,
            world=means.world,
            causes=self._find_causes,
            look=self._look,
        )
        self.cases = Casework(bureau, self.ledger, self.snapshot)
        self.bench = Bench(rules, self.history, means.health, self.cases.take, diagnoses)
        self.samplers = [Sampler(s, means.clock, means.health, self.take) for s in parts.sensors if s.scope == scope]
        helm = Helm(scope, self.history, readings_to, means.clock, means.modes, means.health, means.held)
        for loop in parts.loops:
            if loop.scope == scope and loop.target not in parts.handles:
                means.health.report(f"loop {loop.name}", f"does not steer: no plugin hands in a handle for {loop.target}")
        self.steerings = [Steering(helm, x, parts.handles[x.target], parts.owner("loop", x.name)) for x in loops]
        self._sieve = recording.Sieve()
        self.watched = frozenset(windows)
        self.followers: list[Take] = []  # told of everything this scope reads
        self.judged_at = means.clock.now()

    def take(self, readings: Sequence[Reading], fresh_for: float) -> None:
        """What a sensor read: kept, judged at once, and written if it is news."""
        turned = self.history.add(readings, fresh_for)
        rows = self._sieve.sift(readings)
        if rows:
            self._readings_to.post(entries.store_readings(rows))
        self.bench.judge(self._m.clock.now(), {reading.quantity for reading in readings}, turned)
        for follow in self.followers:
            follow(readings, fresh_for)

    def hear(self, readings: Sequence[Reading], fresh_for: float) -> None:
        """What another scope or node has read and this one watches: kept and judged. It is written where it was read."""
        news = [reading for reading in readings if reading.quantity in self.watched]
        if news:
            turned = self.history.add(news, fresh_for)
            self.bench.judge(self._m.clock.now(), {reading.quantity for reading in news}, turned)

    def list_read(self, quantities: Collection[str]) -> list[Reading]:
        """The newest of what this scope's own sensors have read of these: what others have told is theirs to tell."""
        mine = {sampler.sensor.name for sampler in self.samplers}
        return self.history.newest(self._m.clock.now(), mine, quantities) if mine else []

    def list_fresh(self) -> list[tuple[Sequence[Reading], float]]:
        """The same as it was read, with how long it counts as fresh."""
        mine = {sampler.sensor.name for sampler in self.samplers}
        groups = [([one for one in group if one.source in mine], fresh_for) for fresh_for, group in self.history.by_freshness().items()]
        return [(group, fresh_for) for group, fresh_for in groups if group]

    def _find_causes(self, incident: Incident) -> tuple[Cause, ...]:
        return self.bench.diagnose(incident.members or (incident.subject,), self._m.clock.now())

    def _look(self, watches: Mapping[str, float]) -> View:
        return self.history.view(self._m.clock.now(), watches)

    async def take_up(self) -> None:
        """What an earlier life left: memories, open incidents, and how often it acted. A journal that cannot answer says so itself."""
        now = self._m.clock.now()
        lately = queries.Filter(since=now - self._m.tally.window, until=now, limit=MOST_ACTIONS)
        try:
            self.bench.restore(await self.journal.commit(entries.memories(self.scope)))
            deeds = await self.journal.commit(queries.actions(lately))
            left: list[Incident] = await self.journal.commit(entries.open_incidents(self.scope))
        except FencedError:
            raise
        except JournalError:
            return
        for deed in reversed(deeds.rows):
            if deed.action.scope == self.scope and (deed.outcome is None or deed.outcome.result in (Result.DONE, Result.UNCONFIRMED)):
                self._m.tally.count(deed.action, deed.action.issued)
        self.ledger.restore(left, self._m.clock.now())

    async def run(self) -> None:
        """Until cancelled; FencedError when the role has gone to another."""
        await self.take_up()
        for readings, fresh_for in self._known():
            self.hear(readings, fresh_for)
        m = self._m
        try:
            async with asyncio.TaskGroup() as group:
                for sampler in self.samplers:
                    group.create_task(keep(f"sampler {sampler.sensor.name}", sampler.run, m.clock, m.health))
                for steering in self.steerings:
                    group.create_task(keep(f"steering of {steering.target}", steering.run, m.clock, m.health))
                group.create_task(keep(f"cases {self.scope}", self.cases.run, m.clock, m.health, ends_on=(FencedError,)))
                group.create_task(keep(f"judging {self.scope}", self._judge, m.clock, m.health))
                group.create_task(keep(f"memory {self.scope}", self._remember, m.clock, m.health))
        finally:
            self.snapshot()

    async def _judge(self) -> None:
        while True:
            await self._m.clock.sleep(LEAST_INTERVAL)
            self.judged_at = self._m.clock.now()
            self.bench.catch_up(self.judged_at)

    async def _remember(self) -> None:
        for turn in itertools.count(1):
            await self._m.clock.sleep(SNAPSHOT_EVERY)
            self.snapshot()
            if turn % FORGET_TURNS == 0:
                self._forget(self._m.clock.now() - FORGET_AFTER)

    def _forget(self, horizon: float) -> None:
        self.history.forget(horizon)
        self.bench.forget(horizon)
        self._sieve.forget(horizon - recording.LONGEST_INTERVAL)  # what does not change has a row a day

    def snapshot(self) -> None:
        """Write the memories that changed. Who has lost the role, perhaps while it stood still, leaves those of the next holder alone."""
        if self._m.held(self.scope) is not None:
            return
        changed = self.bench.snapshot()
        if changed:
            self.journal.post(entries.save_memories(self.scope, changed, self._m.clock.now()))


def _windows(watchers: Sequence[object]) -> dict[str, float]:
    """For each quantity the longest window anybody watches."""
    windows: dict[str, float] = {}
    for watcher in watchers:
        for quantity, window in getattr(watcher, "watches", {}).items():
            windows[quantity] = max(windows.get(quantity, 0.0), window or DEFAULT_WINDOW)
    return windows


def _drawn_for(quantity: str) -> float:
    return DEFAULT_WINDOW if quantity.startswith(DRAWN) else 0.0

"""Everything of jobs that one daemon runs: the socket, the clock's turns, the files; with the parts that it hands in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from supernoded.clock import Clock
from supernoded.job.desk import FULFILLED, JobDesk
from supernoded.job.keeping import Keeping
from supernoded.job.listening import listen
from supernoded.job.parts import HARD, JobActuator, JobSensor
from supernoded.job.periodic import Periodic
from supernoded.job.reading import read_job
from supernoded.job.server import Server, Terms
from supernoded.model import Mode, Reading
from supernoded.sampling import FRESH_PERIODS
from supernoded.settings import Settings, read_secret
from supernoded.wire import Node

TURN = 0.25  # seconds between two looks at deadlines

Take = Callable[[Sequence[Reading], float], None]


class Jobs:
    """The jobs of this node. `followers` are told at once of what changes, as readings of the sensor; give it the node's duty."""

    def __init__(self, settings: Settings, clock: Clock, log: logging.Logger, node: Node) -> None:
        table, vault = settings.job, settings.vault
        terms = Terms(
            node=settings.node,
            tokens={name: read_secret(path) for name, path in table.tokens.items()},
            tiers=tuple(
                str(tier) for tier in (vault.shared, vault.peer.folder if vault.peer.is_used else None, vault.durable) if tier is not None
            ),
            silent_s=table.silent_s,
            most_peers=table.most_peers,
            lines_per_s=table.lines_per_s,
            cards=next((one.cards for one in settings.topology.nodes if one.name == settings.node), 0),
        )
        self.server = Server(terms, clock, log, self._note)
        self.sensor = JobSensor(self.server, clock)
        self.actuator = JobActuator(self.server, clock, table.deadline_s, durable=vault.durable is not None)
        within = table.deadline_s, HARD * table.deadline_s
        self._periodic = Periodic(self.server, clock, log, vault.interval, within) if asks_by_itself(settings) else None
        advices = self._periodic.advices if self._periodic is not None else {}
        self.desk = JobDesk(self.server, clock, table.deadline_s, FULFILLED[vault.durable is not None], advices)
        self.followers: list[Take] = []
        self.listening = asyncio.Event()
        self._listen = partial(listen, settings.runtime / table.socket, table.group, log)
        self._keeping = Keeping(node.wires.tree(str(node.state)), log)
        self._clock = clock
        self._news: dict[str, None] = {}  # jobs that are not written down, in the order of their news
        self._untold: dict[str, None] = {}
        self._written = asyncio.Event()

    @property
    def parts(self) -> tuple[JobSensor, JobActuator]:
        """What the daemon runs them through."""
        return self.sensor, self.actuator

    async def run(self) -> None:
        """Until cancelled. Raises SettingsError when it cannot listen."""
        for name, kept in (await self._keeping.read()).items():
            self.server.open_job(name, kept)
        async with self._listen(self.server.accept):
            self.listening.set()
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass_time(), name="jobs: deadlines")
                    group.create_task(self._write(), name="jobs: files")
            finally:
                self.listening.clear()
                await self._write_news()
                self.server.hang_up()

    def _note(self, name: str) -> None:
        """Something has changed: it is told in this turn of the loop, and written as soon as the disk has time."""
        if not self._untold:
            asyncio.get_running_loop().call_soon(self._tell)
        self._untold[name] = self._news[name] = None
        self._written.set()

    def _tell(self) -> None:
        names, self._untold = list(self._untold), {}
        now, wall = self._clock.now(), self._clock.wall()
        for name in names:
            if (job := self.server.jobs.get(name)) is not None and self.followers:
                found = read_job(job, now, wall, self.server.terms.silent_s)
                readings = [msgspec.structs.replace(reading, source=self.sensor.name) for reading in found]
                for take in self.followers:
                    take(readings, FRESH_PERIODS * self.sensor.period + self.sensor.timeout)

    async def _pass_time(self) -> None:
        while True:
            await self._clock.sleep(TURN)
            self.server.pass_time()
            if self._periodic is not None:
                self._periodic.look()

    async def _write(self) -> None:
        while True:
            await self._written.wait()
            self._written.clear()
            await self._write_news()

    async def _write_news(self) -> None:
        for name in list(self._news):
            del self._news[name]
            try:
                if (job := self.server.jobs.get(name)) is not None:
                    await self._keeping.write(name, job.kept)
            except asyncio.CancelledError:  # it may not be on the disk: what is written at the end says it again
                self._news[name] = None
                raise


def asks_by_itself(settings: Settings) -> bool:
    """Whether jobs are asked at an interval: as the settings say, else with a durable tier. In observe nobody makes a job stand."""
    told = settings.vault.interval.ask
    return settings.vault.durable is not None and settings.mode is Mode.ACT if told is None else told


def open_jobs(settings: Settings, clock: Clock, log: logging.Logger, node: Node) -> Jobs:
    """The jobs of a daemon; nothing is opened before `run`. Raises SettingsError for a token that cannot be read."""
    return Jobs(settings, clock, log, node)

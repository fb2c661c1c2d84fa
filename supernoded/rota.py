"""Who works on what here: the node's own duty for as long as the daemon lives, and one for each role while its seat is held."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.digests import Digests, Speaker
from supernoded.cluster.link.session import Session
from supernoded.cluster.roles.seats import Seats, Tenure
from supernoded.duty import Duty, Known, Means
from supernoded.errors import FencedError
from supernoded.journal.leases import FIXED
from supernoded.journal.writer import Journal
from supernoded.model import NODE, Reading
from supernoded.sampling import Take
from supernoded.settings import Settings
from supernoded.supervisor import Health, describe, keep


class Rota:
    """Starts a duty when a seat is gained, cancels it when it is lost, and carries readings between them.

    `journal` is the node's own, `database` the one that leases its roles, where there is one. `followers` are told of everything that
    any scope here reads.
    """

    def __init__(self, seats: Seats, means: Means, journal: Journal, database: Journal | None, duties: list[Duty]) -> None:
        self._seats, self._m, self._journal, self._database = seats, means, journal, database
        self.own = self._make(NODE, FIXED)
        self.duties = duties  # the node's own first, then those of roles, sorted
        self.duties[:] = [self.own]
        self.followers: list[Take] = []
        self.on_change: list[Callable[[], None]] = []  # called when a role's duty has begun or ended
        self._tasks: dict[str, asyncio.Task[None]] = {}  # of roles; one that was cancelled is here until it has ended

    def find(self, role: str) -> Duty | None:
        """The duty of a role that is held here."""
        return next((duty for duty in self.duties if duty.scope == role), None)

    def list_watched(self) -> frozenset[str]:
        """The quantities that the roles held here watch."""
        return frozenset[str]().union(*(duty.watched for duty in self.duties[1:]))

    def hear(self, readings: Sequence[Reading], fresh_for: float) -> None:
        """What another node has read goes to the roles: a node judges only itself."""
        for duty in self.duties[1:]:
            duty.hear(readings, fresh_for)

    def list_read(self, quantities: Collection[str]) -> list[Reading]:
        """The newest of what all scopes here have read of these."""
        return [reading for duty in self.duties for reading in duty.list_read(quantities)]

    async def run(self) -> None:
        """Until cancelled; then every duty ends, while its seat is still held."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep(self.own), name=f"duty {NODE}")
            while True:
                self._seats.changed.clear()
                self._match(group)
                await self._seats.changed.wait()

    def _match(self, group: asyncio.TaskGroup) -> None:
        """Begin and end duties so that they are those of the seats."""
        held = {tenure.role: tenure for tenure in self._seats.tenures}
        for role, task in self._tasks.items():
            duty = self.find(role)
            if duty is not None and not task.cancelling() and (role not in held or held[role].epoch != duty.epoch):
                task.cancel()  # once: a second time would interrupt the handing back of its devices
        for role, tenure in held.items():
            if role not in self._tasks:
                self._begin(group, tenure)

    def _begin(self, group: asyncio.TaskGroup, tenure: Tenure) -> None:
        duty = self._make(tenure.role, tenure.epoch)
        self.duties[1:] = sorted([*self.duties[1:], duty], key=lambda one: one.scope)
        task = self._tasks[tenure.role] = group.create_task(self._serve(duty), name=f"duty {duty.scope}")
        task.add_done_callback(partial(self._end, duty))
        self._tell_change()

    def _end(self, duty: Duty, _: asyncio.Task[None]) -> None:
        del self._tasks[duty.scope]
        self.duties.remove(duty)
        self._m.health.forget(_name(duty))
        self._tell_change()
        self._seats.changed.set()  # it may be held again, with another epoch

    def _tell_change(self) -> None:
        for tell in self.on_change:
            tell()

    async def _serve(self, duty: Duty) -> None:
        try:
            await self._keep(duty)
        except (FencedError, ExceptionGroup) as error:
            self._seats.step_down(duty.scope, duty.epoch, describe(error))

    async def _keep(self, duty: Duty) -> None:
        await keep(_name(duty), duty.run, self._m.clock, self._m.health, ends_on=(FencedError,))

    def _make(self, scope: str, epoch: int) -> Duty:
        leased = scope != NODE and epoch != FIXED and self._database is not None
        journal = self._database if leased and self._database is not None else self._journal
        duty = Duty(scope, epoch, self._m, journal, self._journal, partial(self._list_known, scope))
        duty.followers.append(partial(self._pass_on, duty))
        return duty

    def _list_known(self, scope: str) -> Known:
        """What the others have read before this one began; the node's own scope only knows itself."""
        return [known for duty in self.duties if scope not in (NODE, duty.scope) for known in duty.list_fresh()]

    def _pass_on(self, reader: Duty, readings: Sequence[Reading], fresh_for: float) -> None:
        for duty in self.duties[1:]:
            if duty is not reader:
                duty.hear(readings, fresh_for)
        for follow in self.followers:
            follow(readings, fresh_for)


def _name(duty: Duty) -> str:
    return f"duty {duty.scope}"


def open_digests(
    settings: Settings, rota: Rota, session: Session, speaker: Speaker, watched: frozenset[str], clock: Clock, health: Health
) -> Digests | None:
    """What any scope here reads goes to the roles of other nodes by digest, where there are any, and theirs to our roles."""
    nodes = [node.name for node in settings.topology.nodes]
    if not watched or len(nodes) < 2:
        return None
    newest, take, wanted = partial(rota.list_read, watched), rota.hear, rota.list_watched
    digests = Digests(speaker, clock, watched, nodes, newest, session.publish, take, wanted, health.report)
    rota.followers.append(digests.note)
    rota.on_change.append(partial(_listen, rota, session, topics.of_nodes(settings.cluster, "digest"), digests))
    session.on_link.append(digests.listen_anew)
    return digests


def _listen(rota: Rota, session: Session, filter_: str, digests: Digests) -> None:
    """Hear the others while a role here has use for it: a thousand nodes that all heard each other would drown their broker."""
    session.off(filter_, digests.hear)
    digests.listen_anew()
    if rota.list_watched():
        session.on(filter_, digests.hear)

"""What one life of a daemon is made of, once built; the admin desk answers from it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from supernoded.cards.room import Cards
from supernoded.clock import Clock
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.fleet.office import Office
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session
from supernoded.cluster.roles.seats import Seats
from supernoded.cluster.roles.views import Herald
from supernoded.duty import Duty
from supernoded.errors import JournalError
from supernoded.holds import Holds
from supernoded.job.jobs import Jobs
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.model import Cause, Incident, Reading, Verdict
from supernoded.modes import Modes
from supernoded.parts import World
from supernoded.registry import Parts
from supernoded.reporting import Reporter
from supernoded.rota import Rota
from supernoded.settings import Settings
from supernoded.supervisor import Health

ASK_AGAIN = 2.0  # seconds
ALIVE = 15.0  # seconds without judging after which the service manager's watchdog is no longer fed (ours)
GRACE = 10.0  # seconds after the start in which a missing MQTT session is no trouble yet


@dataclass(frozen=True)
class House:
    """The built daemon. Its parts are started by `daemon.run`."""

    settings: Settings
    parts: Parts
    clock: Clock
    pid: int
    started: float
    health: Health
    modes: Modes
    seats: Seats
    herald: Herald
    journal: Journal
    database: Journal | None  # that leases roles, where there is one
    outbox: Outbox
    session: Session
    broker: str  # host:port
    reporter: Reporter
    rota: Rota
    world: Callable[[], World]
    holds: Holds
    jobs: Jobs
    cards: Cards
    commander: Commander
    office: Office
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def take_up(self) -> bool:
        """What people said in earlier lives: modes and holds. While the journal cannot tell (False), the settings' modes count."""
        try:
            said = await self.journal.ask(entries.modes())
            await self.holds.take_up()
        except JournalError as error:
            self.health.report("what operators said", f"unknown until the journal can be read, the settings count: {error}")
            return False
        self.health.report("what operators said", "")
        for word in said:
            if word.policy not in self.modes.said:  # somebody may have spoken since
                self.modes.say(word)
        return True

    async def ask_again(self) -> None:
        """Until the journal can tell what people said."""
        while not await self.take_up():
            await self.clock.sleep(ASK_AGAIN)

    @property
    def duties(self) -> Sequence[Duty]:
        """The node's own, and those of the roles that are held now."""
        return self.rota.duties

    @property
    def policies(self) -> list[str]:
        """The plugins that judge or act, which is what a mode is about."""
        return self.parts.policies

    @property
    def incidents(self) -> list[Incident]:
        """The open ones of all scopes, newest first."""
        return sorted((i for duty in self.duties for i in duty.ledger.open), key=lambda i: -i.opened)

    def readings(self) -> list[Reading]:
        """See `list_newest`."""
        return list_newest(self.duties, self.clock.now())

    def history(self) -> list[Reading]:
        """See `list_history`."""
        return list_history(self.duties)

    def last_words(self) -> list[Verdict]:
        """What each rule of each scope last said of each subject."""
        return [verdict for duty in self.duties for verdict in duty.bench.last_words()]

    def explain(self, subjects: Sequence[str]) -> tuple[Cause, ...]:
        """What explains the trouble of these subjects, by the diagnoses of every scope, the best first."""
        now = self.clock.now()
        return tuple(sorted((c for duty in self.duties for c in duty.bench.diagnose(subjects, now)), key=lambda cause: -cause.weight))

    async def hand_back(self, policy: str) -> str:
        """Wait until every loop of a policy that left `act` has given its device back; says what it took, empty when nothing."""
        turning = [s for duty in self.duties for s in duty.steerings if s.policy == policy and s.engaged]
        for steering in turning:
            await steering.disengaged.wait()
        return "; ".join(f"{steering.target}: {steering.last_word}" for steering in turning)

    def list_troubles(self) -> list[str]:
        """What is wrong with the daemon itself, a sentence each."""
        sentences = [f"{condition.name}: {condition.text}" for condition in self.health.troubles()]
        sentences += [f"plugin {found.name} is left out: {found.trouble}" for found in self.parts.plugins if found.trouble]
        if self.journal.health:
            sentences.append(f"journal: {self.journal.health}")
        if self.database is not None and self.database.health:
            text = "roles are neither renewed nor taken: see that it is up and reached"
            sentences.append(f"database {self.database.place}: {self.database.health}; {text}")
        if not self.session.state.connected and self.clock.now() - self.started > GRACE:
            sentences.append(f"no MQTT session with {self.broker}: {self.session.state.text}")
        sentences += [
            f"nobody has the role {role}: give it a node under [roles], the same in the settings of all nodes"
            for role in self.settings.list_vacant_roles()
        ]
        if self.database is not None and self.clock.now() - self.started > GRACE + self.settings.seats.term_s:
            vacant = [role for role in self.settings.list_needed_roles() if role not in self.seats.roles]
            sentences += [f"nobody tells that it has the role {role}: see whether its candidates are up and well" for role in vacant]
        return sentences

    def is_alive(self) -> bool:
        """Whether the judging goes on: what the service manager's watchdog is told."""
        return all(self.clock.now() - duty.judged_at < ALIVE for duty in self.duties)

    def sentence(self) -> str:
        """One line for `systemctl status`."""
        incidents, troubles = self.incidents, self.list_troubles()
        state = f"{len(incidents)} open incidents, the newest: {incidents[0].text}" if incidents else "no open incident"
        return f"degraded: {troubles[0]}; {state}" if troubles else f"well; {state}"


def _key(reading: Reading) -> tuple[str, str, str]:
    return reading.subject, reading.quantity, reading.source


def list_newest(duties: Sequence[Duty], now: float) -> list[Reading]:
    """The newest of everything, sorted by subject, quantity and source; what a role sees of its own node is told once."""
    newest = {_key(reading): reading for duty in reversed(duties) for reading in duty.history.newest(now)}
    return [newest[key] for key in sorted(newest)]


def list_history(duties: Sequence[Duty]) -> list[Reading]:
    """All that is in memory, sorted by subject, quantity, source and time."""
    known = {(*_key(reading), reading.at): reading for duty in duties for reading in duty.history.everything()}
    return [known[key] for key in sorted(known)]


def make_world(settings: Settings, seats: Seats, modes: Modes, holds: Holds, policies: Sequence[str], duties: Sequence[Duty]) -> World:
    """What remedies and checks may know of the world now."""
    return World(
        topology=settings.topology,
        modes={policy: modes.of(policy) for policy in policies},
        holds=holds.standing(),
        incidents=tuple(incident for duty in duties for incident in duty.ledger.open),
        roles=dict(seats.roles),
        ages={"roles": seats.age, "holds": math.inf if holds.trouble else 0.0, "incidents": 0.0},
    )

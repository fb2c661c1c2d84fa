"""Build a daemon from settings and ports, and run all its parts in one task group. No logic of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from supernoded import guards
from supernoded.admin.access import Access, Gate
from supernoded.admin.answering import FrontDesk
from supernoded.admin.server import serve_admin
from supernoded.chores import Chores
from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.digests import Digests, Speaker
from supernoded.cluster.outbox import Outbox
from supernoded.cluster.seats import FixedSeats
from supernoded.cluster.session import Session
from supernoded.cluster.store import JournalStore
from supernoded.duty import Duty, Means
from supernoded.house import House, make_world
from supernoded.job.jobs import Jobs, open_jobs
from supernoded.model import NODE, Hold, Reading
from supernoded.modes import Modes
from supernoded.notify import Notifier
from supernoded.ports import Ports, Uplink
from supernoded.reflex.looking import list_parts
from supernoded.registry import Parts, collect
from supernoded.reporting import Reporter
from supernoded.settings import Settings
from supernoded.supervisor import Health, keep
from supernoded.wire import Node, Pen

BROKER_START = 5.0  # seconds
JOB, REFLEX = "job", "reflex"  # owners of our own parts, beside the plugins
STATUS_EVERY = 5.0  # seconds between two status lines to the service manager


@dataclass(frozen=True)
class Daemon:
    """A built house and what keeps it running."""

    house: House
    ports: Ports
    log: logging.Logger
    uplink: Uplink
    digests: Digests | None
    chores: Chores | None


def collect_parts(settings: Settings, ports: Ports, seats: FixedSeats, log: logging.Logger) -> tuple[Parts, Jobs]:
    """What the plugins hand in and what the daemon has of its own, and the jobs behind some of these. Raises PluginError, SettingsError."""
    wires_for = ports.wires(settings, Pen(seats.find_refusal))

    def node_for(owner: str) -> Node:
        maintenance = settings.list_maintenance(owner)
        return Node(
            settings.node, settings.topology, settings.limits, wires_for(owner), ports.clock, ports.host, settings.state, maintenance
        )

    parts = collect(ports.plugins(settings), settings.plugins, node_for)
    jobs = open_jobs(settings, ports.clock, log.getChild("job"), node_for(JOB))
    parts.add_own(JOB, sensors=[jobs.sensor], actuators=[jobs.actuator])
    parts.add_own(REFLEX, sensors=list_parts(settings, ports.clock))
    return parts, jobs


def build(settings: Settings, ports: Ports, log: logging.Logger) -> Daemon:
    """Everything one life has, before anything is touched. Raises PluginError, SettingsError."""
    clock, started = ports.clock, ports.clock.now()
    seats = FixedSeats(settings.node, settings.list_seats())
    parts, jobs = collect_parts(settings, ports, seats, log)
    journal, uplink = ports.journal(settings), ports.uplink(settings)
    outbox = Outbox(JournalStore(journal), clock, log.getChild("mqtt"), settings.mqtt.outbox)
    names = settings.node, settings.cluster, f"{started:.3f}"
    session = Session(uplink.fabric, *names, clock, outbox, log.getChild("mqtt"))
    reporter = Reporter(*names, journal, outbox, clock, log)
    modes = Modes(settings.mode, {name: policy.mode for name, policy in settings.policies.items() if policy.mode is not None})
    holds, duties = list[Hold](), list[Duty]()
    tally = guards.Tally(settings.guards.actions_per_minute, settings.guards.attempts_per_subject, settings.guards.attempt_window_s)
    means = Means(
        settings=settings,
        topology=settings.topology,
        parts=parts,
        clock=clock,
        health=Health(clock, log),
        modes=modes,
        guards=list_guards(settings, seats, modes, holds, tally),
        tally=tally,
        teller=reporter,
        world=partial(make_world, settings, seats, modes, holds, parts.policies, duties),
        held=seats.find_refusal,
        log=log,
    )
    duties += [Duty(scope, 0, means, journal, journal) for scope in (NODE, *seats.held)]
    jobs.followers.append(duties[0].take)
    digests = connect_duties(settings, duties[0], duties[1:], session, Speaker(*names), watched_by_roles(parts), clock)
    house = House(
        settings=settings,
        parts=parts,
        clock=clock,
        pid=ports.pid,
        started=started,
        health=means.health,
        modes=modes,
        seats=seats,
        journal=journal,
        outbox=outbox,
        session=session,
        broker=uplink.name,
        reporter=reporter,
        duties=duties,
        world=means.world,
        holds=holds,
        jobs=jobs,
    )
    return Daemon(house, ports, log, uplink, digests, ports.chores(settings, journal))


def watched_by_roles(parts: Parts) -> frozenset[str]:
    """The quantities that parts of roles watch: any node may hold one."""
    rules = [rule for rule in parts.rules if rule.scope != NODE]
    watchers = [
        *rules,
        *(diagnosis for diagnosis in parts.diagnoses if diagnosis.scope != NODE),
        *(loop for loop in parts.loops if loop.scope != NODE),
        *(parts.remedies[rule.kind] for rule in rules if rule.kind in parts.remedies),
    ]
    return frozenset(quantity for part in watchers for quantity in getattr(part, "watches", ()))


def connect_duties(
    settings: Settings, own: Duty, of_roles: Sequence[Duty], session: Session, speaker: Speaker, watched: frozenset[str], clock: Clock
) -> Digests | None:
    """What any scope here reads goes to the roles that this node holds at once, and to the other nodes by digest, where there are any."""

    def take(readings: Sequence[Reading], fresh_for: float) -> None:
        for duty in of_roles:
            duty.hear(readings, fresh_for)

    duties = (own, *of_roles)
    for duty in duties:
        duty.followers += [other.hear for other in of_roles if other is not duty]
    nodes = [node.name for node in settings.topology.nodes]
    if not watched or len(nodes) < 2:
        return None
    digests = Digests(
        speaker, clock, watched, nodes, lambda: [reading for duty in duties for reading in duty.list_read()], session.publish, take
    )
    for duty in duties:
        duty.followers.append(digests.note)
    session.on(topics.of_nodes(settings.cluster, "digest"), digests.hear)
    return digests


def list_guards(settings: Settings, seats: FixedSeats, modes: Modes, holds: list[Hold], tally: guards.Tally) -> list[guards.Guard]:
    """What every action must pass, the cheapest refusals first."""
    maintained = {name: policy.maintenance for name, policy in settings.policies.items()}
    return [
        guards.guard_deadline,
        guards.guard_mode(modes.of),
        guards.guard_lease(seats.find_refusal),
        guards.guard_maintenance(settings.maintenance, maintained),
        guards.guard_holds(lambda: holds),
        tally.guard,
    ]


async def run(daemon: Daemon) -> None:
    """Run it until cancelled; what waits for the journal is written last. Raises SettingsError when it cannot listen."""
    house, ports, log = daemon.house, daemon.ports, daemon.log
    admin = house.settings.admin
    gate = Gate(Access(reading_group=admin.group, operator_group=admin.operators), ports.uid)
    try:
        async with serve_admin(FrontDesk(house), gate, ports.listen(house.settings), log.getChild("admin")):
            known = await house.take_up()  # not before the folders are known to be ours
            await _run_parts(daemon, [] if known else [("asking what operators said", house.ask_again)])
    finally:
        if daemon.chores is not None:
            daemon.chores.stop()
        await house.journal.close()


async def _run_parts(daemon: Daemon, more: Sequence[tuple[str, Callable[[], Awaitable[None]]]]) -> None:
    house = daemon.house
    if daemon.chores is not None:
        daemon.chores.start()
    works: list[tuple[str, Callable[[], Awaitable[None]]]] = [
        ("journal writer", house.journal.run),
        ("MQTT session", partial(_hold_session, house, daemon.uplink)),
        ("reporter", house.reporter.run),
        ("jobs", house.jobs.run),
        *((f"duty {duty.scope}", duty.run) for duty in house.duties),
        *((("digests", daemon.digests.run),) if daemon.digests is not None else ()),
        *((("embedded broker", daemon.uplink.serve),) if daemon.uplink.serve is not None else ()),
        *more,
        ("watch", partial(_watch, house, daemon.ports.notifier)),
    ]
    async with asyncio.TaskGroup() as group:
        for name, work in works:
            group.create_task(keep(name, work, house.clock, house.health), name=name)
        house.ready.set()


async def _hold_session(house: House, uplink: Uplink) -> None:
    """Our own broker is given time to listen before its absence is a trouble."""
    if uplink.served is not None:
        waiting = asyncio.ensure_future(uplink.served.wait())
        await asyncio.wait({waiting}, timeout=BROKER_START)
        waiting.cancel()
    await house.session.run()


async def _watch(house: House, notifier: Notifier) -> None:
    """Tell the service manager that we are ready, how we are, and that the judging goes on."""
    notifier.ready(house.sentence())
    while True:
        await house.clock.sleep(min(notifier.watchdog_period or STATUS_EVERY, STATUS_EVERY))
        if house.is_alive():
            notifier.alive()
        notifier.status(house.sentence())

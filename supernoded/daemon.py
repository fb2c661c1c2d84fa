"""Build a daemon from settings and ports, and run all its parts in one task group. No logic of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from supernoded import guards
from supernoded.admin.access import Access, Gate
from supernoded.admin.answering import FrontDesk
from supernoded.admin.card_desk import serve_hands
from supernoded.admin.server import serve_admin
from supernoded.cards.room import Cards, Outlook
from supernoded.chores import Chores
from supernoded.cluster.commands.post import open_command_post, open_keyring
from supernoded.cluster.digests import Digests, Speaker
from supernoded.cluster.fleet.muster import FLEET
from supernoded.cluster.fleet.office import Seat, open_office
from supernoded.cluster.holds_told import HoldPost, connect_holds
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session
from supernoded.cluster.link.store import JournalStore
from supernoded.cluster.presence import VITALS, find_vitals
from supernoded.cluster.roles.seating import connect_seats, open_seats
from supernoded.cluster.roles.seats import Seats
from supernoded.cluster.topics import Vitals
from supernoded.duty import Duty, Means
from supernoded.holds import Holds
from supernoded.house import House, list_history, list_newest, make_world
from supernoded.job.jobs import Jobs, open_jobs
from supernoded.journal.writer import Journal
from supernoded.modes import Modes
from supernoded.notify import Notifier
from supernoded.ports import Ports, Uplink
from supernoded.reflex.looking import list_parts
from supernoded.registry import Parts, collect
from supernoded.reporting import Reporter
from supernoded.rota import Rota, open_digests
from supernoded.settings import Settings
from supernoded.supervisor import Health, keep
from supernoded.wire import Node, Pen

BROKER_START = 5.0  # seconds
CARDS, JOB, REFLEX = "cards", "job", "reflex"  # owners of our own parts, beside the plugins
DATABASE_CLOSE = 2.0  # seconds; a clean stop has 5
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


def open_nodes(settings: Settings, ports: Ports, seats: Seats) -> Callable[[str], Node]:
    """What each owner of parts works on."""
    wires_for = ports.wires(settings, Pen(seats.find_refusal))

    def node_for(owner: str) -> Node:
        maintenance = settings.list_maintenance(owner)
        return Node(
            settings.node, settings.topology, settings.limits, wires_for(owner), ports.clock, ports.host, settings.state, maintenance
        )

    return node_for


def collect_parts(settings: Settings, ports: Ports, node_for: Callable[[str], Node], log: logging.Logger) -> tuple[Parts, Jobs]:
    """What the plugins hand in and what the daemon has of its own, and the jobs behind some of these. Raises PluginError, SettingsError."""
    parts = collect(ports.plugins(settings), settings.plugins, node_for)
    jobs = open_jobs(settings, ports.clock, log.getChild("job"), node_for(JOB))
    parts.add_own(JOB, sensors=[jobs.sensor], actuators=[jobs.actuator])
    parts.add_own(REFLEX, sensors=list_parts(settings, ports.clock))
    return parts, jobs


def build(settings: Settings, ports: Ports, log: logging.Logger) -> Daemon:
    """Everything one life has, before anything is touched. Raises PluginError, SettingsError."""
    clock, started = ports.clock, ports.clock.now()
    names = settings.node, settings.cluster, f"{started:.3f}"
    speaker, health, database = Speaker(*names), Health(clock, log), ports.database(settings)
    seating = open_seats(settings, speaker, database, clock, health, log.getChild("roles"))
    seats = seating.seats
    node_for = open_nodes(settings, ports, seats)
    parts, jobs = collect_parts(settings, ports, node_for, log)
    journal, uplink = ports.journal(settings), ports.uplink(settings)
    outbox = Outbox(JournalStore(journal), clock, log.getChild("mqtt"), settings.mqtt.outbox)
    keyring = open_keyring(settings, clock, health)
    session = Session(uplink.fabric, *names, clock, outbox, log.getChild("mqtt"), fingerprint=keyring.keys.fingerprint)
    reporter = Reporter(*names, journal, outbox, clock, log)
    modes = Modes(settings.mode, {name: policy.mode for name, policy in settings.policies.items() if policy.mode is not None})
    duties = list[Duty]()
    post = HoldPost(speaker, clock, session.publish)
    holds = Holds(settings.node, journal, clock, post.tell)
    connect_holds(holds, post, session, settings.cluster)
    cards = open_cards(settings, node_for(CARDS), holds, journal, health, jobs, duties)
    parts.add_own(CARDS, sensors=[cards.sensor], actuators=cards.actuators)
    tally = guards.Tally(settings.guards.actions_per_minute, settings.guards.attempts_per_subject, settings.guards.attempt_window_s)
    commands = open_command_post(
        settings,
        speaker,
        keyring,
        session,
        journal,
        clock,
        seats,
        parts.route,
        list_guards_for_others(settings, modes, holds),
        log.getChild("commands"),
    )
    find_seat = partial(find_fleet_seat, duties, seats)
    office = open_office(settings, speaker, session, commands.commander, clock, seats, holds.standing, find_seat)
    means = Means(
        settings=settings,
        topology=settings.topology,
        parts=parts,
        route=commands.route,
        clock=clock,
        health=health,
        modes=modes,
        guards=[*list_guards(settings, seats, modes, holds, tally), office.grants.guard],  # last: it asks for what nothing else refuses
        tally=tally,
        teller=reporter,
        world=partial(make_world, settings, seats, modes, holds, parts.policies, duties),
        held=seats.find_refusal,
        log=log,
    )
    rota = Rota(seats, means, journal, database, duties)
    jobs.followers.append(rota.own.take)
    rota.own.followers += [cards.take, commands.directory.note]
    digests = open_digests(settings, rota, session, speaker, parts.watched_by_roles(), clock)
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
        rota=rota,
        database=database,
        herald=connect_seats(seating, speaker, session, commands.commander, clock),
        world=means.world,
        holds=holds,
        jobs=jobs,
        cards=cards,
        commander=commands.commander,
        office=office,
    )
    session.vitals = partial(_tell_vitals, house)
    return Daemon(house, ports, log, uplink, digests, ports.chores(settings, journal))


def open_cards(settings: Settings, node: Node, holds: Holds, journal: Journal, health: Health, jobs: Jobs, duties: Sequence[Duty]) -> Cards:
    """The daemon's own parts for cards; what it knows beyond them is asked of the duties, which come later."""
    outlook = Outlook(
        readings=lambda: list_newest(duties, node.clock.now()), history=lambda: list_history(duties), jobs=jobs.desk.list_jobs
    )
    return Cards(settings, node, holds, journal, health, outlook)


def find_fleet_seat(duties: Sequence[Duty], seats: Seats) -> Seat | None:
    """The role `fleet` as long as this node has it."""
    duty = next((duty for duty in duties if duty.scope == FLEET and seats.find_refusal(FLEET) is None), None)
    return Seat(duty.journal, duty.epoch, duty.take, duty.bench.last_words) if duty is not None else None


def _tell_vitals(house: House) -> Vitals:
    """What the next beat says of this node."""
    state = "up" if house.ready.is_set() else "starting"
    if house.health.troubles():
        state = "degraded"
    return find_vitals(house.duties[0].history.view(house.clock.now(), VITALS), house.settings.node, state)


def list_guards(settings: Settings, seats: Seats, modes: Modes, holds: Holds, tally: guards.Tally) -> list[guards.Guard]:
    """What every action must pass, the cheapest refusals first."""
    maintained = {name: policy.maintenance for name, policy in settings.policies.items()}
    return [
        guards.guard_deadline,
        guards.guard_mode(modes.of),
        guards.guard_lease(seats.find_refusal),
        guards.guard_maintenance(settings.maintenance, maintained),
        guards.guard_holds(holds.standing),
        tally.guard,
    ]


def list_guards_for_others(settings: Settings, modes: Modes, holds: Holds) -> list[guards.Guard]:
    """What an action must pass here that another node has asked for: it has counted its own rates, and has its grants."""
    maintained = {name: policy.maintenance for name, policy in settings.policies.items()}
    return [
        guards.guard_deadline,
        guards.guard_mode(modes.of),
        guards.guard_maintenance(settings.maintenance, maintained),
        guards.guard_holds(holds.standing),
    ]


async def run(daemon: Daemon) -> None:
    """Run it until cancelled; what waits for the journal is written last. Raises SettingsError when it cannot listen."""
    house, ports, log = daemon.house, daemon.ports, daemon.log
    admin = house.settings.admin
    serve_hands(house)
    gate = Gate(Access(reading_group=admin.group, operator_group=admin.operators), ports.uid)
    try:
        async with serve_admin(FrontDesk(house), gate, ports.listen(house.settings), log.getChild("admin")):
            known = await house.take_up()  # not before the folders are known to be ours
            await _run_parts(daemon, [] if known else [("asking what operators said", house.ask_again)])
    finally:
        if daemon.chores is not None:
            daemon.chores.stop()
        await asyncio.gather(house.journal.close(), _leave_database(house))


async def _run_parts(daemon: Daemon, more: Sequence[tuple[str, Callable[[], Awaitable[None]]]]) -> None:
    house = daemon.house
    if daemon.chores is not None:
        daemon.chores.start()
    works: list[tuple[str, Callable[[], Awaitable[None]]]] = [
        ("journal writer", house.journal.run),
        ("MQTT session", partial(_hold_session, house, daemon.uplink)),
        ("reporter", house.reporter.run),
        ("role views", house.herald.run),
        *((("database", house.database.run),) if house.database is not None else ()),
        ("holds", house.holds.run),
        ("cards", house.cards.run),
        ("jobs", house.jobs.run),
        ("commands", house.commander.run),
        *house.office.works,
        *((("digests", daemon.digests.run),) if daemon.digests is not None else ()),
        *((("embedded broker", daemon.uplink.serve),) if daemon.uplink.serve is not None else ()),
        *more,
        ("watch", partial(_watch, house, daemon.ports.notifier)),
    ]
    async with asyncio.TaskGroup() as group:
        for name, work in works:
            group.create_task(keep(name, work, house.clock, house.health), name=name)
        await _serve_roles(house)


async def _leave_database(house: House) -> None:
    """A server that hangs does not hold up the end."""
    if house.database is not None:
        with suppress(TimeoutError):
            await asyncio.wait_for(house.database.close(), DATABASE_CLOSE)


async def _serve_roles(house: House) -> None:
    """The duties and their seats, until cancelled: they end before the rest, so that devices and roles are given back in order."""
    works = [("seats", house.seats.run), ("rota", house.rota.run)]
    try:
        async with asyncio.TaskGroup() as group:
            for name, work in works:
                group.create_task(keep(name, work, house.clock, house.health), name=name)
            house.ready.set()
    finally:
        await house.seats.give_back()
        house.herald.tell()


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

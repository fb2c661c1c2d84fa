"""Build a daemon from settings and ports, storey by storey, before anything is touched. No logic of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from supernoded import guards
from supernoded.cards.room import Cards, Outlook
from supernoded.chores import Chores
from supernoded.clock import Clock
from supernoded.cluster.commands.keyring import Keyring
from supernoded.cluster.commands.post import CommandPost, open_command_post, open_keyring
from supernoded.cluster.digests import Digests, Speaker
from supernoded.cluster.fleet.muster import FLEET
from supernoded.cluster.fleet.office import Office, Seat, open_office
from supernoded.cluster.holds_told import HoldPost, connect_holds
from supernoded.cluster.link.echo import Echo, connect_echo
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session
from supernoded.cluster.link.store import JournalStore
from supernoded.cluster.presence import VITALS, find_vitals
from supernoded.cluster.roles.seating import Seating, connect_seats, open_seats
from supernoded.cluster.roles.seats import Seats
from supernoded.cluster.topics import Vitals
from supernoded.duty import Duty, Means
from supernoded.holds import Holds
from supernoded.house import House, list_history, list_newest, make_world
from supernoded.job.jobs import Jobs, open_jobs
from supernoded.job.troubles import TroubleRule
from supernoded.journal.writer import Journal
from supernoded.modes import Modes
from supernoded.ports import Ports, Uplink
from supernoded.reflex.looking import list_parts
from supernoded.registry import Parts, collect
from supernoded.reporting import Reporter
from supernoded.rota import Rota, open_digests
from supernoded.settings import Settings
from supernoded.settings.reliance import list_relied_on
from supernoded.supervisor import Health
from supernoded.wire import Node, Pen

CARDS, JOB, REFLEX = "cards", "job", "reflex"  # owners of our own parts, beside the plugins


@dataclass(frozen=True)
class Daemon:
    """A built house and what keeps it running."""

    house: House
    ports: Ports
    log: logging.Logger
    uplink: Uplink
    digests: Digests | None
    echo: Echo
    chores: Chores | None


@dataclass(frozen=True)
class Ground:
    """What everything stands on: the ways to the world, who this is, and the parts."""

    settings: Settings
    ports: Ports
    log: logging.Logger
    speaker: Speaker
    health: Health
    database: Journal | None
    seating: Seating
    node_for: Callable[[str], Node]
    parts: Parts
    jobs: Jobs
    journal: Journal
    uplink: Uplink
    outbox: Outbox
    keyring: Keyring
    session: Session
    modes: Modes

    @property
    def clock(self) -> Clock:
        """Of this life."""
        return self.ports.clock

    @property
    def seats(self) -> Seats:
        """The roles of this node."""
        return self.seating.seats


@dataclass(frozen=True)
class Rooms:
    """What works on it, and the duties, which come later."""

    duties: list[Duty]
    holds: Holds
    cards: Cards
    commands: CommandPost
    office: Office


def build(settings: Settings, ports: Ports, log: logging.Logger) -> Daemon:
    """Everything one life has, before anything is touched. Raises PluginError, SettingsError."""
    started = ports.clock.now()
    ground = lay_ground(settings, ports, log, f"{started:.3f}")
    rooms = open_rooms(ground)
    speaker, session, commands = ground.speaker, ground.session, rooms.commands
    reporter = Reporter(*speaker, ground.journal, ground.outbox, ground.clock, log)
    means = make_means(ground, rooms, reporter)
    rota = Rota(ground.seats, means, ground.journal, ground.database, rooms.duties)
    ground.jobs.followers.append(rota.own.take)
    rota.own.followers += [rooms.cards.take, commands.directory.note]
    digests = open_digests(settings, rota, session, speaker, ground.parts.watched_by_roles(), ground.clock, ground.health)
    house = House(
        settings=settings,
        parts=ground.parts,
        clock=ground.clock,
        pid=ports.pid,
        started=started,
        health=ground.health,
        modes=ground.modes,
        seats=ground.seats,
        journal=ground.journal,
        outbox=ground.outbox,
        session=session,
        broker=ground.uplink.name,
        reporter=reporter,
        rota=rota,
        database=ground.database,
        herald=connect_seats(ground.seating, speaker, session, commands.commander, ground.clock),
        world=means.world,
        holds=rooms.holds,
        jobs=ground.jobs,
        cards=rooms.cards,
        commander=commands.commander,
        office=rooms.office,
    )
    session.vitals = partial(_tell_vitals, house)
    echo = connect_echo(speaker, session, ground.clock, ground.health)
    return Daemon(house, ports, log, ground.uplink, digests, echo, ports.chores(settings, ground.journal))


def lay_ground(settings: Settings, ports: Ports, log: logging.Logger, life: str) -> Ground:
    """Raises PluginError, SettingsError."""
    clock, speaker = ports.clock, Speaker(settings.node, settings.cluster, life)
    health, database = Health(clock, log), ports.database(settings)
    seating = open_seats(settings, speaker, database, clock, health, log.getChild("roles"))
    node_for = open_nodes(settings, ports, seating.seats)
    parts, jobs = collect_parts(settings, ports, node_for, log)
    journal, uplink = ports.journal(settings), ports.uplink(settings)
    outbox = Outbox(JournalStore(journal), clock, log.getChild("mqtt"), settings.mqtt.outbox)
    keyring = open_keyring(settings, clock, health)
    return Ground(
        settings=settings,
        ports=ports,
        log=log,
        speaker=speaker,
        health=health,
        database=database,
        seating=seating,
        node_for=node_for,
        parts=parts,
        jobs=jobs,
        journal=journal,
        uplink=uplink,
        outbox=outbox,
        keyring=keyring,
        session=Session(uplink.fabric, *speaker, clock, outbox, log.getChild("mqtt"), fingerprint=keyring.keys.fingerprint),
        modes=Modes(settings.mode, {name: policy.mode for name, policy in settings.policies.items() if policy.mode is not None}),
    )


def open_rooms(ground: Ground) -> Rooms:
    """Holds, cards, commands and the office of the fleet, each connected to the broker."""
    settings, clock, session, seats = ground.settings, ground.clock, ground.session, ground.seats
    duties = list[Duty]()
    post = HoldPost(ground.speaker, clock, session.publish)
    holds = Holds(settings.node, ground.journal, clock, post.tell)
    connect_holds(holds, post, session, settings.cluster)
    cards = open_cards(settings, ground.node_for(CARDS), holds, ground.journal, ground.health, ground.jobs, duties)
    ground.parts.add_own(CARDS, sensors=[cards.sensor], actuators=cards.actuators)
    commands = open_command_post(
        settings,
        ground.speaker,
        ground.keyring,
        session,
        ground.journal,
        clock,
        seats,
        ground.parts.route,
        list_guards_for_others(settings, ground.modes, holds),
        ground.log.getChild("commands"),
    )
    find_seat = partial(find_fleet_seat, duties, seats)
    office = open_office(settings, ground.speaker, session, commands.commander, clock, seats, holds.standing, find_seat)
    ground.parts.add_own(FLEET, sensors=[office.sensor])
    return Rooms(duties, holds, cards, commands, office)


def make_means(ground: Ground, rooms: Rooms, teller: Reporter) -> Means:
    """What every duty works with."""
    settings, seats, modes, holds = ground.settings, ground.seats, ground.modes, rooms.holds
    tally = guards.Tally(settings.guards.actions_per_minute, settings.guards.attempts_per_subject, settings.guards.attempt_window_s)
    before = list_guards(settings, seats, modes, holds, tally)
    return Means(
        settings=settings,
        topology=settings.topology,
        parts=ground.parts,
        route=rooms.commands.route,
        clock=ground.clock,
        health=ground.health,
        modes=modes,
        guards=[*before, rooms.office.grants.guard],  # last: it asks for what nothing else refuses
        tally=tally,
        teller=teller,
        world=partial(make_world, settings, seats, modes, holds, ground.parts.policies, rooms.duties),
        held=seats.find_refusal,
        log=ground.log,
    )


def open_nodes(settings: Settings, ports: Ports, seats: Seats) -> Callable[[str], Node]:
    """What each owner of parts works on."""
    wires_for, relied_on = ports.wires(settings, Pen(seats.find_refusal)), list_relied_on(settings)

    def node_for(owner: str) -> Node:
        maintenance = settings.list_maintenance(owner)
        return Node(
            settings.node,
            settings.topology,
            settings.limits,
            wires_for(owner),
            ports.clock,
            ports.host,
            settings.state,
            maintenance,
            relied_on=relied_on,
        )

    return node_for


def collect_parts(settings: Settings, ports: Ports, node_for: Callable[[str], Node], log: logging.Logger) -> tuple[Parts, Jobs]:
    """What the plugins hand in and what the daemon has of its own, and the jobs behind some of these. Raises PluginError, SettingsError."""
    parts = collect(ports.plugins(settings), settings.plugins, node_for)
    jobs = open_jobs(settings, ports.clock, log.getChild("job"), node_for(JOB))
    parts.add_own(JOB, sensors=[jobs.sensor], actuators=[jobs.actuator], rules=[TroubleRule()])
    parts.add_own(REFLEX, sensors=list_parts(settings, ports.clock))
    return parts, jobs


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

"""Everything of one daemon that has to do with commands between nodes, put together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.directory import Directory
from supernoded.cluster.commands.keyring import Keyring
from supernoded.cluster.commands.remote import ActionDesk
from supernoded.cluster.commands.routing import Routing
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.session import Session
from supernoded.cluster.roles.confirming import answer_holds
from supernoded.cluster.roles.seats import Seats
from supernoded.guards import Guard
from supernoded.journal.writer import Journal
from supernoded.model import Action
from supernoded.parts import Actuator
from supernoded.settings import Settings
from supernoded.supervisor import Health

Route = Callable[[Action], Actuator | None]


@dataclass(frozen=True)
class CommandPost:
    """`directory.note` is given what this node reads; `route` finds who performs an action, here or elsewhere."""

    commander: Commander
    directory: Directory
    route: Route


def open_keyring(settings: Settings, clock: Clock, health: Health) -> Keyring:
    """The keys of this node; what is wrong with their files is a trouble of the daemon."""
    return Keyring(settings.keys, settings.node, clock, health, alone=len(settings.topology.nodes) < 2)


def open_command_post(
    settings: Settings,
    who: Speaker,
    keyring: Keyring,
    session: Session,
    journal: Journal,
    clock: Clock,
    seats: Seats,
    local: Route,
    guards: Sequence[Guard],
    log: logging.Logger,
) -> CommandPost:
    """`local` finds the actuators of this node; `guards` are what others' actions must pass here."""
    nodes = [node.name for node in settings.topology.nodes]
    commander = Commander(who, keyring, session, journal, clock, seats, log)
    answer_holds(commander, seats)
    ActionDesk(who.node, local, guards, clock).join(commander)
    directory = Directory(who, clock, nodes, partial(session.publish, retain=True, qos=1))
    session.on(topics.of_nodes(who.cluster, "jobs"), directory.hear)
    session.on_link.append(directory.republish)
    return CommandPost(commander, directory, Routing(directory, nodes, local, commander).route)

"""The seats of one daemon, with all that tells and hears of them, put together."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.session import Session
from supernoded.cluster.roles.candidates import list_candidates
from supernoded.cluster.roles.confirming import confirm
from supernoded.cluster.roles.leased import LeasedSeats
from supernoded.cluster.roles.seats import FixedSeats, Seats
from supernoded.cluster.roles.views import Herald, Views
from supernoded.journal.writer import Journal
from supernoded.settings import Settings
from supernoded.supervisor import Health


@dataclass(frozen=True)
class Seating:
    """What holds the seats, and what is heard of those of others."""

    seats: Seats
    views: Views


def open_seats(settings: Settings, who: Speaker, database: Journal | None, clock: Clock, health: Health, log: logging.Logger) -> Seating:
    """Leased where there is a database, else as the settings fix them."""
    views = Views(settings.cluster, [node.name for node in settings.topology.nodes], clock, health)
    own = FixedSeats(who.node, settings.list_seats(), clock.now())
    if database is None:
        return Seating(own, views)
    terms, site = settings.seats, settings.topology
    candidates = {role: list_candidates(role, site, terms.candidates, terms.standbys) for role in settings.list_roles()}
    seats = LeasedSeats(f"{who.node}#{who.life}", own, candidates, terms, database, clock, views, health, log)
    return Seating(seats, views)


def connect_seats(seating: Seating, who: Speaker, session: Session, commander: Commander, clock: Clock) -> Herald:
    """Let others hear of our seats, and us of theirs."""
    herald = Herald(seating.seats, who, seating.views, clock, session.publish)
    if isinstance(seating.seats, LeasedSeats):
        seating.seats.confirm = partial(confirm, commander)
        seating.seats.on_change.append(herald.look)
    session.on(topics.of_role_views(who.cluster), seating.views.hear)
    session.on_link.append(herald.tell_anew)
    return herald

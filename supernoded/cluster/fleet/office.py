"""What a daemon has of the role `fleet`: as anybody it asks for grants, as the holder it hears the site and gives them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import msgspec

from supernoded.clock import Clock
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.words import Command, Reply, answer_to
from supernoded.cluster.digests import Speaker
from supernoded.cluster.fleet.breakers import Want
from supernoded.cluster.fleet.grantor import PREFIX, Grantor
from supernoded.cluster.fleet.grants import Answer, Grants
from supernoded.cluster.fleet.holder import Ear, Fleet
from supernoded.cluster.fleet.missing import GoneSensor
from supernoded.cluster.fleet.muster import FLEET, Muster
from supernoded.cluster.fleet.probing import Prober, Take
from supernoded.cluster.fleet.rollcall import list_nodes
from supernoded.cluster.topics import NodeTold
from supernoded.errors import JournalError, RefusedError, WireError
from supernoded.journal.writer import Journal
from supernoded.model import Hold, Reading, Verdict
from supernoded.reading import make_reading
from supernoded.settings import Settings

GRANT = "grant"  # the verb
LOOK_EVERY = 5.0  # seconds between two looks at the breakers
FRESH = 2.5 * LOOK_EVERY
MOST_WORD = 200  # characters of each word of a want (ours)
LONGEST_GRANT = 600.0  # seconds; the most of `breakers.grant_s`


class Seat(NamedTuple):
    """The role while this node has it: where it is written, and where its readings go."""

    journal: Journal
    epoch: int
    take: Take
    list_verdicts: Callable[[], Sequence[Verdict]]


class Roles(Protocol):
    """Who has which role, as far as is known."""

    @property
    def roles(self) -> Mapping[str, str]:
        """Role -> node."""
        ...


@dataclass(frozen=True)
class Office:
    """See above. `works` are kept running, `sensor` by the duty of the role."""

    muster: Muster
    sensor: GoneSensor
    fleet: Fleet
    prober: Prober
    grantor: Grantor
    grants: Grants
    works: Sequence[tuple[str, Callable[[], Awaitable[None]]]]


def open_office(
    settings: Settings,
    who: Speaker,
    ear: Ear,
    commander: Commander,
    clock: Clock,
    roles: Roles,
    holds: Callable[[], Sequence[Hold]],
    find_seat: Callable[[], Seat | None],
) -> Office:
    """Make it. `find_seat` gives the seat as long as this node has the role, the same one from gain to loss."""
    nodes = [node.name for node in settings.topology.nodes]
    muster = Muster(settings.cluster, settings.node, nodes)

    def find_take() -> Take | None:
        seat = find_seat()
        return seat.take if seat is not None else None

    def find_verdicts() -> Sequence[Verdict] | None:
        seat = find_seat()
        return seat.list_verdicts() if seat is not None else None

    def tell_nodes() -> Sequence[NodeTold]:
        return list_nodes(muster, find_verdicts() or (), clock.now())

    def find_desk() -> tuple[Journal, int] | None:
        seat = find_seat()
        return (seat.journal, seat.epoch) if seat is not None else None

    sensor = GoneSensor(settings.node, clock, find_verdicts, muster.find_split)
    fleet = Fleet(who, muster, ear, clock, find_take, tell_nodes)
    prober = Prober(settings.topology, clock, lambda: muster.list_late(clock.now()), muster.has_beaten_since)
    grantor = Grantor(settings.breakers, clock, holds, lambda: muster.find_split(clock.now()), find_desk)
    grants = Grants(clock, partial(ask_holder, commander, roles), holds)
    commander.serve(GRANT, partial(answer_want, grantor, nodes))
    works = (
        ("fleet", fleet.run),
        ("probing", partial(prober.run, find_take)),
        ("breakers", partial(watch_breakers, grantor, clock, find_seat)),
        ("grants", grants.run),
    )
    return Office(muster, sensor, fleet, prober, grantor, grants, works)


async def ask_holder(commander: Commander, roles: Roles, want: Want) -> Answer:
    """What the holder of the role says. Raises WireError when there is none, or it does not answer."""
    holder = roles.roles.get(FLEET)
    if holder is None:
        raise WireError("nobody is known to have the role fleet, which gives leave to take things out")
    reply = await commander.ask(holder, GRANT, details=msgspec.to_builtins(want))
    if reply.details.get("granted") != "yes":
        return Answer(granted=False, text=f"{holder}, which has the role fleet, refuses: {reply.text}")
    seconds = reply.details.get("seconds", "")
    try:
        return Answer(granted=True, text=reply.text, seconds=min(max(0.0, float(seconds)), LONGEST_GRANT))
    except ValueError as error:
        raise WireError(f"{holder} grants for {seconds[:40]!r} seconds: run one version on all nodes") from error


async def answer_want(grantor: Grantor, nodes: Collection[str], command: Command) -> Reply:
    """The answer to another node's want, or our own. Raises RefusedError for what is none: what is granted is written down."""
    try:
        want = msgspec.convert(dict(command.details), Want)
    except msgspec.ValidationError as error:
        raise RefusedError(f"not a want: {error}") from error
    if want.subject.partition("/")[0] not in nodes:
        raise RefusedError(f"{want.subject[:80]!r} is on no node of the topology: write the same [[nodes]] on all nodes")
    longest = max(len(word) for word in msgspec.structs.astuple(want))
    if longest > MOST_WORD:
        raise RefusedError(f"not a want: one of its words has {longest} characters, at most {MOST_WORD} are taken")
    answer = await grantor.grant(want)
    details = {"granted": "yes" if answer.granted else "no", "seconds": f"{answer.seconds:.3f}"}
    return answer_to(command, answer.text, details=details)


async def watch_breakers(grantor: Grantor, clock: Clock, find_seat: Callable[[], Seat | None]) -> None:
    """Read which have tripped, for ever, while this node has the role."""
    while True:
        seat = find_seat()
        if seat is not None:
            seat.take([await _read_breakers(grantor, seat.journal, clock)], FRESH)
        await clock.sleep(LOOK_EVERY)


async def _read_breakers(grantor: Grantor, journal: Journal, clock: Clock) -> Reading:
    try:
        await grantor.look(journal)
    except JournalError as error:
        return make_reading(FLEET, "fleet.breakers", None, "flags", clock.now(), f"the journal cannot tell: {error}")
    tripped = frozenset(latch.name.removeprefix(PREFIX) for latch in grantor.tripped)
    return make_reading(FLEET, "fleet.breakers", tripped, "flags", clock.now())

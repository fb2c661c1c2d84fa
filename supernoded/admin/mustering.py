"""Nodes as rows: the view of the fleet's holder, and what this daemon knows beside it of roles and holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from supernoded.cluster.fleet import breakers
from supernoded.cluster.fleet.breakers import BREAKERS, Taken
from supernoded.cluster.fleet.grantor import PREFIX
from supernoded.cluster.fleet.holder import hear_told
from supernoded.cluster.fleet.muster import FLEET
from supernoded.cluster.topics import FleetTold, NodeTold
from supernoded.errors import AdminError
from supernoded.house import House
from supernoded.messages import BreakerReset, BreakerRow, Breakers, BreakerWasReset, GrantRow, NodeRow, Nodes
from supernoded.model import Hold

WITHIN = 6.0  # seconds: the holder tells every 5


async def tell_nodes(house: House) -> Nodes:
    """By our own ears where this node has the role `fleet`, else by the word of the node that has it."""
    now, office, holder = house.clock.now(), house.office, house.seats.roles.get(FLEET, "")
    if office.fleet.holds_seat:
        told = FleetTold(node=house.settings.node, life="", at=now, part=0, parts=1, nodes=tuple(office.fleet.list_nodes()))
        strangers = tuple(sorted(office.muster.strangers))
        return make_nodes(house, [told], holder or house.settings.node, office.muster.find_doubt(now), strangers)
    if not holder:
        return make_nodes(house, [], "", f"nobody is known to have the role fleet: {_say_why_nobody(house)}")
    if holder == house.settings.node:
        return make_nodes(house, [], "", "this node has the role fleet and has not begun to hear yet")
    parts = await hear_told(house.session, house.settings.cluster, holder, WITHIN)
    trouble = "" if parts else f"{holder}, which has the role fleet, has told nothing for {WITHIN:g} s"
    return make_nodes(house, parts, holder if parts else "", trouble)


def _say_why_nobody(house: House) -> str:
    """What to look at first."""
    if not house.session.state.connected:
        return "this node has no link to the broker; `supernodectl status` says why"
    if house.settings.journal.database:
        return "look at the database that leases it; `supernodectl status` says whether it answers"
    return "give it a node under [roles], or a database to lease it in"


def make_nodes(house: House, parts: Sequence[FleetTold], holder: str, trouble: str, strangers: tuple[str, ...] = ()) -> Nodes:
    """The answer: all nodes of the topology, in its order."""
    now = house.clock.now()
    said = {node.name: (node, part.at) for part in parts for node in part.nodes}
    age = max((max(now - part.at, 0.0) for part in parts), default=None)
    roles, holds = house.seats.roles, house.holds.standing()
    rows = [_make_row(node.name, said.get(node.name), roles, holds) for node in house.settings.topology.nodes]
    return Nodes(now=now, nodes=tuple(rows), told_by=holder, told_age=age, trouble=trouble, strangers=strangers)


def _make_row(name: str, told: tuple[NodeTold, float] | None, roles: Mapping[str, str], holds: Iterable[Hold]) -> NodeRow:
    node, at = told if told is not None else (NodeTold(name=name, state="unknown"), 0.0)
    return NodeRow(
        name=name,
        state=node.state,
        text=node.text,
        beat_age=max(at - node.heard, 0.0) if node.heard is not None else None,
        life=node.life,
        version=node.version,
        said=node.said,
        power=node.power,
        hottest=node.hottest,
        step=node.step,
        clock_offset=node.offset,
        roles=tuple(sorted(role for role, holder in roles.items() if holder == name)),
        holds=tuple(f"{hold.subject} by {hold.owner}: {hold.reason}" for hold in holds if _is_of(hold.subject, name)),
    )


def _is_of(subject: str, node: str) -> bool:
    return subject.partition("/")[0] == node


async def tell_breakers(house: House) -> Breakers:
    """As the fleet's holder has them. Raises AdminError elsewhere, JournalError."""
    office = house.office
    if not office.fleet.holds_seat:
        raise AdminError(_say_elsewhere(house))
    given, now = await office.grantor.list_given(), house.clock.now()
    latches = {latch.name.removeprefix(PREFIX): latch for latch in office.grantor.tripped}
    counted = breakers.count(house.holds.standing(), given, house.settings.breakers, now)
    rows = [
        BreakerRow(
            name=name,
            limit=getattr(house.settings.breakers, name),
            subjects=counted[name],
            tripped=name in latches,
            since=latches[name].since if name in latches else None,
            text=latches[name].text if name in latches else "",
        )
        for name in BREAKERS
    ]
    grants = tuple(_make_grant(one) for one in given)
    return Breakers(now=now, holder=house.settings.node, trouble=office.muster.find_split(now), breakers=tuple(rows), grants=grants)


def _make_grant(taken: Taken) -> GrantRow:
    return GrantRow(subject=taken.subject, cause=taken.cause, incident=taken.incident, at=taken.at, until=taken.until)


async def reset_breaker(house: House, name: str, wanted: BreakerReset, by: str) -> BreakerWasReset:
    """A person's word. Raises AdminError, JournalError; reason and person are in the journal of requests."""
    del wanted
    if name not in BREAKERS:
        raise AdminError(f"there is no breaker {name!r}; there are {', '.join(BREAKERS)}")
    if not house.office.fleet.holds_seat:
        raise AdminError(_say_elsewhere(house))
    latch = await house.office.grantor.reset(name)
    return BreakerWasReset(now=house.clock.now(), name=name, since=latch.since, text=latch.text, by=by)


def _say_elsewhere(house: House) -> str:
    holder = house.seats.roles.get(FLEET, "")
    if not holder or holder == house.settings.node:
        return (
            "nobody is known to have the role fleet, whose holder keeps the breakers; until somebody has, nothing is taken out of service"
        )
    return f"the breakers are kept by {holder}, which has the role fleet: run `supernodectl breakers` there"

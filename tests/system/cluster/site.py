"""A site of three nodes, each with a whole daemon in a network namespace of its own, one broker and one database."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import psycopg
from psycopg.rows import class_row

from supernoded.journal import migrate
from supernoded.messages import ActionFilter, Actions, Holds, ReadingFilter, Readings, Status
from supernoded.model import Hold, Lease, Outcome
from supernoded.pki.office import Office
from tests.protocol.postgres import Cluster
from tests.system.cluster import sick
from tests.system.cluster.networks import SITE, Network, Place, Port
from tests.system.cluster.peers import CLUSTER, LOOK, PATIENCE, Broker, Ear, listening
from tests.system.daemons import Daemon, install

NODES = ("n0", "n1", "n2")
TERM = 3.0  # seconds
DAYS = 30.0
STARTS_WITHIN = 60.0  # seconds; three processes start at once
TABLES = """
[journal]
database = "{database}"
[seats]
term_s = {term}
renew_s = 1
[policies.fleet]
mode = "act"
[incidents]
clear_after_s = 5
{nodes}
{more}
"""
NODE = """
[[nodes]]
name = "{name}"
cards = {cards}
address = "{address}:22"
"""
WARD = """
[policies.sick]
mode = "act"
[plugins.sick]
folder = "{ward}"
"""
QUIET = 'plugins_off = ["ascend", "fabric", "hwmon", "link_ber", "nvidia", "power", "thermal"]'  # what this machine has none of


@dataclass(frozen=True)
class Fitting:
    """What the nodes of a site have beside what every site has."""

    tables: str = ""  # the same on all of them
    keys: str = QUIET  # of no table
    cards: int = 2  # of each node
    term: float = TERM  # s of a lease
    tools: Path | None = None  # a folder whose `<node>/bin` has what that node finds by its name
    policies: tuple[ModuleType, ...] = ()  # of the test's own
    own: Mapping[str, str] = field(default_factory=dict)  # tables of one node alone, by its name

    def equip(self, node: str) -> dict[str, str]:
        """The environment of a node's daemon."""
        return {"PATH": f"{self.tools / node / 'bin'}:{os.environ.get('PATH', os.defpath)}"} if self.tools is not None else {}

    def install(self, folder: Path) -> dict[str, str]:
        """Make the policies of the test's own known to whoever has this environment."""
        for module in (sick, *self.policies):
            name = module.__name__.rpartition(".")[2]
            path = install(folder, name, f"{name}_policy", Path(str(module.__file__)).read_text())
        return {"PYTHONPATH": path}


PLAIN = Fitting()


@dataclass
class Member:
    """One node of the site."""

    place: Place
    daemon: Daemon
    ward: Path  # what is sick there, see sick.py

    @property
    def name(self) -> str:
        """Of the node."""
        return self.daemon.name

    async def list_roles(self) -> dict[str, int]:
        """The roles that it says it has, with their epochs."""
        return {role.name: role.epoch for role in (await self.daemon.status()).roles}

    async def wait_for_role(self, role: str) -> None:
        """It says that it has it."""
        await self.daemon.until("status", Status, lambda told: role in {one.name for one in told.roles})

    async def wait_for_link(self, after: float = 0.0) -> float:
        """It has a link to the broker that came up after a moment; when that was."""
        told = await self.daemon.until(
            "status", Status, lambda told: told.session and told.session.connected and told.session.since > after
        )
        assert told.session is not None
        return told.session.since

    async def list_holds(self) -> tuple[Hold, ...]:
        """The holds it knows that stand."""
        return (await self.daemon.ask("holds", Holds)).holds

    def sicken(self, slot: int) -> str:
        """A card of this node becomes sick; gives its subject."""
        (self.ward / f"card{slot}").touch()
        return f"{self.name}/card{slot}"

    def cure(self, slot: int) -> None:
        """It is well again."""
        (self.ward / f"card{slot}").unlink()

    async def wait_for_outcome(self, target: str, kind: str = "card.hold") -> Outcome:
        """What became of the newest action of a kind on a card of this node."""
        asked = ActionFilter(policy="sick")
        told = await self.daemon.until("actions", Actions, lambda told: _find_outcome(told, target, kind), asked)
        outcome = _find_outcome(told, target, kind)
        assert outcome is not None
        return outcome


def _find_outcome(told: Actions, target: str, kind: str) -> Outcome | None:
    found = [deed for deed in told.actions if (deed.action.step.target, deed.action.step.kind) == (target, kind)]
    return max(found, key=lambda deed: deed.action.issued).outcome if found else None


@dataclass
class Site:
    """All of it."""

    broker: Broker
    ear: Ear
    members: Sequence[Member]
    database: Port
    ledger: str  # URL of the database for the test, which no cut reaches

    @property
    def daemons(self) -> list[Daemon]:
        """Of all nodes."""
        return [member.daemon for member in self.members]

    def find(self, name: str) -> Member:
        """The member of a name; `node#life` will do."""
        return next(member for member in self.members if member.name == name.partition("#")[0])

    def list_others(self, than: Member) -> list[Member]:
        """The members but one."""
        return [member for member in self.members if member is not than]

    async def settle(self) -> Member:
        """Wait until the holder of `fleet` hears all nodes, so that it gives grants; gives that one."""
        holder = self.find((await self.wait_for_lease("fleet")).holder)
        await holder.wait_for_role("fleet")
        heard = ReadingFilter(quantity="fleet.heard")
        await holder.daemon.until("readings", Readings, lambda told: [one.value for one in told.readings] == [float(len(NODES))], heard)
        return holder

    async def read_leases(self) -> dict[str, Lease]:
        """What the database says who has which role now."""
        query = "SELECT role, holder, epoch, until FROM leases WHERE until > extract(epoch FROM clock_timestamp())"
        async with await psycopg.AsyncConnection.connect(self.ledger, autocommit=True, row_factory=class_row(Lease)) as connection:
            rows = await (await connection.execute(query)).fetchall()
        return {lease.role: lease for lease in rows}

    async def read_until(self, role: str) -> float:
        """When the newest lease of a role ends or has ended, by the database's clock."""
        async with await psycopg.AsyncConnection.connect(self.ledger, autocommit=True) as connection:
            row = await (await connection.execute("SELECT until FROM leases WHERE role = %s", (role,))).fetchone()
        assert row is not None
        return float(row[0])

    async def wait_for_lease(self, role: str, fits: Callable[[Lease], object] = bool, within: float = PATIENCE) -> Lease:
        """The lease of a role as soon as it fits."""
        lease: Lease | None = None
        try:
            async with asyncio.timeout(within):
                while True:
                    lease = (await self.read_leases()).get(role)
                    if lease is not None and fits(lease):
                        return lease
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            raise AssertionError(f"the lease of {role} did not become so within {within:g} s: {lease}\n{self.tell_logs()}") from None

    def tell_logs(self) -> str:
        """The last words of each daemon."""
        return "\n".join(f"--- {each.name}\n" + "\n".join(each.log.heard[-20:]) for each in self.daemons)


def write_tables(places: Sequence[Place], database: str, fitting: Fitting) -> str:
    """The tables that all nodes of the site share."""
    named = zip(NODES, places, strict=True)
    nodes = "".join(NODE.format(name=name, cards=fitting.cards, address=place.address) for name, place in named)
    return TABLES.format(database=database, term=fitting.term, nodes=nodes, more=fitting.tables)


def make_keys(folder: Path) -> Office:
    """The site's authority, and what it has issued to the broker and to each node."""
    office = Office(folder, time.time())
    office.found(CLUSTER, DAYS)
    office.issue("broker", DAYS, broker=True, hosts=[SITE], at=str(office.find_folder("broker", broker=True)))
    for name in NODES:
        office.issue(name, DAYS, at=str(office.find_folder(name, broker=False)))
    return office


def read_handout(office: Office, name: str, file: str, *, broker: bool = False) -> str:
    """What `supernodectl pki` wrote for a machine."""
    return (office.find_folder(name, broker=broker) / file).read_text()


@asynccontextmanager
async def running_site(
    folder: Path, network: Network, database: Cluster, fitting: Fitting = PLAIN, *, start: bool = True
) -> AsyncIterator[Site]:
    """Three nodes whose daemons are ready, unless they are not to start; all of it ends with the context."""
    url = database.new_database()
    ledger = database.local_url(url.rpartition("/")[2])
    await asyncio.to_thread(migrate.upgrade, ledger)
    async with AsyncExitStack() as stack:
        office = await asyncio.to_thread(make_keys, folder / "pki")
        broker = Broker(folder / "broker", network.enter, read_handout(office, "broker", "mosquitto.conf", broker=True))
        stack.push_async_callback(broker.kill)
        await broker.start()
        ear = await stack.enter_async_context(listening(broker))
        places = [stack.enter_context(network.place(index)) for index in range(len(NODES))]
        tables, members, environment = write_tables(places, url, fitting), [], fitting.install(folder / "plugins")
        for name, place in zip(NODES, places, strict=True):
            ward = folder / name / "ward"
            ward.mkdir(parents=True)
            own = "\n".join((tables, read_handout(office, name, "supernoded.toml"), WARD.format(ward=ward), fitting.own.get(name, "")))
            daemon = Daemon(folder / name, own, fitting.keys, environment | fitting.equip(name), name=name, enter=place.enter)
            members.append(Member(place, await stack.enter_async_context(daemon), ward))
        if start:
            await asyncio.gather(*(member.daemon.start(STARTS_WITHIN) for member in members))
        yield Site(broker, ear, members, Port(database.port), ledger)

"""The tables of `supernoded.toml` as frozen types. Every default is a value that a daemon can run with."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from supernoded.limits import Limits
from supernoded.model import Mode
from supernoded.settings.cluster import Breakers, Hooks, Keys, Seats
from supernoded.settings.job import Job
from supernoded.settings.reflex import Reflex
from supernoded.settings.vault import Vault
from supernoded.tables import Conflict, Table, about
from supernoded.topology import Topology

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_NO_HOST = re.compile(r"[^A-Za-z0-9_.-]")  # what stands in no name; an IPv6 address has more
SITE = "site"  # of the role power/<site>, where the settings of the power policy name no other
_LONE_ROLES = ("spares", "fleet")
_ROLES = ("ring", "cdu", "feed", "power", "job")  # design: ring/<domain>, cdu/<id>, ...


class Journal(Table, frozen=True, kw_only=True):
    """What is kept, where and for how long."""

    file: Annotated[Path, about("SQLite file of this node, in the state folder")] = Path("journal.db")
    readings_days: Annotated[int, about("how long readings are kept", unit="days", ge=1, le=3650)] = 7
    readings_mb: Annotated[int, about("space for readings", unit="MB", ge=1, le=1_000_000)] = 1024
    events_days: Annotated[int, about("how long events, incidents and actions are kept", unit="days", ge=1, le=36500)] = 400
    database: Annotated[str, about("PostgreSQL URL for roles and the fleet's copy; empty = none")] = ""
    database_password_file: Annotated[Path, about("file with its password and nothing else")] | None = None

    def conflicts(self) -> Iterable[Conflict]:
        """The database is PostgreSQL, and its password is in a file."""
        if not self.database:
            if self.database_password_file is not None:
                yield Conflict(key=("database_password_file",), fault="there is no database", remedy="set database, or remove it")
            return
        try:
            url = urlsplit(self.database)
            reachable = url.scheme.partition("+")[0] == "postgresql" and bool(url.hostname or url.query)
            known = url.password is not None
        except ValueError:
            reachable, known = False, False
        if known:
            yield Conflict(key=("database",), fault="holds a password", remedy="move it to a file and name that in database_password_file")
        elif not reachable:
            yield Conflict(key=("database",), fault="is no PostgreSQL URL", remedy="write postgresql://user@host:5432/name")


class Mqtt(Table, frozen=True, kw_only=True):
    """The message broker."""

    host: Annotated[str, about("broker; empty = an embedded one on loopback")] = ""
    port: Annotated[int, about("its port; where not set 1883, with TLS 8883, for the embedded one a free port", ge=1, le=65535)] | None = (
        None
    )
    username: Annotated[str, about("user name at the broker; empty = none")] = ""
    password_file: Annotated[Path, about("file with the password and nothing else")] | None = None
    ca_file: Annotated[Path, about("certificates that the broker's is checked against; set = TLS")] | None = None
    certificate_file: Annotated[Path, about("our client certificate")] | None = None
    key_file: Annotated[Path, about("its private key")] | None = None
    keepalive_s: Annotated[int, about("longest silence on the connection", unit="s", ge=1, le=3600)] = 15
    session_expiry_s: Annotated[int, about("how long the broker keeps our session", unit="s", ge=0, le=4_294_967_295)] = 86_400
    outbox: Annotated[int, about("messages kept while the broker is away", ge=100, le=1_000_000)] = 10_000

    def conflicts(self) -> Iterable[Conflict]:
        """A host that can be none, and what only works in company."""
        if _NO_HOST.search(self.host) and not _is_address(self.host):
            remedy = "write its name or address alone, such as broker.example or ::1; the port has a key of its own"
            yield Conflict(key=("host",), fault="is no host", remedy=remedy)
        pairs = (
            ("key_file", "certificate_file"),
            ("certificate_file", "key_file"),
            ("certificate_file", "ca_file"),
            ("password_file", "username"),
        )
        for name, other in pairs:
            if getattr(self, name) and not getattr(self, other):
                yield Conflict(key=(name,), fault=f"is of no use without {other}", remedy=f"set {other}, or remove {name}")
        for name in ("ca_file", "username"):
            if getattr(self, name) and not self.host:
                yield Conflict(key=(name,), fault="is of no use with the embedded broker", remedy=f"set host, or remove {name}")


class Admin(Table, frozen=True, kw_only=True):
    """The socket that supernodectl talks to."""

    socket: Annotated[Path, about("unix socket, in the runtime folder")] = Path("admin.sock")
    group: Annotated[str, about("group whose members may look; empty = nobody else")] = "supernoded"
    operators: Annotated[str, about("group whose members may change things; empty = nobody else")] = "supernoded-operators"


class Incidents(Table, frozen=True, kw_only=True):
    """When troubles end and when they are one."""

    clear_after_s: Annotated[float, about("how long a cause must be clear before its incident closes", unit="s", ge=0, le=86400)] = 60.0
    common_window_s: Annotated[float, about("time within which like troubles may have one cause", unit="s", ge=0, le=3600)] = 30.0
    common_count: Annotated[
        int, about("like troubles within that time that are one, of the site, though they share nothing", ge=2, le=1000)
    ] = 3


class Guards(Table, frozen=True, kw_only=True):
    """Bounds on what is done."""

    attempts_per_subject: Annotated[int, about("actions of one kind on one subject within the window", ge=1, le=100)] = 3
    attempt_window_s: Annotated[float, about("the window", unit="s", ge=1, le=604_800)] = 3600.0
    actions_per_minute: Annotated[int, about("actions of this node", unit="per minute", ge=1, le=1000)] = 20


class Policy(Table, frozen=True, kw_only=True):
    """One policy plugin's leash."""

    mode: Annotated[Mode, about("how far it may go; absent = as the node")] | None = None
    maintenance: Annotated[tuple[str, ...], about("subjects, or patterns over subjects, that it leaves alone")] = ()


class Settings(Table, frozen=True, kw_only=True):
    """Everything a daemon is told. As read: paths are absolute, the topology is there."""

    node: Annotated[str, about("name of this node; default the host name")]
    cluster: Annotated[str, about("name of the cluster")] = "c0"
    mode: Annotated[Mode, about("how far policies may go that have no mode of their own")] = Mode.OBSERVE
    state: Annotated[Path, about("folder for what outlives the daemon; $STATE_DIRECTORY where not set")] = Path("/var/lib/supernoded")
    runtime: Annotated[Path, about("folder for sockets; $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR/supernoded where not set")] = Path(
        "/run/supernoded"
    )
    topology: Topology = Topology()
    staging: Annotated[bool, about("this is a staging node: telemetry faults may be injected (safety rule 4)")] = False
    maintenance: Annotated[tuple[str, ...], about("subjects, or patterns over subjects, that nothing is done to")] = ()
    plugins_off: Annotated[tuple[str, ...], about("plugins that are not loaded")] = ()
    journal: Journal = Journal()
    mqtt: Mqtt = Mqtt()
    admin: Admin = Admin()
    job: Job = Job()
    vault: Vault = Vault()
    reflex: Reflex = Reflex()
    seats: Seats = Seats()
    keys: Keys = Keys()
    breakers: Breakers = Breakers()
    hooks: Hooks = Hooks()
    incidents: Incidents = Incidents()
    guards: Guards = Guards()
    roles: Annotated[Mapping[str, str], about("role = node, the fixed seats of a site without a database")] = {}
    policies: Annotated[Mapping[str, Policy], about("policies by name")] = {}
    limits: Limits = Limits()
    plugins: Annotated[Mapping[str, Mapping[str, Any]], about("tables of the plugins, each read by its plugin")] = {}

    def list_maintenance(self, policy: str) -> tuple[str, ...]:
        """What is under maintenance for a policy: subjects, or patterns over subjects."""
        return (*self.maintenance, *(self.policies[policy].maintenance if policy in self.policies else ()))

    @property
    def leases_roles(self) -> bool:
        """Whether roles are leased in the database; on a site of one node that node has them all."""
        return bool(self.journal.database) and len(self.topology.nodes) > 1

    @property
    def power_role(self) -> str:
        """The role that judges all feeds, as the settings of the power policy name it."""
        return f"power/{self.plugins.get('power', {}).get('site', SITE)}"

    def list_seats(self) -> Mapping[str, str]:
        """Role -> node: as the settings say; else a ring within one node is that node's, and on a site of one node so is all."""
        nodes = [node.name for node in self.topology.nodes]
        own: dict[str, str] = {}
        for ring in self.topology.rings:
            members = {member.partition("/")[0] for member in ring.order}
            if len(members) == 1:
                own[f"ring/{ring.name}"] = members.pop()
        if len(nodes) == 1:
            own |= dict.fromkeys(self.list_roles(), nodes[0])
        return {**own, **self.roles}

    def list_roles(self) -> list[str]:
        """Every role that the topology calls for, sorted; of a ring within one node none, since that is that node's own."""
        site = self.topology
        feeds = [f"feed/{name}" for name in site.list_feeds()]
        rings = [f"ring/{ring.name}" for ring in site.rings if len({member.partition("/")[0] for member in ring.order}) > 1]
        return sorted({*rings, *(loop.subject for loop in site.loops), *feeds, *([self.power_role] if feeds else []), *_LONE_ROLES})

    def list_needed_roles(self) -> list[str]:
        """The roles that something of this node needs: of its rings, its wired loop and feeds, and their site."""
        site = self.topology
        rings = [f"ring/{ring.name}" for ring in site.rings if any(member.partition("/")[0] == self.node for member in ring.order)]
        mine = [node for node in site.nodes if node.name == self.node]
        loops = [loop.subject for loop in site.loops if loop.wire and any(loop.name == node.loop for node in mine)]
        wired = {ups.name for ups in site.ups if ups.wire} | {pdu.feed for pdu in site.pdus if pdu.wire}
        feeds = [f"feed/{feed}" for node in mine for feed in node.feeds if feed in wired]
        return [*rings, *loops, *feeds, *([self.power_role] if feeds else [])]

    def list_vacant_roles(self) -> list[str]:
        """Those of them that no settings give to a node, on a site without a database."""
        seats = self.list_seats()
        power = any(role.startswith("power/") for role in seats)
        needed = [] if self.leases_roles else self.list_needed_roles()
        return [role for role in needed if role not in seats and not (power and role == self.power_role)]

    def conflicts(self) -> Iterable[Conflict]:
        """Names that do not resolve, and seats that cannot be."""
        for key in ("node", "cluster"):
            if not _NAME.fullmatch(getattr(self, key)):
                yield Conflict(key=(key,), fault="is not a name", remedy="use letters, digits, '.', '_' and '-'")
        nodes = [node.name for node in self.topology.nodes]
        if nodes and self.node not in nodes:
            fault = f"is no node of the topology, which has {_list_some(nodes)}"
            yield Conflict(key=("node",), fault=fault, remedy="set node to one of them, or describe it in [[nodes]]")
        if self.roles and self.journal.database:
            yield Conflict(key=("roles",), fault="roles are leased in journal.database", remedy="remove [roles], or the database")
        for role, node in self.roles.items():
            yield from self._check_seat(role, node, nodes)
        for pattern, candidates in self.seats.candidates.items():
            yield from _check_candidates(pattern, candidates, nodes)
        for name in self.plugins_off:
            if name in self.plugins:
                yield Conflict(key=("plugins", name), fault="plugins_off names it", remedy="remove the table, or take it off that list")

    def _check_seat(self, role: str, node: str, nodes: list[str]) -> Iterator[Conflict]:
        family, _, name = role.partition("/")
        if not (role in _LONE_ROLES or (family in _ROLES and name)):
            remedy = f"use {', '.join(f'{known}/<name>' for known in _ROLES)}, {' or '.join(_LONE_ROLES)}"
            yield Conflict(key=("roles", role), fault="there is no such role", remedy=remedy)
        elif nodes and (described := self._list_described(family)) is not None and role not in described:
            fault = f"the topology has no {role}, it has {_list_some(described)}"
            yield Conflict(key=("roles", role), fault=fault, remedy="correct the role, or describe it in the topology")
        if nodes and node not in nodes:
            fault = f"is no node of the topology, which has {_list_some(nodes)}"
            yield Conflict(key=("roles", role), fault=fault, remedy="fix the role to one of them")

    def _list_described(self, family: str) -> list[str] | None:
        """The roles of a family as the topology has them; None where it does not say."""
        if family == "ring":
            return [f"ring/{ring.name}" for ring in self.topology.rings]
        if family == "cdu":
            return [loop.subject for loop in self.topology.loops]
        if family == "feed":
            return [f"feed/{name}" for name in self.topology.list_feeds()]
        return None


def _check_candidates(pattern: str, candidates: Sequence[str], nodes: list[str]) -> Iterator[Conflict]:
    key = ("seats", "candidates", pattern)
    if not candidates:
        yield Conflict(key=key, fault="names nobody", remedy="name the nodes that may have the role, the first first")
    for name in candidates:
        if nodes and name not in nodes:
            fault = f"{name} is no node of the topology, which has {_list_some(nodes)}"
            yield Conflict(key=key, fault=fault, remedy="name nodes of the topology")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _list_some(names: list[str]) -> str:
    return (", ".join(names[:8]) or "none") + (" ..." if len(names) > 8 else "")

"""Which machines this daemon relies on, as its own settings name them, and which nodes of the topology they are (safety rule 6). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import msgspec

from supernoded.settings.shape import Settings


class Reliance(msgspec.Struct, frozen=True):
    """A machine by the name or address that a key gives it."""

    key: str
    host: str


def list_reliances(settings: Settings) -> Iterator[Reliance]:
    """The broker, the database, and the vaults that get copies of checkpoints."""
    if settings.mqtt.host:
        yield Reliance("mqtt.host", settings.mqtt.host)
    for host in _list_database_hosts(settings.journal.database):
        yield Reliance("journal.database", host)
    for address in settings.vault.peer.push:
        yield Reliance("vault.peer.push", _cut_port(address))


def list_relied_on(settings: Settings) -> tuple[str, ...]:
    """The nodes of the topology that are one of these machines, as far as their names and addresses tell."""
    found = (find_node(settings, reliance.host) for reliance in list_reliances(settings))
    return tuple(dict.fromkeys(node for node in found if node))


def find_node(settings: Settings, host: str) -> str:
    """The node that a host is: by its name, with a domain or without, or by its address; empty where none is."""
    wanted = host.casefold()
    for node in settings.topology.nodes:
        name = node.name.casefold()
        if wanted == name or wanted.startswith(f"{name}.") or (node.address and wanted == _cut_port(node.address).casefold()):
            return node.name
    return ""


def list_unplaced(settings: Settings) -> list[str]:
    """A sentence for each key whose machine may be a node that the reserve switches off, for all that can be told."""
    others = [node.name for node in settings.topology.nodes if node.name != settings.node]
    if not others or not settings.topology.pdus or settings.plugins.get("power", {}).get("never_off"):
        return []
    told = [f"{one.key} = {one.host}" for one in list_reliances(settings) if not find_node(settings, one.host) and not _is_own(one.host)]
    told += [f"vault.durable = {settings.vault.durable}"] if settings.vault.durable is not None else []
    remedy = "name that node in plugins.power.never_off, or any word where none does"
    return [
        f"{one}: whether a node of the topology carries it cannot be told, and a low reserve switches nodes off; {remedy}" for one in told
    ]


def _list_database_hosts(url: str) -> Iterator[str]:
    """All that a URL of PostgreSQL names: `postgresql://u@a:1,b:2/name?host=c`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    named = (
        *parts.netloc.rpartition("@")[2].split(","),
        *(host for some in parse_qs(parts.query).get("host", []) for host in some.split(",")),
    )
    yield from (_cut_port(host) for host in named if host and not host.startswith("/"))


def _cut_port(address: str) -> str:
    if address.startswith("["):
        return address[1:].partition("]")[0]
    host, _, port = address.rpartition(":")
    return host if host and port.isdecimal() and ":" not in host else address


def _is_own(host: str) -> bool:
    return host in {"localhost", "::1"} or host.startswith("127.")

"""How long a role is without a holder: three whole daemons on one PostgreSQL and one broker, and the holder of `fleet` ends.

Killed, it leaves a lease that has to run out first; asked to stop, it gives the role back. Times run from the signal to the next holder's
row in the table of leases, and to its word on the broker that it has the role. Terms are the defaults of [seats].
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from benchmarks.holder import start_daemon
from benchmarks.light_mqtt import LightLink, make_connect
from benchmarks.measuring import Row, find_percentile, make_row, mosquitto, scratch
from benchmarks.swarm import CLUSTER
from supernoded.cluster import topics
from supernoded.cluster.topics import PayloadError, RoleView
from supernoded.journal import migrate
from supernoded.settings.cluster import Seats
from tests.protocol.postgres import running_cluster

ROLE = "fleet"
NODES = ("n0", "n1", "n2")
KILLS, STOPS = 3, 3
PATIENCE = 60.0
LOOK = 0.01
TABLES = """\
node = "{node}"
state = "{folder}/state"
runtime = "{folder}/run"
[admin]
group = ""
operators = ""
[mqtt]
host = "127.0.0.1"
port = {port}
[journal]
database = "{database}"
[[nodes]]
name = "n0"
cards = 0
[[nodes]]
name = "n1"
cards = 0
[[nodes]]
name = "n2"
cards = 0
"""


@dataclass
class Ledger:
    """Who has the role, by the database and by the broker."""

    connection: psycopg.AsyncConnection
    views: list[tuple[float, RoleView]] = field(default_factory=list)  # and when they came, monotonic

    def hear(self, topic: str, payload: bytes) -> None:
        """Keep what a holder tells."""
        del topic
        with suppress(PayloadError):
            self.views.append((time.monotonic(), topics.decode(payload, RoleView)))

    async def wait_for_holder(self, other_than: str) -> tuple[str, float]:
        """The node that holds the role by a lease that has not run out, and when that was first seen, monotonic."""
        query = "SELECT holder FROM leases WHERE role = %s AND until > extract(epoch FROM clock_timestamp())"
        async with asyncio.timeout(PATIENCE):
            while True:
                row = await (await self.connection.execute(query, [ROLE])).fetchone()
                holder = row[0].partition("#")[0] if row else ""
                if holder not in ("", other_than):
                    return holder, time.monotonic()
                await asyncio.sleep(LOOK)

    async def wait_for_view(self, node: str, since: float) -> float:
        """When a node told after `since` that it has the role, monotonic."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for at, view in self.views:
                    if at > since and view.node == node and view.held:
                        return at
                await asyncio.sleep(LOOK)


@asynccontextmanager
async def reading(ledger: str, port: int) -> AsyncIterator[Ledger]:
    """Somebody who looks into the database and listens at the broker."""
    async with await psycopg.AsyncConnection.connect(ledger, autocommit=True) as connection:
        found = Ledger(connection)
        link = LightLink(found.hear)
        await link.open(port, make_connect("observer", "observer/gone", b"", 0, keepalive=0), [topics.role_view(CLUSTER, ROLE)], PATIENCE)
        try:
            yield found
        finally:
            link.cut()


async def measure(folder: Path, port: int, database: str) -> dict[signal.Signals, list[tuple[float, float]]]:
    """Seconds from each signal to the next holder's lease and to its word."""
    times: dict[signal.Signals, list[tuple[float, float]]] = {signal.SIGKILL: [], signal.SIGTERM: []}
    configs = {node: write_settings(folder / node, node, port, database) for node in NODES}
    async with AsyncExitStack() as stack, reading(database, port) as found:
        daemons = {}
        for node in NODES:
            daemons[node] = await stack.enter_async_context(start_daemon(configs[node]))
        for how in (signal.SIGKILL,) * KILLS + (signal.SIGTERM,) * STOPS:
            holder, _ = await found.wait_for_holder("")
            begin = time.monotonic()
            await daemons[holder].end(how)
            taken, at = await found.wait_for_holder(holder)
            told = await found.wait_for_view(taken, begin)
            times[how].append((at - begin, told - begin))
            await daemons[holder].start()
    return times


def write_settings(folder: Path, node: str, port: int, database: str) -> Path:
    """One daemon's settings."""
    folder.mkdir()
    file = folder / "supernoded.toml"
    file.write_text(TABLES.format(node=node, folder=folder, port=port, database=database))
    return file


def measure_handover() -> Iterator[Row]:
    """Both ways to lose a holder."""
    terms = Seats()
    with scratch() as folder, mosquitto(folder) as port, running_cluster() as cluster:
        database = cluster.new_database()
        migrate.upgrade(database)
        times = asyncio.run(measure(folder, port, database))
    for how, what in ((signal.SIGKILL, "killed"), (signal.SIGTERM, "stopped")):
        leases, told = zip(*times[how], strict=True)
        note = f"{len(leases)} runs; a lease of {terms.term_s:g} s, renewed each {terms.renew_s:g} s"
        yield make_row(f"holder {what}: until another has the lease, p50", find_percentile(leases, 50), "s", None, note)
        yield make_row(f"holder {what}: the same, worst", max(leases), "s")
        yield make_row(f"holder {what}: until the new one says so, worst", max(told), "s")

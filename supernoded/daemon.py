"""Run a built daemon: all its parts in one task group, in order from the start to the end. No logic of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

from supernoded.admin.access import Access, Gate
from supernoded.admin.answering import FrontDesk
from supernoded.admin.card_desk import serve_hands
from supernoded.admin.server import serve_admin
from supernoded.building import Daemon
from supernoded.house import House
from supernoded.notify import Notifier
from supernoded.ports import Uplink
from supernoded.supervisor import keep

BROKER_START = 5.0  # seconds
DATABASE_CLOSE = 2.0  # seconds; a clean stop has 5
STATUS_EVERY = 5.0  # seconds between two status lines to the service manager


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
        ("echo", daemon.echo.run),
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

"""One process: settings become a daemon, which runs until a signal; SIGHUP builds the next one before the old one goes."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from supernoded.building import Daemon, build
from supernoded.daemon import run
from supernoded.errors import SupernodedError
from supernoded.ports import Ports
from supernoded.settings import Settings
from supernoded.supervisor import describe

STOP_WITHIN = 5.0  # seconds for a clean stop; TimeoutStopSec of the unit is longer

Load = Callable[[], Settings]


class Signals:
    """What the process was told: to stop, or to read its settings again."""

    def __init__(self) -> None:
        self.stop, self.reload = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop.set)
        loop.add_signal_handler(signal.SIGHUP, self.reload.set)

    async def wait(self, life: asyncio.Task[None]) -> None:
        """Return when there is a signal, or the life has ended by itself."""
        waiting = [asyncio.ensure_future(event.wait()) for event in (self.stop, self.reload)]
        try:
            await asyncio.wait([life, *waiting], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()


async def run_process(load: Load, ports: Ports, log: logging.Logger) -> int:
    """The exit code: 0 after a stop that was asked for, 1 when a life failed. Raises SupernodedError when the first cannot be built."""
    signals = Signals()
    daemon = build(load(), ports, log)
    former: Settings | None = None  # in force until the reload
    while True:
        log.info("node %s starts with %s", daemon.house.settings.node, _count_parts(daemon))
        _name_left_out(daemon, log)
        life = asyncio.create_task(run(daemon), name="life")
        following = await _live(life, signals, load, ports, log)
        if following is not None:
            if not await _stop(life, log):
                return 1  # two lives at once would do things twice; the service manager starts anew
            daemon, former = following, daemon.house.settings
        elif former is not None and (refusal := _find_refusal(daemon, life)) is not None:
            log.error("reload refused, the settings in force stay: %s", refusal)
            daemon, former = build(former, ports, log), None
        else:
            return await _end(life, ports, log)


async def _live(life: asyncio.Task[None], signals: Signals, load: Load, ports: Ports, log: logging.Logger) -> Daemon | None:
    """Until the end, which gives None, or until another daemon is built that shall follow."""
    while True:
        await signals.wait(life)
        if life.done() or signals.stop.is_set():
            return None
        signals.reload.clear()
        ports.notifier.reloading()
        try:
            return build(load(), ports, log)
        except SupernodedError as error:
            log.error("reload refused, the settings in force stay: %s", error)
            ports.notifier.ready(f"reload refused: {error}")


def _find_refusal(daemon: Daemon, life: asyncio.Task[None]) -> SupernodedError | None:
    """Why a life could not begin: some settings only show that they are wrong when they are used."""
    if daemon.house.ready.is_set() or not life.done() or life.cancelled():
        return None
    error = life.exception()
    return error if isinstance(error, SupernodedError) else None


async def _end(life: asyncio.Task[None], ports: Ports, log: logging.Logger) -> int:
    ports.notifier.stopping("stopping")
    if not life.done():
        await _stop(life, log)
        log.info("stopped")
        return 0
    error = life.exception()
    if isinstance(error, SupernodedError):
        log.error("%s", error)
        return 1  # unlike bad settings, what is in the way may be gone at the next start
    log.error("the daemon ended by itself: %s", describe(error) if error is not None else "without an error", exc_info=error)
    return 1


async def _stop(life: asyncio.Task[None], log: logging.Logger) -> bool:
    """Bounded: what does not end in time is left. Whether all has ended."""
    life.cancel()
    await asyncio.wait({life}, timeout=STOP_WITHIN)
    if not life.done():
        log.error("not everything ended within %g s; the process ends all the same", STOP_WITHIN)
    return life.done()


def _count_parts(daemon: Daemon) -> str:
    parts = daemon.house.parts
    running = [found.name for found in parts.plugins if not found.trouble]
    return (
        f"{len(parts.sensors)} sensors, {len(parts.rules)} rules and {len(parts.remedies)} remedies of {', '.join(running) or 'no plugin'}"
    )


def _name_left_out(daemon: Daemon, log: logging.Logger) -> None:
    settings = daemon.house.settings
    if settings.journal.database and not settings.leases_roles:
        log.warning("journal.database is not used: on a site of one node all roles are that node's")
    for found in daemon.house.parts.plugins:
        if found.trouble and found.name not in daemon.house.settings.plugins_off:
            log.warning("plugin %s is left out: %s", found.name, " ".join(found.trouble.split()))

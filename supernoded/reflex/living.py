"""One life of the reflex process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from supernoded.notify import Notifier
from supernoded.reflex.bridge import Bridge
from supernoded.reflex.building import build_bridge
from supernoded.reflex.desk import Desk
from supernoded.reflex.realtime import get_ready
from supernoded.reflex.record import Recorder, read_firings
from supernoded.settings.reflex import Reflex

PING_EVERY = 2.0  # seconds; a third of the unit's WatchdogSec at most


def run(reflex: Reflex, notifier: Notifier, log: logging.Logger, is_stopped: Callable[[], bool], clock: Callable[[], float]) -> None:
    """Until it is stopped. Raises WireError when nobody could reach it."""
    recorder = Recorder(reflex.record, reflex.record_kb * 1000, log)
    bridge = build_bridge(reflex, recorder.take, log)
    _go_on(bridge, reflex, clock(), log)
    desk = Desk(reflex.socket, bridge, log)
    desk.open()
    recorder.start()
    size = f"lines: {len(reflex.lines)}, feeds: {len(reflex.triggers)}"
    log.info("%s; %s", size, get_ready(reflex.priority))
    notifier.ready(size)
    try:
        _turn(bridge, notifier, is_stopped, clock)
    finally:
        notifier.stopping("stopping")
        desk.close()
        bridge.stop()
        recorder.stop()
        log.info("stopped")


def _turn(bridge: Bridge, notifier: Notifier, is_stopped: Callable[[], bool], clock: Callable[[], float]) -> None:
    due = clock()
    while not is_stopped():
        bridge.turn()
        if clock() >= due:
            due = clock() + PING_EVERY
            notifier.alive()


def _go_on(bridge: Bridge, reflex: Reflex, now: float, log: logging.Logger) -> None:
    """A restart begins nothing anew: neither the count of firings nor the time since the newest."""
    try:
        firings = read_firings(reflex.record)
    except OSError as error:
        log.error("%s cannot be read, firings are counted from 1: %s", reflex.record, error)
        return
    if firings:
        bridge.number = max(firing.number for firing in firings)
        bridge.trip.fired = now - max(time.time() - firings[-1].at, 0.0)

"""What a daemon needs of the world around it, as one bundle: the real machine gives it here, a simulation in `sim_hardware`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from sqlalchemy import make_url

from supernoded.admin.listening import Accept, Listen, listen_unix
from supernoded.admin.occupying import occupy
from supernoded.chores import Chores
from supernoded.clock import Clock, SystemClock
from supernoded.cluster.link.broker import HOST, EmbeddedBroker
from supernoded.cluster.link.fabric import Fabric
from supernoded.cluster.link.mqtt import AiomqttFabric
from supernoded.cluster.link.tls import TlsFiles
from supernoded.journal.retention import DAY, Limits
from supernoded.journal.writer import Journal, open_journal
from supernoded.notify import Notifier
from supernoded.registry import Found, discover
from supernoded.settings import Settings, read_secret
from supernoded.wire import Host, Pen, Wires
from supernoded.wire.reflex import lend_from
from supernoded.wire.system import LINES, Devices, SystemHost, SystemWires

MQTT_PORT, MQTT_TLS_PORT = 1883, 8883  # IANA: mqtt, secure-mqtt

WiresFor = Callable[[str], Wires]  # the wires in the name of one owner


@dataclass(frozen=True)
class Uplink:
    """The way to the message broker. `serve` runs the broker itself, where it is the embedded one."""

    name: str
    fabric: Fabric
    serve: Callable[[], Awaitable[None]] | None = None
    served: asyncio.Event | None = None  # set while that one listens


@dataclass(frozen=True)
class Ports:
    """The world, as far as a daemon can touch it."""

    clock: Clock
    host: Host
    uid: int
    pid: int
    notifier: Notifier
    wires: Callable[[Settings, Pen], WiresFor]
    uplink: Callable[[Settings], Uplink]
    journal: Callable[[Settings], Journal]
    database: Callable[[Settings], Journal | None]  # that leases roles; None = the settings fix them
    listen: Callable[[Settings], Listen]
    chores: Callable[[Settings, Journal], Chores | None]
    plugins: Callable[[Settings], list[Found]]


def system_ports(environment: Mapping[str, str], log: logging.Logger) -> Ports:
    """The real machine."""
    clock = SystemClock()
    return Ports(
        clock=clock,
        host=SystemHost(),
        uid=os.getuid(),
        pid=os.getpid(),
        notifier=Notifier(environment, os.getpid(), log.getChild("notify")),
        wires=_open_wires,
        uplink=partial(_open_uplink, log=log.getChild("mqtt")),
        journal=lambda settings: open_journal(settings.journal.file, clock, log=log.getChild("journal")),
        database=lambda settings: _open_database(settings, clock, log.getChild("database")),
        listen=lambda settings: partial(_listen_alone, settings, log.getChild("admin")),
        chores=lambda settings, journal: Chores(journal, clock, _retention(settings), log.getChild("chores")),
        plugins=lambda settings: discover(settings.plugins_off),
    )


@asynccontextmanager
async def _listen_alone(settings: Settings, log: logging.Logger, accept: Accept) -> AsyncIterator[None]:
    """The admin socket, as the only daemon that works on the state folder."""
    async with occupy(settings.state, log), listen_unix(settings.admin.socket, settings.admin.group, log, accept):
        yield


def _open_wires(settings: Settings, pen: Pen) -> WiresFor:
    kinds = {**LINES, "reflex": lend_from(settings.reflex.socket)}
    return SystemWires(pen, devices=Devices(kinds)).owned_by


def _open_database(settings: Settings, clock: Clock, log: logging.Logger) -> Journal | None:
    """Nothing is opened yet. Raises SettingsError for a password that cannot be read."""
    if not settings.leases_roles:
        return None
    url, secret = make_url(settings.journal.database), settings.journal.database_password_file
    url = url if secret is None else url.set(password=read_secret(secret))
    return open_journal(url.render_as_string(hide_password=False), clock, log=log)


def _open_uplink(settings: Settings, log: logging.Logger) -> Uplink:
    mqtt = settings.mqtt
    tls = None
    if mqtt.ca_file is not None:
        tls = TlsFiles(ca=str(mqtt.ca_file), certificate=str(mqtt.certificate_file or ""), key=str(mqtt.key_file or ""))
    broker = None if mqtt.host else EmbeddedBroker(settings.runtime, log, mqtt.port or 0)
    host = mqtt.host if broker is None else HOST
    port = (mqtt.port or (MQTT_PORT if tls is None else MQTT_TLS_PORT)) if broker is None else broker.port
    fabric = AiomqttFabric(
        host,
        port,
        log,
        username=mqtt.username,
        password_file=str(mqtt.password_file or ""),
        tls=tls,
        keepalive=mqtt.keepalive_s,
        session_expiry=mqtt.session_expiry_s,
    )
    if broker is None:
        return Uplink(f"{host}:{port}", fabric)
    return Uplink(f"{host}:{port}", fabric, broker.run, broker.listening)


def _retention(settings: Settings) -> Limits:
    kept = settings.journal
    return Limits(readings=kept.readings_days * DAY, readings_bytes=kept.readings_mb * 1_000_000, events=kept.events_days * DAY)

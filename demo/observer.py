"""The daemon as anybody sees it from outside: its admin socket, its broker, its journal file."""

from __future__ import annotations

import os
import queue
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from demo.child import Child
from demo.page import TERMINAL, end_waiting, head, tell, tell_waiting
from supernoded.cluster.topics import EventTold, decode
from supernoded.ctl.client import AdminClient
from supernoded.errors import AdminError
from supernoded.messages import IncidentFilter, Incidents, ReadingFilter, Readings, Status, Story
from supernoded.model import Event, Incident, Reading, State

T = TypeVar("T")

PATIENCE = 30.0  # seconds for any one thing to happen
LOOK = 0.05  # seconds between two looks
TELL = 5  # seconds between two lines about waiting, where they cannot be written over
TOPICS = "supernode/v1/#"


class DemoError(Exception):
    """Something that should have happened did not."""


class Observer:
    """Asks, listens and reads; it tells the daemon nothing."""

    def __init__(self, child: Child, socket: Path, journal: Path) -> None:
        self._child, self.socket, self.journal = child, socket, journal
        self._client = AdminClient((socket,), 5.0)
        self._trouble = ""  # why the last look failed
        self._told: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()

    def wait(self, what: str, look: Callable[[], T | None]) -> T:
        """What `look` finds, shown to be waited for. Raises DemoError when PATIENCE ends or the daemon does."""
        began, shown = time.monotonic(), 0
        while (found := self._look(look)) is None:
            waited = int(time.monotonic() - began)
            if self._child.process.poll() is not None:
                raise DemoError(f"waited for {what}, but the daemon ended with code {self._child.process.returncode}")
            if waited >= PATIENCE:
                raise DemoError(f"waited {waited} s for {what}, in vain{self._trouble and f'; the last look said: {self._trouble}'}")
            if waited > shown and (TERMINAL or shown == 0 or waited % TELL == 0):
                tell_waiting(what, waited, PATIENCE)
                shown = waited
            time.sleep(LOOK)
        if shown:
            end_waiting()
        return found

    def _look(self, look: Callable[[], T | None]) -> T | None:
        self._trouble = ""
        try:
            return look()
        except (AdminError, sqlite3.OperationalError) as error:  # it does not answer yet, or does not know it yet
            self._trouble = str(error)
            return None

    def started(self) -> tuple[Status, str] | None:
        """Its status and its broker's host:port, once it is ready and connected."""
        status = self._client.get("status", Status).answer
        return (status, status.session.broker) if status.ready and status.session and status.session.connected else None

    def reading(self, subject: str, quantity: str) -> Reading | None:
        """The newest reading, if it is GOOD."""
        wanted = ReadingFilter(subject=subject, quantity=quantity, state=State.GOOD)
        return next(iter(self._client.get("readings", Readings, wanted).answer.readings), None)

    def incident(self, subject: str) -> Incident | None:
        """Its open incident."""
        return next(iter(self._client.get("incidents", Incidents, IncidentFilter(subject=subject)).answer.incidents), None)

    def story(self, incident: str) -> Story:
        """An incident whole."""
        return self._client.get(f"incidents/{incident}", Story).answer

    def event(self, subject: str, *, raised: bool) -> tuple[str, Event] | None:
        """The next message about a subject that the broker has delivered: topic and event."""
        while not self._told.empty():
            topic, payload = self._told.get()
            if topic.endswith("/event"):
                event = decode(payload, EventTold).event
                if event.subject == subject and event.raised is raised:
                    return topic, event
        return None

    def show_row(self, table: str, where: str, cell: str) -> None:
        """Tell where a row is, once it is there: read from the file, past the daemon."""

        def look() -> str | None:
            with closing(sqlite3.connect(f"{self.journal.as_uri()}?mode=ro", uri=True, timeout=5)) as database:
                row = database.execute(f"select id from {table} where {where} = ?", (cell,)).fetchone()  # noqa: S608 - our own words
            return None if row is None else str(row[0])

        key = self.wait(f"the journal to have {cell}", look)
        tell("journal", f"{self.journal}, table {table}, key {key}")

    @contextmanager
    def listening(self, broker: str) -> Iterator[None]:
        """A subscriber at the embedded broker that the daemon knows nothing of."""
        client, ready = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5), threading.Event()
        client.on_message = lambda _client, _data, message: self._told.put((message.topic, bytes(message.payload)))
        client.on_subscribe = lambda *_: ready.set()
        host, _, port = broker.rpartition(":")
        client.connect(host, int(port))
        client.loop_start()
        client.subscribe(TOPICS, qos=1)
        try:
            self.wait("the broker to take a subscription", lambda: ready.is_set() or None)
            yield
        finally:
            client.disconnect()
            client.loop_stop()

    def type(self, *words: str) -> None:
        """Run supernodectl. Raises DemoError."""
        head(f"$ supernodectl {' '.join(words)}")
        environment = os.environ | {"SUPERNODED_SOCKET": str(self.socket)}
        command = [sys.executable, "-m", "supernoded.ctl", *words]
        try:
            subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=True, timeout=PATIENCE)
        except subprocess.SubprocessError as error:
            raise DemoError(str(error)) from error

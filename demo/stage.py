"""What is typed and what is waited for, in a folder of the demo's own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from demo.child import Child
from demo.page import TERMINAL, end_waiting, show_command, show_waiting
from supernoded.ctl.client import AdminClient
from supernoded.errors import AdminError
from supernoded.messages import ActionFilter, Actions, IncidentFilter, Incidents, ReadingFilter, Readings, Status
from supernoded.model import Incident, Outcome, Reading, State

T = TypeVar("T")

PATIENCE = 60.0  # seconds for any one thing to happen
LOOK = 0.05  # seconds between two looks
TELL = 5  # seconds between two lines about waiting, where they cannot be written over
OF_SYSTEMD = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "STATE_DIRECTORY", "RUNTIME_DIRECTORY")


class DemoError(Exception):
    """Something that should have happened did not."""


class Stage:
    """Types commands into a shell whose folder, temporary files and `supernode*` programs are the demo's."""

    def __init__(self, folder: Path) -> None:
        self.rack, self._folder = folder / "rack", folder
        self.socket = self.rack / "n0/run/admin.sock"
        self.children: list[Child] = []
        self._environment = {name: value for name, value in os.environ.items() if name not in OF_SYSTEMD} | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
            "TMPDIR": str(folder),
        }
        self._client = AdminClient((self.socket,), 5.0)

    def export(self, name: str, value: Path) -> None:
        """For all that is typed from now on."""
        show_command(f"export {name}={shlex.quote(str(value))}")
        self._environment[name] = str(value)

    def type(self, command: str, code: int = 0) -> None:
        """Run it to its end, its output where ours goes. Raises DemoError when it ends with another code."""
        show_command(command)
        try:
            shell = ("bash", "-c", command)
            done = subprocess.run(shell, env=self._environment, stdin=subprocess.DEVNULL, check=False, timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise DemoError(f"`{command}` did not end within {PATIENCE:g} s") from error
        if done.returncode != code:
            raise DemoError(f"`{command}` ended with code {done.returncode}, not {code}")

    def start(self, command: str) -> None:
        """Let it run beside us until `stop`."""
        show_command(f"{command} &")
        self.children.append(Child(command, self._folder / f"{len(self.children)}.log", self._environment))

    def stop(self) -> list[tuple[str, int]]:
        """End what runs, the newest first; the programs and their exit codes."""
        return [(child.name, child.stop()) for child in reversed(self.children)]

    def wait(self, what: str, look: Callable[[], T | None]) -> T:
        """What `look` finds, shown to be waited for. Raises DemoError when PATIENCE ends, or a program that runs beside us does."""
        began, shown, trouble = time.monotonic(), 0, ""
        while True:
            try:
                if (found := look()) is not None:
                    break
            except AdminError as error:  # it does not answer yet
                trouble = f"; the last look said: {error}"
            waited = int(time.monotonic() - began)
            for child in self.children:
                if child.process.poll() is not None:
                    raise DemoError(f"waited for {what}, but {child.name} ended with code {child.process.returncode}")
            if waited >= PATIENCE:
                raise DemoError(f"waited {waited} s for {what}, in vain{trouble}")
            if waited > shown and (TERMINAL or waited % TELL == 0):
                show_waiting(what, waited, PATIENCE)
                shown = waited
            time.sleep(LOOK)
        if shown:
            end_waiting()
        return found

    def started(self) -> Status | None:
        """The daemon's status, once it is ready and connected, and each of its loops has its device."""
        status = self._client.get("status", Status).answer
        return status if status.ready and status.session and status.session.connected and not status.troubles else None

    def all_work(self) -> Status | None:
        """The daemon's status, once every sensor has looked and works, and every loop has its device: one may wait for another."""
        status = self._client.get("status", Status).answer
        return None if status.failing_sensors or status.troubles else status

    def find_incident(self, pattern: str, kind: str = "") -> Incident | None:
        """The newest open incident of subjects that fit, of this kind where one is given."""
        told = self._client.get("incidents", Incidents, IncidentFilter(subject=pattern)).answer.incidents
        return next((incident for incident in told if kind in ("", incident.kind)), None)

    def find_outcome(self, incident: Incident, kind: str = "") -> Outcome | None:
        """That of the first action for it, of this kind where one is given, which has one."""
        deeds = self._client.get("actions", Actions, ActionFilter(incident=incident.id)).answer.actions
        return next((deed.outcome for deed in deeds if deed.outcome is not None and kind in ("", deed.action.step.kind)), None)

    def all_show(self, quantity: str, value: float) -> bool | None:
        """True once everything of which this is read shows this value."""
        told = self._client.get("readings", Readings, ReadingFilter(quantity=quantity)).answer.readings
        return (bool(told) and all(reading.value == value for reading in told)) or None

    def shows(self, subject: str, quantity: str, value: str) -> bool | None:
        """True once this is read of it."""
        told = self._client.get("readings", Readings, ReadingFilter(subject=subject, quantity=quantity)).answer.readings
        return any(reading.value == value for reading in told) or None

    def all_call_down(self, port: str) -> bool | None:
        """True once each source that tells the link's state calls it down; until then they are in conflict."""
        told = self._client.get("readings", Readings, ReadingFilter(subject=port, quantity="link.state")).answer.readings
        return all(reading.value == 0.0 for reading in told) or None

    def find_reading(self, quantity: str) -> Reading | None:
        """One that is good, whatever its subject."""
        told = self._client.get("readings", Readings, ReadingFilter(quantity=quantity)).answer.readings
        return next((reading for reading in told if reading.state is State.GOOD), None)

"""What systemd is told: the sd_notify protocol over one datagram socket. Without `NOTIFY_SOCKET` every call does nothing."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Mapping

STATUS_LENGTH = 200  # characters; `systemctl status` shows one line


class Notifier:
    """Tells the service manager how the daemon is. Nothing here raises or waits: a lost message costs a status line, not the daemon."""

    def __init__(
        self, environment: Mapping[str, str], pid: int, log: logging.Logger, monotonic_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._address = _find_address(environment.get("NOTIFY_SOCKET", ""))
        self._log = log
        self._monotonic_ns = monotonic_ns
        self._failing = False
        self.watchdog_period = find_watchdog_period(environment, pid)

    def ready(self, status: str) -> None:
        """The daemon is up; also ends a reload."""
        self._send(f"READY=1\nSTATUS={_one_line(status)}")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._send(f"STATUS={_one_line(text)}")

    def alive(self) -> None:
        """The watchdog's ping, due every `watchdog_period` seconds."""
        self._send("WATCHDOG=1")

    def reloading(self) -> None:
        """A reload has begun; `ready` ends it."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={self._monotonic_ns() // 1000}")

    def stopping(self, status: str) -> None:
        """The daemon is on its way out."""
        self._send(f"STOPPING=1\nSTATUS={_one_line(status)}")

    def extend(self, seconds: float) -> None:
        """Ask for so much more time to start, reload or stop, counted from now; for a long migration of the journal."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * 1e6)}")

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
                line.setblocking(False)
                line.sendto(message.encode(errors="replace"), self._address)
        except OSError as error:
            self._note_failure(error)
        else:
            self._note_success()

    def _note_failure(self, error: OSError) -> None:
        if not self._failing:
            self._log.warning("systemd cannot be told anything at NOTIFY_SOCKET %r (%s); going on without", self._address, error)
        self._failing = True

    def _note_success(self) -> None:
        if self._failing:
            self._log.info("systemd can be told again at NOTIFY_SOCKET %r", self._address)
        self._failing = False


def find_watchdog_period(environment: Mapping[str, str], pid: int) -> float | None:
    """Seconds between two pings: half of `WATCHDOG_USEC`, as sd_watchdog_enabled(3) advises. None = no ping is wanted of us."""
    wanted, whose = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    if not wanted.isascii() or not wanted.isdecimal() or int(wanted) == 0:
        return None
    if whose and whose != str(pid):
        return None
    return int(wanted) / 2e6


def _find_address(named: str) -> str | None:
    """A path as it is; `@name` is a socket in the abstract namespace; anything else is not spoken here."""
    if named.startswith("/"):
        return named
    return "\0" + named[1:] if named.startswith("@") and len(named) > 1 else None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:STATUS_LENGTH]

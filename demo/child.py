"""The daemon as a child process, and what it logs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

OF_SYSTEMD = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "STATE_DIRECTORY", "RUNTIME_DIRECTORY")
STOP_WITHIN = 10.0  # seconds; the daemon promises 5


class Child:
    """Runs from the moment it is made. `tail` = its last lines."""

    def __init__(self, config: Path, log: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "supernoded", "--config", str(config)],
            env={name: value for name, value in os.environ.items() if name not in OF_SYSTEMD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.tail: deque[str] = deque(maxlen=15)
        self._log = log
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._log.open("w") as log, self.process:
            for line in self.process.stdout or ():
                log.write(line)
                log.flush()
                self.tail.append(line.rstrip())

    def stop(self) -> int:
        """Its exit code, after SIGTERM; it is killed when that takes too long."""
        self.process.terminate()
        try:
            self.process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._reader.join(STOP_WITHIN)
        return self.process.wait()

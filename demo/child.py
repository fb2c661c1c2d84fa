"""A program that runs beside the demo, and what it says."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

STOP_WITHIN = 10.0  # seconds; the daemon promises 5
LAST = 15  # lines


class Child:
    """Runs from the moment it is made; what it says goes into a file."""

    def __init__(self, command: str, log: Path, environment: Mapping[str, str]) -> None:
        self.name, self._log = next(word for word in command.split() if "=" not in word), log
        with log.open("wb") as output:
            shell = ("bash", "-c", f"exec env {command}")  # so that its process is the program's
            self.process = subprocess.Popen(shell, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def tell_tail(self) -> str:
        """Its last lines, under its name."""
        lines = self._log.read_text(errors="replace").splitlines()[-LAST:]
        return "\n".join([f"The last lines of {self.name}:", *(f"   {line}" for line in lines or ["(none)"])])

    def stop(self) -> int:
        """Its exit code, after SIGTERM; it is killed when that takes too long."""
        self.process.terminate()
        try:
            return self.process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

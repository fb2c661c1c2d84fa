"""Lines are opened, and opened anew after a loss; what changes is said once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from supernoded.errors import WireError
from supernoded.reflex.line import OwnedLine
from supernoded.reflex.port import Port
from supernoded.settings.reflex import ReflexLine

EVERY = 1.0  # seconds between two tries; ours


class Opener:
    """Tries at most once a second, since it may cost the other lines a moment."""

    def __init__(self, open_port: Callable[[ReflexLine], Port], log: logging.Logger) -> None:
        self._open, self._log = open_port, log
        self._next = float("-inf")
        self._said: dict[str, str] = {}  # line -> the trouble that was said

    def care(self, lines: Sequence[OwnedLine], now: float) -> bool:
        """Open what is not open. Whether another line is open now."""
        if now < self._next:
            return False
        opened = False
        for line in lines:
            if line.port is None:
                self._next = now + EVERY
                opened = self._try(line) or opened
        return opened

    def _try(self, line: OwnedLine) -> bool:
        name = line.settings.name
        if name not in self._said and line.counts["losses"]:
            self._log.error("line %s is lost: %s; nothing is fired without it", name, line.trouble)
            self._said[name] = line.trouble
        try:
            line.port = self._open(line.settings)
        except WireError as error:
            line.trouble = str(error)
            if name not in self._said:
                self._log.error("%s", error)
                self._said[name] = line.trouble
            return False
        self._said.pop(name, None)
        self._log.info("line %s is open on %s; %s", name, line.settings.device, line.port.hurry())
        return True

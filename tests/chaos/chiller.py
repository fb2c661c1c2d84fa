"""A simulated Acme chiller: the peer of `tests/foreign/supernoded_acme`, by the protocol in that distribution's README.

It performs whatever it is told as often as it is told, and counts: a daemon that doubles an action is seen here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

SAVE_TAKES, TEST_TAKES = 2.0, 1.0  # seconds


class Chiller:
    """One chiller. `heard` is the step of every order (the end of its id) and when it arrived."""

    def __init__(self, now: Callable[[], float], serial: str = "SN-0042") -> None:
        self.now, self.serial = now, serial
        self.health, self.supply, self.fenced = "ok", 22.0, False
        self.counts: Counter[str] = Counter()
        self.done_at: dict[str, float] = {}
        self.heard: list[tuple[str, float]] = []
        self.pump, self.pump_until = 40.0, 0.0
        self.deaf = False  # takes requests and gives no answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection, line by line."""
        try:
            while line := await reader.readline():
                answer = self.answer(line.decode("ascii", "replace").split())
                if not self.deaf:
                    writer.write(f"{answer}\n".encode())
        except ConnectionError:
            return
        finally:
            writer.close()

    def answer(self, words: list[str]) -> str:
        """One request's answer."""
        match words:
            case ["hello"]:
                return f"hello acme-chiller/1 {self.serial}"
            case ["get", "health" | "supply" | "pump" | "fence" as what]:
                return f"{what} {self._show(what)}"
            case ["get", "order", ident]:
                return f"order {ident} {self.counts[ident]} {self._progress(ident)}"
            case ["set", "pump", "own"]:
                self.pump_until = 0.0
                return "ok"
            case ["set", "pump", percent, seconds]:
                self.pump, self.pump_until = float(percent), self.now() + float(seconds)
                return "ok"
            case ["note", ident, *_]:
                return self._perform(ident, 0.0)
            case ["set", "fence", "1", ident]:
                self.fenced = True
                return self._perform(ident, 0.0)
            case ["ask", "save" | "test" as what, ident]:
                return self._perform(ident, SAVE_TAKES if what == "save" else TEST_TAKES)
            case ["simulate", "failing" | "ok" as health, ident]:
                self.health = health
                return self._perform(ident, 0.0)
        return f"error {' '.join(words)}"

    def _show(self, what: str) -> str:
        if what == "pump":
            return f"{self.pump:.1f} {'remote' if self.now() < self.pump_until else 'own'}"
        return {"health": self.health, "supply": f"{self.supply:.1f}", "fence": str(int(self.fenced))}[what]

    def _progress(self, ident: str) -> str:
        if not self.counts[ident]:
            return "none"
        return "done" if self.now() >= self.done_at[ident] else "running"

    def _perform(self, ident: str, takes: float) -> str:
        self.counts[ident] += 1
        self.done_at[ident] = self.now() + takes
        self.heard.append((ident.rpartition("/")[2], self.now()))
        return "ok"

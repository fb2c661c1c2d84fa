"""One process of the job: what it has to say over its connection, and what it has been told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["rank", "launcher", "vault"]
VERSION = 1


@dataclass(eq=False)
class Peer:
    """A rank, the launcher or a node's vault. `alive` = its process is there: it connects, says hello and speaks."""

    job: str
    node: str
    kind: Kind
    rank: int = -1
    local_rank: int = -1
    world: int = 0
    card: str = ""
    alive: bool = True
    silent: bool = False  # it hangs: it is connected and says nothing
    step: int = -1  # the last that it has told
    plan: str = ""  # how the ranks are grouped
    life: int = 0  # which process this is in its place
    told: dict[str, bytes] = field(default_factory=dict)  # a launcher's answers by order: told again on every new connection
    welcome: bool = False
    _waiting: list[bytes] = field(default_factory=list)
    _came: bytes = b""

    @property
    def name(self) -> str:
        """Its name within the job: `rank7`, `launcher`, `vault-n0`."""
        return f"rank{self.rank}" if self.kind == "rank" else self.kind if self.kind == "launcher" else f"vault-{self.node}"

    def greet(self) -> bytes:
        """What it says first on a new connection. What the old one has not taken is said again after it."""
        self._came, self.welcome = b"", False
        who: dict[str, object] = {"t": "hello", "v": VERSION, "job": self.job, "kind": self.kind, "plan": self.plan}
        if self.kind == "rank":
            who |= {"rank": self.rank, "local_rank": self.local_rank, "world": self.world, "card": self.card, "step": self.step}
            who["life"] = f"{self.name}.{self.life}"
        return b"".join([_encode(who), *self.told.values()])

    def answer(self, order: str, why: str) -> None:
        """A launcher has done what it was ordered, or could not, and why."""
        self.told[order] = _encode({"t": "acted", "order": order, "ok": not why, "why": why})
        self.say("acted", order=order, ok=not why, why=why)

    def begin_anew(self) -> None:
        """Another process in its place: what the one before had still to say is gone with it."""
        self._waiting, self.life = [], self.life + 1

    def say(self, kind: str, **more: object) -> None:
        """Something to be sent. One that hangs or is gone says nothing."""
        if self.alive and not self.silent:
            self._waiting.append(_encode({"t": kind, **more}))

    def take(self) -> bytes:
        """All that waits to be sent, once it has been let in."""
        if not self.welcome:
            return b""
        out, self._waiting = b"".join(self._waiting), []
        return out

    def hear(self, data: bytes) -> list[Mapping[str, object]]:
        """The messages that became whole; what is none is dropped, as a client would."""
        *lines, self._came = (self._came + data).split(b"\n")
        told = [message for line in lines if (message := _decode(line))]
        self.welcome = self.welcome or any(message.get("t") == "welcome" for message in told)
        return [] if self.silent else told


def _encode(message: Mapping[str, object]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _decode(line: bytes) -> Mapping[str, object]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}

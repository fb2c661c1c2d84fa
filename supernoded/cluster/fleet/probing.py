"""The second view of a node that does not beat: whether its machine answers a TCP connection past the broker."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from supernoded.clock import Clock
from supernoded.model import Reading, State
from supernoded.topology import Topology
from supernoded.topology.address import parse_address
from supernoded.wire.names import Lookup

PERIOD = 2.0  # seconds between two rounds (ours)
WITHIN = 1.5  # seconds for one connection (ours)
MOST = 64  # probes of one round: a silent half of the site must not cost us our own node
SWEEP = 30  # rounds in which every node is probed once, however well it is
FRESH_LATE = 4 * PERIOD  # seconds
FRESH = 2.5 * SWEEP * PERIOD  # seconds for those that are probed in turns
TRUSTED = FRESH  # seconds since another machine has answered, after which a probe without an answer proves nothing
_SILENT = frozenset({errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT})  # nobody is there, says the network around it

Take = Callable[[Sequence[Reading], float], None]


class Prober:
    """Probes the late ones, and the others in turns, so that a probe that never answers is known as such.

    `late` lists who is late, the longest first; `has_beaten_since` says it of a node and a time.
    """

    def __init__(
        self, topology: Topology, clock: Clock, late: Callable[[], Sequence[str]], has_beaten_since: Callable[[str, float], bool]
    ) -> None:
        self._clock, self._late, self._has_beaten_since = clock, late, has_beaten_since
        places = {node.name: parse_address(node.address) for node in topology.nodes}
        self._doors: Mapping[str, Lookup] = {name: Lookup(*place) for name, place in places.items() if place is not None}
        self._names = list(self._doors)
        self._next = 0
        self._answered: dict[str, float] = {}  # node -> when it answered last

    async def run(self, find_take: Callable[[], Take | None]) -> None:
        """For ever, while there is somebody to hand on to what came of it."""
        while True:
            if find_take() is not None:
                for readings, fresh_for in await self.probe():
                    if readings and (take := find_take()) is not None:
                        take(readings, fresh_for)
            await self._clock.sleep(PERIOD)

    async def probe(self) -> list[tuple[list[Reading], float]]:
        """One round: what came of it, and for how many seconds that is fresh."""
        late = [name for name in self._late() if name in self._doors][:MOST]
        others = [name for name in self._take_turns() if name not in late]
        return [
            (await asyncio.gather(*(self._probe(name) for name in names)), fresh_for)
            for names, fresh_for in ((late, FRESH_LATE), (others, FRESH))
        ]

    def _take_turns(self) -> list[str]:
        if not self._names:
            return []
        count = min(-(-len(self._names) // SWEEP), MOST)
        chosen = list(islice((*self._names[self._next :], *self._names), count))
        self._next = (self._next + count) % len(self._names)
        return chosen

    async def _probe(self, name: str) -> Reading:
        began = self._clock.now()
        answers, note = await reach(self._doors[name])
        now = self._clock.now()
        if answers:
            self._answered[name] = now
        elif answers is False and (doubt := self._find_doubt(name, began, now)):
            answers, note = None, f"{note}; {doubt}"
        value, state = (None, State.UNKNOWN) if answers is None else (float(answers), State.GOOD)
        return Reading(subject=name, quantity="node.reachable", value=value, unit="1", at=now, state=state, note=note, source="probing")

    def _find_doubt(self, name: str, began: float, now: float) -> str:
        """Why silence proves nothing: it beats and does not answer, or nobody answers here."""
        if self._has_beaten_since(name, began):
            return "but it beats, so this probe proves nothing: correct its address, or let the probe through"
        if not any(other != name and now - at < TRUSTED for other, at in self._answered.items()):
            return "but no other machine has answered a probe from here either, so this proves nothing"
        return ""


async def reach(door: Lookup, within: float = WITHIN) -> tuple[bool | None, str]:
    """Whether a machine answers, and how; None = that could not be found out. A refusal is an answer too."""
    try:
        async with asyncio.timeout(within):
            await door.reach(_connect)
    except ConnectionRefusedError:
        return True, "it refuses the connection, so it is there"
    except TimeoutError:
        return False, f"no answer within {within:g} s"
    except socket.gaierror as error:
        return None, f"its name cannot be looked up: {error.strerror}"
    except OSError as error:
        return (False if error.errno in _SILENT else None), f"it cannot be reached: {error.strerror or error}"
    return True, "it takes the connection"


async def _connect(host: str, port: int) -> None:
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, host, port)
    transport.abort()

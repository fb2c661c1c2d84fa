"""The collective library's own view of a ring, read where the ring's role is held."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from statistics import stdev

from supernoded.plugin import Clock, Command, Reading, WireError, make_reading, quote
from supernoded_ascend.asking import ask
from supernoded_ascend.questions import SLACK
from supernoded_ascend.ring_answers import Hop, parse_check, parse_hops

WINDOW = 300.0  # seconds of polls that jitter is taken of, ours
FEWEST = 5  # polls below which a standard deviation says little, ours
CODES = (0, 1)  # 1: the ring is broken, and the output says where


class CheckSensor:
    """Closed, or where not."""

    def __init__(self, ring: str, order: Sequence[str], period: float, within: float, command: Command, clock: Clock) -> None:
        self.name, self.scope, self.period, self.timeout = f"ascend.ring_check.{ring}", f"ring/{ring}", period, within + SLACK
        self._within = within
        self._order, self._command, self._clock = order, command, clock

    async def read(self) -> Sequence[Reading]:
        """One run. Raises WireError."""
        text = await ask(self._command, within=self._within, codes=CODES)
        return parse_check(text, self._order, self._clock.now(), self.scope)


class LatencySensor:
    """The latency of each hop, on the side that sends, and how much it varies."""

    def __init__(self, ring: str, senders: Sequence[str], period: float, within: float, command: Command, clock: Clock) -> None:
        self.name, self.scope, self.period, self.timeout = f"ascend.ring_latency.{ring}", f"ring/{ring}", period, within + SLACK
        self._within = within
        self._senders, self._command, self._clock = senders, command, clock
        self._polls: dict[str, deque[tuple[float, float]]] = {}  # by sender: when, and us

    async def read(self) -> Sequence[Reading]:
        """One run. Raises WireError, also for an output of another shape."""
        text = await ask(self._command, within=self._within, codes=CODES)
        at, hops = self._clock.now(), parse_hops(text)
        if not hops:
            raise WireError(f"no hop is told: {quote(' '.join(text.split()))}")
        return [reading for hop in hops for reading in self._read_hop(hop, at)]

    def _read_hop(self, hop: Hop, at: float) -> Iterator[Reading]:
        """Of a hop that is one of this ring."""
        count = len(self._senders)
        if hop.one >= count or hop.other != (hop.one + 1) % count:
            return
        sender = self._senders[hop.one]
        yield make_reading(sender, "hop.latency", hop.latency, "us", at, hop.note)
        polls = self._polls.setdefault(sender, deque())
        if hop.latency is not None:
            polls.append((at, hop.latency))
        while polls and polls[0][0] < at - WINDOW:
            polls.popleft()
        spread = stdev(latency for _, latency in polls) if len(polls) >= FEWEST else None
        note = "" if spread is not None else f"{len(polls)} polls in {WINDOW:g} s, {FEWEST} are needed"
        yield make_reading(sender, "hop.jitter", spread, "us", at, note)

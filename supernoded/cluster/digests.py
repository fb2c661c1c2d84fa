"""What role-scoped parts watch, told from node to node: every 5 s and on change, so that whoever holds the role sees all of it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import msgspec

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.columns import is_plain, pack_columns, spread
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.losses import Losses
from supernoded.cluster.topics import Digest
from supernoded.errors import PluginError
from supernoded.history import has_turned
from supernoded.model import Reading
from supernoded.vetting import AHEAD, vet_reading

EVERY = 5.0  # seconds (design section 10)
LEAST = 0.5  # seconds between two digests: a link that flaps must not flood the broker (ours)
FRESH = 2.5 * EVERY + LEAST  # seconds for which what another node has told counts as fresh; as for a sensor of this period
MOST = 300  # readings of one message, fewer where they are long: in a column some 40 bytes each, alone some 300
WIDEST = 1e10  # seconds by which a time may differ from ours and still be one: a clock that begins in 1970 is a clock (ours)
MOST_NOTE = 500  # characters of a note that are told to others (ours)

Publish = Callable[[str, bytes], bool]
Take = Callable[[Sequence[Reading], float], None]


class Speaker(NamedTuple):
    """Whose digests these are."""

    node: str
    cluster: str
    life: str


class Digests:
    """Tells what this node reads of the `watched` quantities, and hears what the others tell.

    `newest` gives what this node knows now, `publish` says it (or drops it, when there is no link), `take` is given what was heard.
    `nodes` are those of the topology: nobody speaks for another of them. `wanted` gives what is of use here just now: of a thousand nodes
    every second brings more than twenty thousand readings, and each role needs few of them. `report` is told when much of it is lost.
    """

    def __init__(
        self,
        speaker: Speaker,
        clock: Clock,
        watched: Collection[str],
        nodes: Collection[str],
        newest: Callable[[], Iterable[Reading]],
        publish: Publish,
        take: Take,
        wanted: Callable[[], Collection[str]] | None = None,
        report: Callable[[str, str], None] = lambda *_: None,
    ) -> None:
        self._speaker, self._clock, self._watched, self._nodes = speaker, clock, frozenset(watched), frozenset(nodes)
        self._wanted: Callable[[], Collection[str]] = wanted or (lambda: self._watched)
        self._newest, self._publish, self._take = newest, publish, take
        self._known: dict[tuple[str, str, str], Reading] = {}
        self._shifts: dict[str, float] = {}
        self._changed = asyncio.Event()
        self._number = 0  # messages said
        self._losses = Losses(clock.now(), partial(report, "digests"))

    def note(self, readings: Sequence[Reading], fresh_for: float) -> None:
        """What this node has just read: what turns is told soon. Numbers that drift wait for their turn."""
        del fresh_for
        for reading in readings:
            if reading.quantity in self._watched:
                key = reading.subject, reading.quantity, reading.source
                before, self._known[key] = self._known.get(key), reading
                if before is None or has_turned(before, reading):
                    self._changed.set()

    def listen_anew(self) -> None:
        """What was told while we did not hear is not lost."""
        self._losses.begin(self._clock.now())

    async def run(self) -> None:
        """Tell for ever. Without a link nothing is kept: the next digest says it all."""
        while True:
            self._changed.clear()
            self._losses.look(self._clock.now())
            self._tell([_shorten(reading) for reading in self._newest() if reading.quantity in self._watched])
            await self._clock.sleep(LEAST)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), EVERY - LEAST)

    def _tell(self, readings: Sequence[Reading]) -> None:
        who, now, next_ = self._speaker, self._clock.now(), self._number + 1

        def make(words: tuple[Reading, ...], part: int, _: int) -> Digest:
            columns, rest = pack_columns(words)
            return Digest(node=who.node, life=who.life, at=now, number=next_ + part, columns=columns, rest=rest)

        for data in topics.pack(readings, MOST, make) if readings else ():
            if self._publish(topics.digest(who.cluster, who.node), data):  # without a link nobody has missed it
                self._number += 1

    def hear(self, message: Message) -> None:
        """Take in what another node tells, on the scale of this node's clock. Raises PayloadError for what is no digest."""
        digest = topics.decode(message.payload, Digest)
        if digest.node == self._speaker.node or not message.topic.endswith(f"/node/{digest.node}/digest"):
            return
        now, wanted = self._clock.now(), self._watched.intersection(self._wanted())
        times = (digest.at, *(column.at for column in digest.columns), *(reading.at for reading in digest.rest))
        if not all(abs(at - now) < WIDEST for at in times):
            raise topics.PayloadError(f"a digest of {digest.node} with times that are more than {WIDEST:g} s from our clock")
        self._losses.hear(digest.node, digest.life, digest.number)
        later = self._find_shift(digest.node, now - digest.at)
        try:
            told = [*self._take_columns(digest, wanted, now, later), *self._take_rest(digest, wanted, now, later)]
        except PluginError as error:
            raise topics.PayloadError(f"a digest of {digest.node} with {error}") from error
        for fresh_for, group in _sort_by_freshness(told, now).items():
            self._take(group, fresh_for)

    def _take_columns(self, digest: Digest, wanted: Collection[str], now: float, later: float) -> Iterator[Sequence[Reading]]:
        for column in digest.columns:
            if column.quantity in wanted:
                readings = [reading for reading in spread(column, later) if self._may_tell(digest.node, reading.subject)]
                is_sound = column.at + later <= now + AHEAD and is_plain(column)
                yield readings if is_sound else [vet_reading(reading, now) for reading in readings]

    def _take_rest(self, digest: Digest, wanted: Collection[str], now: float, later: float) -> Iterator[Sequence[Reading]]:
        for reading in digest.rest:
            if reading.quantity in wanted and self._may_tell(digest.node, reading.subject):
                yield [vet_reading(msgspec.structs.replace(reading, at=reading.at + later), now)]

    def _find_shift(self, node: str, later: float) -> float:
        """What to add to a node's times. It stays as it is but for a clock that is set: what is told again keeps its time."""
        if abs(later - self._shifts.get(node, math.inf)) > LEAST:
            self._shifts[node] = later
        return self._shifts[node]

    def _may_tell(self, node: str, subject: str) -> bool:
        """A node speaks for itself and for what belongs to no node."""
        owner = subject.partition("/")[0]
        return owner == node or owner not in self._nodes


def _sort_by_freshness(told: Iterable[Sequence[Reading]], now: float) -> Mapping[float, list[Reading]]:
    """What is GOOD to its own node, which may have read it a minute ago, stays so until its digests stay away: age and FRESH together.

    What stands together was read at one moment.
    """
    found: dict[float, list[Reading]] = {}
    for readings in told:
        if readings:
            found.setdefault(FRESH + max(math.ceil(now - readings[0].at), 0), []).extend(readings)
    return found


def _shorten(reading: Reading) -> Reading:
    """What failed may have said much; others need to know that it did, and roughly why."""
    return reading if len(reading.note) <= MOST_NOTE else msgspec.structs.replace(reading, note=reading.note[:MOST_NOTE])

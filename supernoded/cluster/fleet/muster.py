"""Who beats: all beats of the site as the holder of the role `fleet` hears them, and what they say of nodes. Pure.

Beats are proof of life. A node's age counts only as far as our own link is proven: up to the last beat of anybody that was heard. When
our own beat does not come back nobody is judged, and after a silence of everybody each node that was on time is given its time anew.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import Beat, PayloadError, Vitals
from supernoded.model import Reading, State

FLEET = "fleet"  # the role, and the subject of what is true of all nodes
LATE = 2.25  # seconds: two missed beats (design section 10) and a quarter of one for the way (ours)
DOUBT = 2.0  # seconds without our own beat heard back after which our own link is in doubt (design section 10)
STALL = 1.25  # seconds without any beat after which what comes next may be a backlog (ours)
GRACE = 4.5  # seconds after the seat was gained: two beats and the time that a new life listens before its first
REPEAT = 3.0  # seconds: a beat that is older than the last by less is a repetition or out of order; by more, a clock was set back
STEADY = 0.5  # seconds by which the offsets of two beats in a row may differ where a clock was set back; a backlog's differ by a beat
RIVAL = 10.0  # seconds for which two lives that were heard in turns are told (ours)
OFFSETS = 5  # beats of which the one that was under way for the shortest time tells a clock's offset (ours)
WIDEST = 1e9  # seconds by which a clock may be off and still be a clock
EVERY = 4  # looks between two at which what is no news is told: rules are asked for all nodes then
ROUND = 10 * EVERY  # looks in which every node is told once, however well it is
UNKNOWN_NAMES = 64  # beating nodes that are not of the topology, by name


class Seen:
    """What was heard of one node. Times are ours."""

    __slots__ = ("beat", "delayed", "floor", "former", "heard", "offsets", "rival", "rival_until", "zero")

    def __init__(self, floor: float) -> None:
        self.beat: Beat | None = None  # the newest
        self.heard = -math.inf  # when that was
        self.floor = floor  # from when on its silence counts
        self.former: dict[str, tuple[float, float]] = {}  # life -> time of its last beat, by its clock and by ours
        self.rival, self.rival_until = "", -math.inf
        self.offsets: deque[float] = deque(maxlen=OFFSETS)  # as heard: its clock minus ours, less the time that each beat was under way
        self.zero = 0.0  # the same of our own clock when it was heard last: how late we hear
        self.delayed = math.inf  # offset of the last beat that seemed to have been under way for too long

    @property
    def vitals(self) -> Vitals:
        """What it last said of itself."""
        return self.beat.vitals if self.beat is not None else Vitals()

    @property
    def offset(self) -> float | None:
        """Its clock minus ours, seconds; None = not known. What delays our own beat as well, such as a busy hour of ours, is left out."""
        return max(self.offsets) - self.zero if self.offsets else None


class Muster:
    """The beats of `nodes`, those of the topology, as heard on `node`."""

    def __init__(self, cluster: str, node: str, nodes: Sequence[str]) -> None:
        self.node, self.nodes = node, tuple(nodes)
        self._by_topic = {topics.beat(cluster, name): name for name in nodes}
        self.counts: Counter[str] = Counter()  # what was heard and is no beat: retained, repeated, expired, unknown
        self.start(-math.inf)

    def start(self, now: float) -> None:
        """The seat is gained: nothing was heard yet."""
        self.since = now
        self.seen = {name: Seen(now + GRACE - LATE) for name in self.nodes}
        self.strangers: dict[str, float] = {}  # nodes that are not of the topology, and when they beat last
        self._proof = -math.inf  # when a beat of anybody was heard last
        self._told: dict[str, tuple[str, str, str]] = {}
        self._heard_told = -1
        self._look = 0

    # Hearing ---------------------------------------------------------------------------------------------------------------------

    def hear(self, message: Message, now: float) -> None:
        """Take in one beat. Raises PayloadError for what is none; what is no proof of life is counted."""
        if message.retain:
            self.counts["retained"] += 1  # speaks for the dead
            return
        name, beat = self._by_topic.get(message.topic), topics.decode(message.payload, Beat)
        if name is None:
            self._note_stranger(beat.node, now)
            return
        if beat.node != name:
            raise PayloadError(f"a beat of {beat.node!r} on the topic of {name}")
        offset = beat.at - now
        if not abs(offset) < WIDEST:  # NaN and endless too
            raise PayloadError(f"a beat of {name} of {beat.at:g}, which is {offset:g} s from our clock")
        self._take(self.seen[name], beat, offset, now)

    def _take(self, seen: Seen, beat: Beat, offset: float, now: float) -> None:
        last = seen.beat
        before = last.at if last is not None and last.life == beat.life else seen.former.get(beat.life, (-math.inf, 0.0))[0]
        if before - REPEAT < beat.at <= before:
            self.counts["repeated"] += 1
            return
        if beat.at > before and _is_expired(seen, offset):
            self.counts["expired"] += 1
            return
        self._prove(now)
        if last is not None and last.life != beat.life:
            self._change_life(seen, last, beat, now)
        seen.beat, seen.heard = beat, now
        if seen.offsets and abs(offset - seen.offsets[-1]) > REPEAT:
            seen.offsets.clear()  # the clock was set: what it was before says nothing any more
        seen.offsets.append(offset)
        own = self.seen.get(self.node)
        if own is not None and own.offsets:
            seen.zero = max(own.offsets)

    def _prove(self, now: float) -> None:
        """Something was heard. After a silence of everybody the rest may be on its way: who was on time gets his time anew."""
        if now - self._proof > STALL:
            for seen in self.seen.values():
                if self._measure(seen) <= LATE:
                    seen.floor = max(seen.floor, now)
        self._proof = now

    def _change_life(self, seen: Seen, last: Beat, beat: Beat, now: float) -> None:
        """A restart is heard once; a life that is heard again after another one has a rival."""
        back = seen.former.get(beat.life)
        seen.former = {life: told for life, told in seen.former.items() if now - told[1] < RIVAL}
        seen.former[last.life] = last.at, seen.heard
        if back is not None and now - back[1] < RIVAL:
            seen.rival, seen.rival_until = last.life, now + RIVAL

    def _note_stranger(self, name: str, now: float) -> None:
        self.counts["unknown"] += 1
        if name in self.strangers or len(self.strangers) < UNKNOWN_NAMES:
            self.strangers[name[:64]] = now

    # Judging ---------------------------------------------------------------------------------------------------------------------

    def find_doubt(self, now: float) -> str:
        """Why our own link is in doubt, so that nobody can be judged; empty = it is well."""
        own = self.seen.get(self.node)
        if own is None:
            return f"our own link is in doubt: {self.node} is no node of the topology"
        if own.beat is None:
            return "our own link is in doubt: our own beat was not heard back yet"
        age = now - own.heard
        return (
            "" if age <= DOUBT else f"our own link is in doubt: our own beat was not heard back for {age:.1f} s, the limit is {DOUBT:g} s"
        )

    def measure_age(self, name: str) -> float:
        """Seconds of silence of a node, as far as they are proven."""
        return self._measure(self.seen[name])

    def _measure(self, seen: Seen) -> float:
        return max(self._proof - max(seen.heard, seen.floor), 0.0)

    def list_late(self, now: float) -> list[str]:
        """Who is late, the longest silent first; nobody while our own link is in doubt."""
        if self.find_doubt(now):
            return []
        late = [(self._measure(seen), name) for name, seen in self.seen.items()]
        return [name for age, name in sorted(late, key=lambda one: (-one[0], one[1])) if age > LATE]

    def has_beaten_since(self, name: str, at: float) -> bool:
        """Whether a node was heard after that time."""
        return self.seen[name].heard > at

    def count_heard(self) -> int:
        """How many nodes of the topology beat."""
        return sum(self._proof - seen.heard <= LATE for seen in self.seen.values() if seen.beat is not None)

    def find_split(self, now: float) -> str:
        """Why this side must take nothing out: it is not sure to be the greater one. Empty = it is. A lone node is its whole site."""
        if len(self.nodes) == 1 and self.node in self.nodes:
            return ""
        if doubt := self.find_doubt(now):
            return f"{self.node}, which has the role fleet, cannot judge: {doubt}"
        heard = self.count_heard()
        if 2 * heard > len(self.nodes):
            return ""
        what = f"{self.node}, which has the role fleet, hears {heard} of {len(self.nodes)} nodes, and more than half are needed"
        return f"{what}: the others may be well and cut off from here"

    # Telling ---------------------------------------------------------------------------------------------------------------------

    def read(self, now: float) -> list[Reading]:
        """What is news since the last look, and in turns everything."""
        self._look = (self._look + 1) % ROUND
        doubt = self.find_doubt(now)
        found = [reading for place, name in enumerate(self.nodes) for reading in self._read_node(name, place, doubt, now)]
        heard = -1 if doubt else self.count_heard()
        if heard != self._heard_told or self._look == 0:
            self._heard_told = heard
            found.append(_make("fleet", "fleet.heard", None if doubt else float(heard), "1", now, doubt))
        return found

    def _read_node(self, name: str, place: int, doubt: str, now: float) -> Iterator[Reading]:
        seen = self.seen[name]
        age, rival = self._measure(seen), seen.rival if now < seen.rival_until else ""
        waiting = seen.beat is None and age <= LATE  # who was never heard is not well for that
        note = doubt or (f"not heard since {self.node} took the role fleet, it has {GRACE:g} s" if waiting else "")
        life = seen.beat.life if seen.beat is not None else ""
        mark = "unknown" if note else "late" if age > LATE else "up"
        told = mark, life, rival
        news, quiet = self._told.get(name) != told, self._look % EVERY != 0
        turn = not quiet and place % (ROUND // EVERY) == self._look // EVERY
        if news or turn or (mark == "late" and not quiet):
            yield _make(name, "node.beat_age", None if note else age, "s", now, note)
        if news or turn:
            self._told[name] = told
            yield _make(name, "node.life", life, "text", now)
            yield _make(name, "node.rival", rival, "text", now)
            offset = seen.offset
            yield _make(name, "node.clock_offset", offset, "s", now, "" if offset is not None else "no beat was heard")


def _is_expired(seen: Seen, offset: float) -> bool:
    """Whether a beat was under way for longer than it counts. When the next one comes with the same offset, the clock was set back."""
    if not seen.offsets or offset >= seen.offsets[-1] - REPEAT:
        seen.delayed = math.inf
        return False
    before, seen.delayed = seen.delayed, offset
    return abs(offset - before) > STEADY


def _make(subject: str, quantity: str, value: float | str | None, unit: str, at: float, note: str = "") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note, source="muster")

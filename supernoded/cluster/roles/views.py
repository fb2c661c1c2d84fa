"""Who has which role, from mouth to mouth: each holder says so on `role/<role>/view`, retained, and everybody hears it.

A view is a hint for people, for orders between nodes and for who bridges a lost database. It never makes a holder: the lease does.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection
from contextlib import suppress

import msgspec

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.roles.seats import FIXED_TERM, Seats, Tenure
from supernoded.cluster.topics import PayloadError, RoleView
from supernoded.journal.leases import FIXED
from supernoded.supervisor import Health

MOST = 10_000  # roles that are remembered: a site of 1,024 nodes has some hundreds (ours)
MOST_ROLE = 200  # characters of the name of one (ours)
MOST_EPOCH = 2**32  # above it is garbage: with one more each second it is there in 136 years (ours)
LOOK = 1.0  # seconds between two looks at what is to be told
TOLD_AGAIN = 5.0  # seconds, at most, between two words about one role (ours)

Publish = Callable[..., bool]


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What was last heard of a role. Times are on the scale of this node's clock."""

    node: str
    epoch: int
    at: float
    until: float


class Views:
    """What the holders say. `nodes` are those of the topology: nobody else has a role."""

    def __init__(self, cluster: str, nodes: Collection[str], clock: Clock, health: Health) -> None:
        self._cluster, self._nodes, self._clock, self._health = cluster, frozenset(nodes), clock, health
        self._seen: dict[str, Seen] = {}
        self._contested = set[str]()
        self.on_change: list[Callable[[], None]] = []  # called when a role has another holder or epoch than before

    def hear(self, message: Message) -> None:
        """Take in what a holder says. A lower epoch than was heard before is old, however late it comes. Raises PayloadError."""
        told = topics.decode(message.payload, RoleView)
        if not all(math.isfinite(time) for time in (told.at, told.until)) or not 0 <= told.epoch <= MOST_EPOCH:
            raise PayloadError(f"a view of {told.role[:80]!r} at {told.at:g} until {told.until:g} of epoch {str(told.epoch)[:20]}")
        if told.node not in self._nodes or not message.topic.endswith(f"/{self._cluster}/role/{told.role}/view") or not told.role:
            raise PayloadError(f"{told.node[:80]!r} cannot speak of {told.role[:80]!r} here")
        before = self._seen.get(told.role)
        if before is not None and _is_old(told, before):
            return
        if before is None and (len(self._seen) >= MOST or len(told.role) > MOST_ROLE):
            raise PayloadError(f"a view of yet another role, {told.role[:80]!r}: at most {MOST} of {MOST_ROLE} characters are known")
        self._note(told, before, retained=message.retain)

    def _note(self, told: RoleView, before: Seen | None, *, retained: bool) -> None:
        now = self._clock.now()
        until = now + told.until - told.at  # their clock may be another; what is retained may be old, so there both must hold
        seen = Seen(
            node=told.node if told.held else "",
            epoch=told.epoch,
            at=min(told.at, now) if retained else now,
            until=min(until, told.until) if retained else until,
        )
        self._seen[told.role] = seen
        self._complain_of_two(told, before, now)
        if before is None or (before.node, before.epoch) != (seen.node, seen.epoch):
            for tell in self.on_change:
                tell()

    def _complain_of_two(self, told: RoleView, before: Seen | None, now: float) -> None:
        """Seats that are fixed need the same settings everywhere, and those that are leased the same database."""
        rival = before.node if before is not None and before.until > now and before.epoch == told.epoch else ""
        if told.held and rival not in ("", told.node):
            self._contested.add(told.role)
            both = f"{told.node} and {rival} both tell that they have it with epoch {told.epoch}"
            remedy = "write the same [roles] on all nodes" if told.epoch == FIXED else "see on both that they lease it in the same database"
            self._health.report(f"role {told.role}", f"{both}: {remedy}")
        elif told.role in self._contested:
            self._contested.discard(told.role)
            self._health.report(f"role {told.role}", "")

    def roles(self) -> dict[str, str]:
        """The holders that have spoken and whose word still stands."""
        now = self._clock.now()
        return {role: seen.node for role, seen in sorted(self._seen.items()) if seen.node and seen.until > now}

    def find(self, role: str) -> Seen | None:
        """What was last heard of a role, however long ago."""
        return self._seen.get(role)

    def heard(self, role: str) -> int:
        """The highest epoch that was heard of."""
        return self._seen[role].epoch if role in self._seen else 0

    def reached(self, role: str) -> int:
        """The highest epoch that a database may have come to: what is far beyond was made up, and to go on from there leads nowhere."""
        heard = self.heard(role)
        return heard if heard <= MOST_EPOCH // 2 else 0

    def age(self) -> float:
        """Of the oldest word that still stands, in seconds."""
        now = self._clock.now()
        return max((now - seen.at for seen in self._seen.values() if seen.node and seen.until > now), default=0.0)


class Herald:
    """Tells which roles this node holds: at once on a change or a new link, and again before the word runs out."""

    def __init__(self, seats: Seats, speaker: Speaker, views: Views, clock: Clock, publish: Publish) -> None:
        self._seats, self._speaker, self._views, self._clock, self._publish = seats, speaker, views, clock, publish
        self._told: dict[str, tuple[int, float]] = {}  # by role: epoch, and when
        self._news = asyncio.Event()

    def tell_anew(self) -> None:
        """There is a new link: the broker may have forgotten everything."""
        self._told = {role: (epoch, -math.inf) for role, (epoch, _) in self._told.items()}
        self._news.set()

    def look(self) -> None:
        """A role may have been gained or lost."""
        self._news.set()

    async def run(self) -> None:
        """Tell for ever."""
        while True:
            self._news.clear()
            self.tell()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), LOOK)

    def tell(self) -> None:
        """Say what is due, and what was given back."""
        now, held = self._clock.now(), {tenure.role: tenure for tenure in self._seats.tenures}
        for tenure in held.values():
            epoch, at = self._told.get(tenure.role, (-1, -math.inf))
            until = now + FIXED_TERM if tenure.until is None else tenure.until
            if (epoch != tenure.epoch or now - at >= min(TOLD_AGAIN, (until - at) / 2)) and self._say(tenure, until):
                self._told[tenure.role] = tenure.epoch, now
        for role, (epoch, _) in list(self._told.items()):
            if role not in held:
                gone = Tenure(role=role, epoch=epoch, since=now)
                if self._views.heard(role) > epoch or self._say(gone, now, held=False):  # its next holder has spoken already
                    del self._told[role]

    def _say(self, tenure: Tenure, until: float, *, held: bool = True) -> bool:
        who = self._speaker
        view = RoleView(node=who.node, life=who.life, at=self._clock.now(), role=tenure.role, epoch=tenure.epoch, until=until, held=held)
        return self._publish(topics.role_view(who.cluster, tenure.role), topics.encode(view), retain=True, qos=1)


def _is_old(told: RoleView, before: Seen) -> bool:
    """Whether it was said before what is known: of a lower epoch, or given back by one who does not have it any more."""
    return told.epoch < before.epoch or (told.epoch == before.epoch and not told.held and before.node not in ("", told.node))

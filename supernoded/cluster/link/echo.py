"""How late this daemon hears what is said on the broker, by its own beats that come back: one that does not keep up says so itself.

All that a role hears comes by the same link and in the same order, so a beat of our own tells of the whole way: broker, network, our loop.
"""

from __future__ import annotations

from collections.abc import Callable

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.session import Session
from supernoded.cluster.topics import Beat
from supernoded.supervisor import Health

NAME = "hearing"
LOOK = 1.0  # seconds between two looks
LATEST = 2.5  # seconds since the newest of our beats that has come back was said: one for the next, one late and a half for the way (ours)
LOOKS = 3  # in a row before it is a trouble, and until it is over: one hiccup is none (ours)


class Echo:
    """Looks, for as long as it runs, how old our newest beat is that was heard. `has_link` = there is a session with the broker."""

    def __init__(self, life: str, clock: Clock, health: Health, has_link: Callable[[], bool]) -> None:
        self._life, self._clock, self._health, self._has_link = life, clock, health, has_link
        self._said = clock.now()  # when the newest that has come back was said, by our clock
        self._turns = 0  # looks in a row that tell another thing than was told last
        self._late = False

    def hear(self, message: Message) -> None:
        """A beat on our own topic. Raises PayloadError."""
        beat = topics.decode(message.payload, Beat)
        if beat.life == self._life and not message.retain:
            self._said = max(self._said, beat.at)

    async def run(self) -> None:
        """Look for ever."""
        while True:
            self.look(self._clock.now())
            await self._clock.sleep(LOOK)

    def look(self, now: float) -> None:
        """See how late it is."""
        if not self._has_link():
            self._said = now  # that is another trouble, and the next link has its time
        age = now - self._said
        self._turns = self._turns + 1 if (age > LATEST) is not self._late else 0
        if self._turns >= LOOKS:
            self._turns, self._late = 0, not self._late
        self._health.report(NAME, self._describe(age) if self._late else "")

    def _describe(self, age: float) -> str:
        what = f"our newest beat that has come back is {age:.1f} s old, the limit is {LATEST:g} s, and what is told here of others is too"
        return f"{what}: this daemon or the broker does not keep up; give it a core of its own, or fewer roles"


def connect_echo(speaker: Speaker, session: Session, clock: Clock, health: Health) -> Echo:
    """Hear our own beats."""
    echo = Echo(speaker.life, clock, health, lambda: session.state.connected)
    session.on(topics.beat(speaker.cluster, speaker.node), echo.hear)
    return echo

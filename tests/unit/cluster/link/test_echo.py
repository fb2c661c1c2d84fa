"""Who hears too late says so."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from supernoded.cluster import topics
from supernoded.cluster.link.echo import LATEST, LOOKS, NAME, Echo
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import Beat, PayloadError
from supernoded.supervisor import Health
from supernoded.testing import ManualClock
from tests.unit.cluster.fakes import LOG


@dataclass
class Node:
    """Our own, whose beats come back after a while."""

    delay: float = 0.0
    linked: bool = True
    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        self.health = Health(self.clock, LOG)
        self.echo = Echo("7", self.clock, self.health, lambda: self.linked)
        self.echo.look(self.clock.now())

    def beat(self, *, life: str = "7", retain: bool = False) -> None:
        beat = Beat(node="n0", life=life, at=self.clock.now() - self.delay, since=0.0)
        self.echo.hear(Message(topic=topics.beat("c0", "n0"), payload=topics.encode(beat), retain=retain))

    async def pass_time(self, seconds: int, *, beats: bool = True) -> None:
        for _ in range(seconds):
            await self.clock.advance(1.0)
            if beats:
                self.beat()
            self.echo.look(self.clock.now())

    @property
    def trouble(self) -> str:
        return "".join(one.text for one in self.health.troubles() if one.name == NAME)


async def test_who_keeps_up_is_well_and_one_hiccup_is_no_trouble() -> None:
    node = Node()
    await node.pass_time(10)
    await node.pass_time(LOOKS, beats=False)
    assert node.trouble == ""


async def test_who_hears_seconds_late_says_so_until_that_is_over() -> None:
    node = Node(delay=LATEST + 1.5)
    await node.pass_time(12)
    assert node.trouble.startswith("our newest beat that has come back is 4.0 s old, the limit is 2.5 s, and what")
    node.delay = 0.1
    await node.pass_time(LOOKS - 1)
    assert node.trouble
    await node.pass_time(1)
    assert node.trouble == ""


async def test_who_hears_nothing_back_says_so_and_foreign_and_old_beats_are_no_echo() -> None:
    node = Node()
    for _ in range(8):
        node.beat(life="other")
        node.beat(retain=True)
        await node.pass_time(1, beats=False)
    assert "is 8.0 s old" in node.trouble


async def test_without_a_link_that_is_another_trouble() -> None:
    node = Node(linked=False)
    await node.pass_time(20, beats=False)
    node.linked = True
    await node.pass_time(2, beats=False)
    assert node.trouble == ""


def test_garbage_is_refused() -> None:
    with pytest.raises(PayloadError):
        Node().echo.hear(Message(topic=topics.beat("c0", "n0"), payload=b"{}"))

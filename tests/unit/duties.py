"""What the tests of duties and of the rota share: means without anything around them, and rules that note what they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from supernoded.duty import Means
from supernoded.guards import Tally
from supernoded.history import View
from supernoded.model import Verdict
from supernoded.modes import Modes
from supernoded.parts import World
from supernoded.registry import Parts
from supernoded.settings import default_settings
from tests.unit.casework import Witness
from tests.unit.worlds import LOG, LoopClock, health


@dataclass
class Ear:
    """A rule that notes how often it is asked, and what it then sees."""

    scope: str
    kind: str = "test.heard"
    watches: Mapping[str, float] = field(default_factory=lambda: {"pdu.armed": 60.0})
    heard: list[tuple[str, ...]] = field(default_factory=list)

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        self.heard.append(tuple(seen.subjects("pdu.armed")))
        return memory, ()


class Count(msgspec.Struct, frozen=True):
    count: int = 0


@dataclass(frozen=True)
class Counter:
    """A rule that remembers how often it was asked."""

    scope: str
    kind: str = "test.counted"
    watches: Mapping[str, float] = field(default_factory=lambda: {"pdu.armed": 60.0})

    def start(self) -> Count:
        return Count()

    def judge(self, seen: View, memory: Count) -> tuple[Count, Sequence[Verdict]]:
        return Count(memory.count + 1), ()


def make_means(parts: Parts, tally: Tally | None = None, held: Callable[[str], str | None] = lambda _: None) -> Means:
    settings = default_settings()
    return Means(
        settings=settings,
        topology=settings.topology,
        parts=parts,
        route=parts.route,
        clock=LoopClock(),
        health=health(),
        modes=Modes(settings.mode, {}),
        guards=(),
        tally=tally or Tally(100, 100),
        teller=Witness(),
        world=lambda: World(topology=settings.topology),
        held=held,
        log=LOG,
    )

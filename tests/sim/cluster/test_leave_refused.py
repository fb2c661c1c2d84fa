"""Leave to take a card out that is refused for long: the saga waits for it, and goes on when a person resets the breaker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from supernoded.cluster.fleet import office
from supernoded.cluster.fleet.grantor import Grantor
from supernoded.plugin import NODE, Level, Node, Reading, Verdict, View, hookimpl, make_reading
from supernoded_isolation.health import build_table
from supernoded_isolation.saga import ReplaceRemedy
from supernoded_isolation.settings import IsolationSettings
from tests.sim.cluster.five import Five, Heard, play

SINCE = {"n2/card0": 15.0, "n3/card0": 30.0}
BREAKER = "[breakers]\nper_cause = 1\nwindow_s = 60.0\n"


@dataclass(frozen=True)
class Timetable:
    """Raises each card from its second of virtual time on."""

    node: Node
    kind: str = "card.faulty"
    scope: str = "spares"
    watches: Mapping[str, float] = field(default_factory=lambda: {"card.present": 60.0})

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Iterable[Verdict]]:
        now = seen.now - 1_800_000_000.0
        levels = {card: Level.RAISED if now >= at else Level.CLEAR for card, at in SINCE.items()}
        return memory, [Verdict(kind=self.kind, subject=card, level=levels[card], text=f"{card} is ill", at=seen.now) for card in SINCE]


@dataclass(frozen=True)
class Eyes:
    """The card of its node is there."""

    node: Node
    name: str = "eyes"
    scope: str = NODE
    period: float = 5.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        return [make_reading(f"{self.node.name}/card0", "card.present", 1.0, "1", self.node.clock.now())]


PLUGIN = SimpleNamespace(
    supernoded_rules=hookimpl(lambda node: [Timetable(node)]),
    supernoded_sensors=hookimpl(lambda node: [Eyes(node)]),
    supernoded_remedies=hookimpl(lambda: [ReplaceRemedy("card.faulty", build_table(), IsolationSettings())]),
)


def list_told(heard: Heard, words: str) -> list[float]:
    return [at for at, told in heard.outcomes if told.kind == "notify" and words in told.reason]


def test_a_breaker_that_a_person_resets_later_ends_the_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Grantor] = []

    def make(*arguments: object) -> Grantor:
        made.append(Grantor(*arguments))  # type: ignore[arg-type]
        return made[-1]

    async def reset() -> None:
        (holder,) = [grantor for grantor in made if grantor._seat() is not None]
        await holder.reset("per_cause")

    def send_for_a_person(five: Five) -> None:
        five.loop.spawn("n0/person", reset, host="n0")

    monkeypatch.setattr(office, "Grantor", make)
    heard = play(tmp_path, {200.0: send_for_a_person}, 290.0, spares="n1", plugin=PLUGIN, more=BREAKER)
    assert heard.failures == []
    tries = [(target, result) for _, target, result in heard.acted("card.hold")]
    assert tries == [("n2/card0", "done"), *[("n3/card0", "refused")] * (len(tries) - 2), ("n3/card0", "done")]
    assert 2 <= len(tries) - 2 <= 4
    assert heard.acted("card.hold")[-1][0] > 200.0
    assert len(list_told(heard, "n3/card0 stays in service, as its hold is refused")) == 1
    assert len(list_told(heard, "It goes on from here")) == 1

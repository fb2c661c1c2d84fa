"""A policy on n1 wants cards out, and n0 gives leave: over signed commands, a broker, lives and breakers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from supernoded.history import View
from supernoded.model import Level, Step, Verdict
from supernoded.parts import Case, World
from supernoded.plugin import Node, hookimpl
from tests.sim.cluster.five import Five, Heard, play

KIND = "x.test.silent"


@dataclass(frozen=True)
class Timetable:
    """Raises each card from its second of virtual time on."""

    node: Node
    since: Mapping[str, float]
    kind: str = KIND
    scope: str = "spares"
    watches: Mapping[str, float] = field(default_factory=lambda: {"link.state": 60.0})

    def start(self) -> None: ...

    def judge(self, seen: View, memory: None) -> tuple[None, Iterable[Verdict]]:
        now = seen.now - 1_800_000_000.0
        return memory, [
            Verdict(kind=KIND, subject=card, level=Level.RAISED if now >= at else Level.CLEAR, text=f"{card} is silent", at=seen.now)
            for card, at in self.since.items()
        ]


@dataclass(frozen=True)
class Hold:
    """Holds the card, and tells."""

    answers: str = KIND

    def next(self, case: Case, world: World, now: float) -> tuple[Step, ...]:
        del world, now
        subject = case.incident.subject
        steps = (
            Step(name="1-hold", kind="card.hold", target=subject, reason="r", patience=12.0, details={"cause": "silent", "serial": ""}),
            Step(name="1-tell", kind="notify", target="n1", reason="it is silent"),
        )
        return tuple(step for step in steps if step.name not in case.done and step.name not in case.running)


def want(since: Mapping[str, float]) -> SimpleNamespace:
    """A plugin that wants these cards out."""
    return SimpleNamespace(supernoded_rules=hookimpl(lambda node: [Timetable(node, since)]), supernoded_remedies=hookimpl(lambda: [Hold()]))


def list_holds(heard: Heard) -> list[tuple[str, str]]:
    return [(target, result) for _, target, result in heard.acted("card.hold")]


def find_text(heard: Heard, target: str) -> str:
    return next(told.outcome.text for _, told in heard.outcomes if (told.kind, told.target) == ("card.hold", target))


def test_another_node_is_granted_what_it_wants(tmp_path: Path) -> None:
    heard = play(tmp_path, {}, 30.0, spares="n1", plugin=want({"n2/card0": 15.0}))
    ((at, target, result),) = heard.acted("card.hold")
    assert (target, result, at < 18.0) == ("n2/card0", "done", True)
    assert heard.failures == []


def test_while_the_holder_is_cut_off_only_what_protects_is_done(tmp_path: Path) -> None:
    script = {12.0: lambda five: five.site.net.partition("n0", "broker")}
    heard = play(tmp_path, script, 40.0, spares="n1", plugin=want({"n2/card0": 15.0}))
    assert list_holds(heard) == [("n2/card0", "refused")]
    assert "n0 has not answered `grant` within" in find_text(heard, "n2/card0")
    assert find_text(heard, "n2/card0").endswith("until then only protective actions are performed")
    assert [result for _, _, result in heard.acted("notify")] == ["done"]


def test_on_the_lesser_side_the_holder_refuses(tmp_path: Path) -> None:
    def cut(five: Five) -> None:
        for name in ("n2", "n3", "n4"):
            five.site.net.partition(name, "broker")

    heard = play(tmp_path, {12.0: cut}, 40.0, spares="n1", plugin=want({"n1/card0": 20.0}))
    assert list_holds(heard) == [("n1/card0", "refused")]
    assert "n0, which has the role fleet, hears 2 of 5 nodes, and more than half are needed" in find_text(heard, "n1/card0")


def test_a_breaker_trips_and_stays_so_over_a_restart_of_the_holder(tmp_path: Path) -> None:
    since = {"n2/card0": 12.0, "n3/card0": 30.0, "n4/card0": 80.0}
    script = {45.0: lambda five: five.kill("n0"), 47.0: lambda five: five.start("n0")}
    heard = play(tmp_path, script, 105.0, spares="n1", plugin=want(since), more="[breakers]\ncards_out = 1\n")
    assert list_holds(heard) == [("n2/card0", "done"), ("n3/card0", "refused"), ("n4/card0", "refused")]
    assert "the limit is 1 (breakers.cards_out)" in find_text(heard, "n3/card0")
    assert "breaker cards_out has tripped" in find_text(heard, "n4/card0")
    assert [who for _, who in heard.raised("breaker.tripped")] == ["fleet"]
    assert len(heard.acted("notify")) >= 4  # all three, and the breaker: what tells goes on

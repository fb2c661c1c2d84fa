"""A whole daemon with a small job of its own: from a card that hangs to a job that steps on a spare, and the card's way back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from supernoded.job.parts import JobActuator
from supernoded.plugin import NODE, Action, Effect, Node, Reading, Sight, Value, hookimpl, make_reading
from supernoded.quantities import VOCABULARY
from supernoded.testing import PlayDaemon, Trial

JOB = "job/llm"
CARDS = tuple(f"n0/card{slot}" for slot in range(5))
SETTINGS = """
mode = "act"
incidents.clear_after_s = 20.0
nodes = [{name = "n0", cards = 5}]
spares = [{card = "n0/card4"}]
hooks.test_s = 5.0
[plugins.isolation]
probation_s = 60.0
"""


@dataclass
class Rack:
    """Five cards and a job of four ranks, for a test to change."""

    node: Node | None = None
    hung: set[str] = field(default_factory=set)
    stuck: set[int] = field(default_factory=set)
    codes: dict[str, frozenset[str]] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=lambda: dict(enumerate(CARDS[:4])))
    ended: bool = False
    resumed: float = 0.0
    steps: int = 1000

    def read(self, at: float) -> Iterator[Reading]:
        """All of it."""
        for card in CARDS:
            silent = card in self.hung
            yield self.make(card, "card.present", None if silent else 1.0, at)
            yield self.make(card, "card.health", None if silent else self.codes.get(card, frozenset()), at)
            yield self.make(card, "card.temperature", None if silent else 50.0, at)
            yield self.make(card, "card.serial", f"S{card[-1]}", at)
        waits = bool(self.stuck) or self.ended
        self.steps += not waits
        for rank, card in self.places.items():
            subject = f"{JOB}/rank{rank}"
            state = "gone" if self.ended else "silent" if rank in self.stuck else "waiting" if self.stuck else "running"
            for quantity, value in (("state", state), ("card", card), ("step", float(self.steps - (rank in self.stuck)))):
                yield self.make(subject, f"rank.{quantity}", value, at)
        yield self.make(JOB, "job.state", "silent" if waits else "running", at)
        yield self.make(JOB, "job.step", float(self.steps), at)
        yield self.make(JOB, "job.world_size", float(len(self.places)), at)
        yield self.make(JOB, "job.durable_step", 990.0, at)

    def make(self, subject: str, quantity: str, value: Value, at: float) -> Reading:
        """One reading, as its vocabulary has it."""
        return make_reading(subject, quantity, value, VOCABULARY[quantity].unit, at, "timed out" if value is None else "")


@dataclass
class Eyes:
    """The sensor of all of it."""

    rack: Rack
    node: Node
    name: str = "rack"
    scope: str = NODE
    period: float = 2.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        return list(self.rack.read(self.node.clock.now()))


@dataclass
class Launcher:
    """What starts and ends the ranks."""

    rack: Rack
    node: Node
    kinds: frozenset[str] = frozenset({"job.abort", "job.remap", "job.resume", "job.checkpoint", "job.stop"})
    targets: Sequence[str] = ("job/*",)
    done: set[str] = field(default_factory=set)

    async def apply(self, action: Action) -> None:
        rack = self.rack
        match action.step.kind:
            case "job.abort":
                rack.ended = True
            case "job.remap":
                rack.places.update({int(rank): card for rank, card in json.loads(action.step.details["cards"]).items()})
            case "job.resume":
                rack.ended, rack.stuck, rack.steps = False, set(), 990
            case _:
                pass
        self.done.add(action.id)

    async def observe(self, action: Action) -> Sight:
        return Sight(effect=Effect.PRESENT if action.id in self.done else Effect.ABSENT)


Play = Callable[[float, Mapping[float, Callable[[Rack], object]]], tuple[Rack, Trial]]


@pytest.fixture
def play(supernoded_daemon: PlayDaemon, monkeypatch: pytest.MonkeyPatch) -> Play:
    monkeypatch.setattr(JobActuator, "targets", ("elsewhere/*",))  # the rack's own job has no ranks that connect

    def run(seconds: float, script: Mapping[float, Callable[[Rack], object]]) -> tuple[Rack, Trial]:
        rack = Rack()

        def supernoded_sensors(settings: Any, node: Node) -> Sequence[Eyes]:
            return [Eyes(rack, node)]

        def supernoded_actuators(settings: Any, node: Node) -> Sequence[Launcher]:
            return [Launcher(rack, node)]

        plugin = SimpleNamespace(supernoded_sensors=hookimpl(supernoded_sensors), supernoded_actuators=hookimpl(supernoded_actuators))
        calls = {at: (lambda change=change: change(rack)) for at, change in script.items()}
        return rack, supernoded_daemon({"rack": plugin}, SETTINGS, seconds=seconds, script=calls)

    return run


def hang(rack: Rack) -> None:
    rack.hung.add(CARDS[2])
    rack.stuck.add(2)


def list_done(trial: Trial, kind: str) -> list[tuple[str, str]]:
    """Kinds and results of what was done about one kind of incident, notices left out."""
    incidents = {one.id for one in trial.incidents if one.kind == kind}
    deeds = [deed for deed in trial.actions if deed.action.incident in incidents and deed.action.step.kind != "notify"]
    return [(deed.action.step.kind, deed.outcome.result.value if deed.outcome is not None else "") for deed in deeds]


def test_a_silent_card_is_replaced_within_a_minute_and_comes_back(play: Play) -> None:
    rack, trial = play(300.0, {30.0: hang, 120.0: lambda rack: rack.hung.clear()})
    done = list_done(trial, "card.silent")
    assert rack.places[2] == CARDS[4]
    assert {kind for kind, result in done if result == "done"} == {
        "card.capture",
        "card.hold",
        "job.abort",
        "card.isolate",
        "card.test",
        "job.remap",
        "job.resume",
        "card.unhold",
        "card.release",
    }
    assert [kind for kind, result in done if result != "done"] == []
    (incident,) = [one for one in trial.incidents if one.kind == "card.silent"]
    resumed = next(deed.outcome for deed in trial.actions if deed.action.step.kind == "job.resume")
    assert resumed is not None
    assert resumed.at - incident.opened < 60.0
    assert incident.closed is not None


def test_a_card_that_is_alive_saves_first_and_its_people_hear_one_story(play: Play) -> None:
    rack, trial = play(150.0, {30.0: lambda rack: rack.codes.update({CARDS[1]: frozenset({"8C03A000"})})})
    kinds = [kind for kind, _ in list_done(trial, "card.faulty")]
    assert rack.places[1] == CARDS[4]
    assert kinds.index("job.checkpoint") < kinds.index("card.hold") < kinds.index("job.abort") < kinds.index("job.remap")
    told = [deed.action.step.reason for deed in trial.actions if deed.action.step.kind == "notify" and deed.action.policy == "isolation"]
    assert len(told) == 2
    assert "Whether it is replaced is decided where the role `spares` is held" in told[0]
    assert "n0/card1 is out of service" in told[1]


def test_a_process_is_started_anew_on_its_card(play: Play) -> None:
    rack, trial = play(120.0, {30.0: lambda rack: rack.stuck.add(2)})
    assert [kind for kind, _ in list_done(trial, "rank.silent")] == ["card.capture", "job.abort", "job.resume"]
    assert rack.places == dict(enumerate(CARDS[:4]))
    assert not [deed for deed in trial.actions if deed.action.step.kind in {"card.hold", "card.isolate"}]

"""The fixture `supernoded_daemon`: a whole daemon around an author's plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from supernoded.errors import PluginError
from supernoded.plugin import NODE, Case, Level, Node, Reading, Step, Verdict, View, World, hookimpl
from supernoded.testing import PlayDaemon
from supernoded.testing.trial import find_player


@dataclass
class Oven:
    """A sensor whose temperature a test sets."""

    node: Node
    celsius: float = 20.0
    name: str = "oven"
    scope: str = NODE
    period: float = 1.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        return [Reading(subject="n0/oven", quantity="x.bakery.heat", value=self.celsius, unit="C", at=self.node.clock.now())]


@dataclass(frozen=True)
class TooHot:
    kind: str = "x.bakery.hot"
    scope: str = NODE
    watches: Mapping[str, float] = field(default_factory=lambda: {"x.bakery.heat": 60.0})

    def start(self) -> None:
        return None

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        heat = seen.number("x.bakery.heat", "n0/oven")
        level = Level.UNSURE if heat is None else Level.RAISED if heat > 250 else Level.CLEAR
        return None, [Verdict(kind=self.kind, subject="n0/oven", level=level, text=f"{heat} C, at most 250", at=seen.now)]


@dataclass(frozen=True)
class Tell:
    answers: str = "x.bakery.hot"

    def next(self, case: Case, world: World, now: float) -> Step | None:
        if "tell" in case.done:
            return None
        return Step(name="tell", kind="notify", target=case.incident.subject, reason="open the door")


def bakery(ovens: list[Oven]) -> SimpleNamespace:
    def supernoded_sensors(settings: Any, node: Node) -> Sequence[Oven]:
        ovens.append(Oven(node))
        return ovens

    def supernoded_rules(settings: Any, node: Node) -> Sequence[TooHot]:
        return [TooHot()]

    def supernoded_remedies(settings: Any, node: Node) -> Sequence[Tell]:
        return [Tell()]

    return SimpleNamespace(**{hook.__name__: hookimpl(hook) for hook in (supernoded_sensors, supernoded_rules, supernoded_remedies)})


@pytest.mark.parametrize(("mode", "result"), [("observe", None), ("act", "done")])
def test_from_a_reading_to_an_action(supernoded_daemon: PlayDaemon, mode: str, result: str | None) -> None:
    ovens: list[Oven] = []
    script = {10.0: lambda: setattr(ovens[0], "celsius", 300.0), 20.0: lambda: setattr(ovens[0], "celsius", 20.0)}
    trial = supernoded_daemon({"bakery": bakery(ovens)}, f'[policies.bakery]\nmode = "{mode}"\n', seconds=120.0, script=script)
    assert [event.raised for event in trial.events] == [True, False]
    (incident,) = trial.incidents
    assert incident.closed is not None
    (deed,) = trial.actions
    assert (deed.action.step.reason, deed.rehearsed) == ("open the door", mode == "observe")
    assert (deed.outcome.result.value if deed.outcome else None) == result
    assert any(reading.subject == "n0/oven" for reading in trial.readings)
    assert any("x.bakery.hot raised: 300.0 C, at most 250" in line for line in trial.log)


def test_a_drive_nobody_brings_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"there is no drive 'moon'"):
        find_player(tmp_path, "moon")

"""A whole daemon: from what a sensor reads of its cards to the one thing that people are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from supernoded.plugin import NODE, Node, Reading, State, hookimpl
from supernoded.testing import PlayDaemon, Trial

SLOTS = [f"n0/card{slot}" for slot in range(4)]


@dataclass
class Cards:
    """A sensor of four cards whose lot a test sets."""

    node: Node
    codes: dict[str, frozenset[str]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    name: str = "cards"
    scope: str = NODE
    period: float = 5.0
    timeout: float = 1.0

    async def read(self) -> Sequence[Reading]:
        return [reading for card in SLOTS for reading in self._read(card)]

    def _read(self, card: str) -> Sequence[Reading]:
        at = self.node.clock.now()
        if card in self.silent:
            return [Reading(subject=card, quantity="card.present", value=None, unit="1", at=at, state=State.UNKNOWN, note="hung")]
        return [
            Reading(subject=card, quantity="card.present", value=float(card not in self.lost), unit="1", at=at),
            Reading(subject=card, quantity="card.health", value=self.codes.get(card, frozenset()), unit="flags", at=at),
        ]


@pytest.fixture
def play(supernoded_daemon: PlayDaemon) -> Callable[[Callable[[Cards], object]], Trial]:
    def run(change: Callable[[Cards], object]) -> Trial:
        made: list[Cards] = []

        def supernoded_sensors(settings: Any, node: Node) -> Sequence[Cards]:
            made.append(Cards(node))
            return made

        plugin = SimpleNamespace(supernoded_sensors=hookimpl(supernoded_sensors))
        return supernoded_daemon({"cards": plugin}, seconds=60.0, script={20.0: lambda: change(made[0])})

    return run


def told(trial: Trial) -> list[tuple[str, str]]:
    return [(deed.action.step.target, deed.action.step.reason) for deed in trial.actions if deed.action.policy == "isolation"]


def test_one_card_with_a_fault(play: Callable[[Callable[[Cards], object]], Trial]) -> None:
    trial = play(lambda cards: cards.codes.update({SLOTS[1]: frozenset({"8C03A000", "A4025021"})}))
    ((target, _),) = [one for one in told(trial) if one[1].startswith("n0/card1: 8C03A000 asks for 'reset': move the job away")]
    assert target == SLOTS[1]


def test_the_same_fault_on_many_cards_is_one_incident(play: Callable[[Callable[[Cards], object]], Trial]) -> None:
    trial = play(lambda cards: cards.codes.update(dict.fromkeys(SLOTS[:3], frozenset({"8C03A000"}))))
    sentences = told(trial)
    assert {subject for subject, _ in sentences} == {"n0"}
    assert sum("3 cards at a time" in text for _, text in sentences) == 1
    assert sum("No card is taken out for this" in text for _, text in sentences) == 1
    assert [incident.members for incident in trial.incidents if incident.kind == "card.fault" and not incident.merged_into] == [
        tuple(SLOTS[:3])
    ]
    assert not [deed for deed in trial.actions if deed.action.step.kind != "notify"]


def test_a_card_that_goes(play: Callable[[Callable[[Cards], object]], Trial]) -> None:
    (gone,) = told(play(lambda cards: cards.lost.add(SLOTS[2])))
    assert gone[0] == SLOTS[2]
    assert gone[1].startswith("n0/card2: the card is gone (cards does not see it on the bus)")


def test_a_card_that_falls_silent(play: Callable[[Callable[[Cards], object]], Trial]) -> None:
    ((target, sentence),) = told(play(lambda cards: cards.silent.add(SLOTS[3])))
    assert target == SLOTS[3]
    assert "nothing of it was read 3 times in a row" in sentence


def test_a_source_that_cannot_be_read_is_nobodys_loss(play: Callable[[Callable[[Cards], object]], Trial]) -> None:
    trial = play(lambda cards: cards.silent.update(SLOTS))
    assert (told(trial), list(trial.events)) == ([], [])

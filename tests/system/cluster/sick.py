"""A policy of the test's own: a card is sick while a file of its name is there, and then it is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from supernoded.plugin import NODE, Case, Level, Node, Reading, Remedy, Rule, Sensor, Severity, Step, Tree, Verdict, View, World, hookimpl

SICK = "x.test.sick"
PERIOD = 0.2  # seconds


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[plugins.sick]`."""

    folder: str
    patience: float = 6.0  # seconds for a hold


@dataclass(frozen=True)
class Ward:
    """Looks which files are there."""

    tree: Tree
    cards: Sequence[str]
    node: Node
    name: str = "sick"
    scope: str = NODE
    period: float = PERIOD
    timeout: float = 2.0

    async def read(self) -> Sequence[Reading]:
        """See `Sensor.read`."""
        names, at = await self.tree.names(), self.node.clock.now()
        return [Reading(subject=card, quantity=SICK, value=float(card.rpartition("/")[2] in names), unit="1", at=at) for card in self.cards]


class Nothing(msgspec.Struct, frozen=True):
    """What the rule remembers."""


@dataclass(frozen=True)
class SickRule:
    """Raised at once, and clear at once."""

    kind: str = SICK
    scope: str = NODE

    @property
    def watches(self) -> Mapping[str, float]:
        """Only the newest."""
        return {SICK: 10.0}

    def start(self) -> Nothing:
        """Nothing."""
        return Nothing()

    def judge(self, seen: View, memory: Nothing) -> tuple[Nothing, Sequence[Verdict]]:
        """See `Rule.judge`."""
        return memory, [self._say(seen, subject) for subject in seen.subjects(SICK)]

    def _say(self, seen: View, subject: str) -> Verdict:
        level = Level.RAISED if seen.number(SICK, subject) else Level.CLEAR
        return Verdict(kind=SICK, subject=subject, level=level, text=f"{subject} is sick", at=seen.now, severity=Severity.WARNING)


@dataclass(frozen=True)
class HoldIt:
    """Holds the card while it is sick, and lets go once it is not."""

    patience: float
    answers: str = SICK

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """See `Remedy.next`."""
        del world, now
        name, kind = ("0-hold", "card.hold") if case.still_raised else ("0-unhold", "card.unhold")
        if name in case.done or (not case.still_raised and "0-hold" not in case.done):
            return None
        return Step(name=name, kind=kind, target=case.incident.subject, reason=case.incident.text, patience=self.patience)


@hookimpl
def supernoded_settings() -> type[Settings]:
    """The table."""
    return Settings


@hookimpl
def supernoded_sensors(settings: Settings, node: Node) -> Sequence[Sensor]:
    """One."""
    cards = [card for one in node.topology.nodes if one.name == node.name for card in one.list_cards()]
    return [Ward(node.wires.tree(settings.folder), cards, node)]


@hookimpl
def supernoded_rules(settings: Settings, node: Node) -> Sequence[Rule[Nothing]]:
    """One."""
    del settings, node
    return [SickRule()]


@hookimpl
def supernoded_remedies(settings: Settings, node: Node) -> Sequence[Remedy]:
    """One."""
    del node
    return [HoldIt(settings.patience)]

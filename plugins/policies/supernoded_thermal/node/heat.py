"""Heat as the trouble of the right thing: of a card alone, of a node, or of the loop that its nodes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from supernoded.plugin import Level, Severity, Verdict, View
from supernoded_thermal.node import dies
from supernoded_thermal.node.dies import Die, read_dies
from supernoded_thermal.node.hot import HeatMemory, Hot, Spell, find_hot
from supernoded_thermal.node.looking import find_last, judge, list_below, say_list
from supernoded_thermal.node.settings import NodeSettings

WARM = 3.0  # K of a loop's supply over what it is to hold, from which the loop is what is wrong (ours; T6 is critical from 0.5 on)
LEAST_HOT = 2  # cards of a node, or nodes of a loop, from which it is the shared thing
SUPPLY, SETPOINT, FLOW = "coolant.supply_temperature", "coolant.setpoint", "coolant.flow"


class Group(msgspec.Struct, frozen=True):
    """Nodes that are judged together: those of a loop, or one that hangs in none."""

    scope: str
    thing: str  # the loop's subject; empty = none
    nodes: Mapping[str, Sequence[str]]  # with their cards
    supply_c: float  # that the loop is to hold


class Cause(Protocol):
    """Says what else explains the heat of a loop."""

    @property
    def watches(self) -> Mapping[str, float]:
        """What it looks at."""
        ...

    def explain(self, seen: View, known: Mapping[str, float]) -> tuple[dict[str, float], str]:
        """What it has learned by now, and a trouble that is told and answered in its place; empty = none."""
        ...


class Found(msgspec.Struct, frozen=True):
    """What was seen of one node."""

    node: str
    dies: list[Die]
    hot: list[Hot]

    @property
    def is_hot(self) -> bool:
        """Whether it is the node, and not a card of it."""
        return len(self.hot) >= LEAST_HOT

    @property
    def is_read(self) -> bool:
        """Whether the temperature of any card is known."""
        return any(die.celsius is not None for die in self.dies)


class HeatRule:
    """Raises one thing for what is hot in its nodes; what is counted in it is clear by itself."""

    kind = "heat"

    def __init__(self, group: Group, settings: NodeSettings, cause: Cause | None = None) -> None:
        self.scope = group.scope
        self._group, self._settings, self._cause = group, settings, cause
        loop = {**dict.fromkeys((SUPPLY, SETPOINT, FLOW), 60.0), **(cause.watches if cause else {})}
        self.watches: Mapping[str, float] = {**dies.WATCHES, **(loop if group.thing else {})}

    def start(self) -> HeatMemory:
        """Nothing is hot."""
        return HeatMemory()

    def judge(self, seen: View, memory: HeatMemory) -> tuple[HeatMemory, Sequence[Verdict]]:
        """The level of every card, node and, where there is one, the loop."""
        nodes, hot = [], dict[str, Spell]()
        for node, declared in self._group.nodes.items():
            cards = sorted({*declared, *list_below(seen, dies.HIGHEST, node)})
            read = read_dies(seen, cards, self._settings)
            kept, found = find_hot(read, _of_node(memory, node), seen.now, self._settings)
            hot |= kept.hot
            nodes.append(Found(node, read, found))
        known, cause = self._cause.explain(seen, memory.known) if self._cause else ({}, "")
        return HeatMemory(hot, known), [*self._judge_loop(seen, nodes, cause), *self._judge_nodes(seen, nodes, hot)]

    def _judge_loop(self, seen: View, nodes: Sequence[Found], cause: str) -> list[Verdict]:
        if not self._group.thing:
            return []
        thing, why = self._group.thing, self._explain_loop(seen, nodes)
        if not why:
            read = sum(one.is_read for one in nodes)
            return [
                judge(
                    self.kind, thing, seen.now, Level.CLEAR, f"{thing}: {read} of {len(nodes)} nodes are read, and they do not share a heat"
                )
            ]
        worst = max((hot for one in nodes for hot in one.hot), key=lambda hot: hot.celsius)
        names = [one.node for one in nodes if one.is_hot]
        advice = "more flow first, then less power"
        text = f"{say_list(names)} of {thing} {'is' if len(names) == 1 else 'are'} hot, {worst.card} {worst.text}; {why}: {advice}"
        if cause:  # one trouble, one incident: that one is answered
            return [judge(self.kind, thing, seen.now, Level.UNSURE, f"explained by {cause}: {text}")]
        return [judge(self.kind, thing, seen.now, Level.RAISED, text, _find_severity(nodes))]

    def _explain_loop(self, seen: View, nodes: Sequence[Found]) -> str:
        """Why it is the loop; empty when it is not."""
        hot, read = sum(one.is_hot for one in nodes), sum(one.is_read for one in nodes)
        if not hot or 2 * hot < read:
            return ""
        supply = find_last(seen, SUPPLY, self._group.thing, self._settings.hold_s)
        flow = find_last(seen, FLOW, self._group.thing, self._settings.hold_s)
        if flow is not None and flow.value <= 0.0:
            return "it does not flow"
        asked = find_last(seen, SETPOINT, self._group.thing, self._settings.hold_s)
        held = max(self._group.supply_c, asked.value if asked is not None else 0.0)  # alarms follow the effective setpoint (safety rule 18)
        if supply is not None and supply.value >= held + WARM:
            return f"its supply is at {supply.value:.1f} C where {held:g} C are held"
        return f"they are {hot} of the {read} nodes that are read" if hot >= LEAST_HOT else ""

    def _judge_nodes(self, seen: View, nodes: Sequence[Found], was: Mapping[str, Spell]) -> list[Verdict]:
        shared = self._group.thing if self._group.thing and self._explain_loop(seen, nodes) else ""
        return [
            verdict
            for one in nodes
            for verdict in (self._judge_node(one, shared, seen.now), *self._judge_cards(one, shared, was, seen.now))
        ]

    def _judge_node(self, one: Found, shared: str, now: float) -> Verdict:
        if not one.is_read:
            text = f"how hot the cards of {one.node} are cannot be seen: {one.dies[0].note if one.dies else 'it has none'}"
            return judge(
                self.kind, one.node, now, Level.UNSURE if one.dies else Level.CLEAR, text, unseen=(f"card.temperature of {one.node}",)
            )
        if not one.is_hot or shared:
            where = f", counted in {shared}" if shared and one.is_hot else ""
            return judge(self.kind, one.node, now, Level.CLEAR, f"{one.node}: {len(one.hot)} of {len(one.dies)} cards are hot{where}")
        worst = max(one.hot, key=lambda hot: hot.celsius)
        many = f"{len(one.hot)} of {len(one.dies)} cards of {one.node} are hot ({say_list([_slot(hot.card) for hot in one.hot])})"
        text = f"{many}, {_slot(worst.card)} {worst.text}: look at its coolant branch and its fans, and cap its power"
        return judge(self.kind, one.node, now, Level.RAISED, text, _find_severity([one]))

    def _judge_cards(self, one: Found, shared: str, was: Mapping[str, Spell], now: float) -> list[Verdict]:
        hot = {each.card: each for each in one.hot}
        above = shared or (one.node if one.is_hot else "")
        return [
            self._judge_card(die, hot.get(die.card), above, die.card in was, now)
            for die in one.dies
            if die.is_ever_read or die.celsius is not None
        ]

    def _judge_card(self, die: Die, hot: Hot | None, above: str, was_hot: bool, now: float) -> Verdict:
        if die.celsius is None:
            doubt = ", and it was hot when it was last seen" if was_hot else ""
            return judge(
                self.kind, die.card, now, Level.UNSURE, f"how hot {die.card} is cannot be seen: {die.note}{doubt}", unseen=(die.note,)
            )
        said = f"{die.card} is at {die.celsius:.1f} C{f' ({die.note})' if die.note else ''}"
        if hot is None or above:
            return judge(self.kind, die.card, now, Level.CLEAR, f"{said}{f', counted in {above}' if hot is not None else ''}")
        advice = "alone among its peers: cap its node's power, and look at its cold plate"
        severity = Severity.CRITICAL if hot.is_critical else Severity.WARNING
        note = f" ({die.note})" if die.note else ""
        return judge(self.kind, die.card, now, Level.RAISED, f"{die.card} is {hot.text}{note}, {advice}", severity)


def _of_node(memory: HeatMemory, node: str) -> HeatMemory:
    """What is remembered of its cards."""
    return HeatMemory({card: spell for card, spell in memory.hot.items() if card.startswith(f"{node}/")})


def _find_severity(nodes: Sequence[Found]) -> Severity:
    return Severity.CRITICAL if any(hot.is_critical for one in nodes for hot in one.hot) else Severity.WARNING


def _slot(card: str) -> str:
    return card.rpartition("/")[2]

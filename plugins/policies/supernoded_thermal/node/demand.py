"""How much air a node wants: how far its worst part is over its aim, and the least duty for what is not known. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import View
from supernoded_thermal.node import dies, fans, parts
from supernoded_thermal.node.dies import Die, read_dies
from supernoded_thermal.node.fans import look_at_fans
from supernoded_thermal.node.looking import say_list
from supernoded_thermal.node.parts import Part, list_parts
from supernoded_thermal.node.settings import NodeSettings

WATCHES: Mapping[str, float] = {**dies.WATCHES, **parts.WATCHES, **fans.WATCHES}

FULL = 100.0  # %
FULL_AT = 2.0  # K below a limit, where nothing but full speed will do (ours)


class Floor(msgspec.Struct, frozen=True):
    """A least duty, %, and the reason. `is_blind`: it stands for what is not read, so fans do not slow down meanwhile."""

    percent: float
    why: str
    is_blind: bool = True


class Demand(msgspec.Struct, frozen=True):
    """What a node wants now. `over` None = no temperature is known; `room` is what its worst part has left, K."""

    over: float | None  # K by which the worst part is over its aim
    room: float | None
    floors: tuple[Floor, ...]
    notes: tuple[str, ...]
    known: frozenset[str]  # whatever has ever told its temperature
    standing: bool = False  # all fans stand: nothing that is asked of them has an effect

    @property
    def floor(self) -> float:
        """The highest of the least duties, %."""
        return max((floor.percent for floor in self.floors), default=0.0)

    @property
    def note(self) -> str:
        """What it has to do without, in a sentence's part; empty = nothing."""
        return "; ".join([*(f"at {floor.percent:.0f} % at least: {floor.why}" for floor in self.floors), *self.notes])


def find_demand(seen: View, node: str, air_cards: Sequence[str], known: frozenset[str], settings: NodeSettings) -> Demand:
    """Of a node with these cards that no liquid cools, of which `known` were read before."""
    cards, things = read_dies(seen, air_cards, settings), list(list_parts(seen, node, settings))
    rooms = [settings.warn_c - die.celsius for die in cards if die.celsius is not None] + [p.room for p in things if p.room is not None]
    good = {die.card for die in cards if die.celsius is not None} | {part.subject for part in things if part.celsius is not None}
    known |= good
    look = look_at_fans(seen, node, settings)
    floors = _list_floors(cards, things, known, look.failed, settings) if good else [Floor(FULL, f"no temperature of {node} is known")]
    least = min(rooms, default=None)
    return Demand(
        over=None if least is None else settings.margin_c - least,
        room=least,
        floors=tuple(floors),
        notes=tuple(_list_notes(cards, things)),
        known=known,
        standing=look.standing,
    )


def _list_floors(
    cards: Sequence[Die], things: Sequence[Part], known: frozenset[str], failed: Sequence[str], settings: NodeSettings
) -> Iterator[Floor]:
    """A cause each: what is lost is not cold, and not all that is lost is as bad."""
    lost = [part for part in things if part.celsius is None and part.subject in known]
    optics, others = [part.note for part in lost if part.is_optic], [part.note for part in lost if not part.is_optic]
    blind = [die.note for die in cards if die.celsius is None and not die.is_mad and (die.card in known or die.is_ever_read)]
    if optics:
        yield Floor(settings.lost_optics_percent, f"optics are not read ({say_list(optics, 2)})")
    if others:
        yield Floor(settings.lost_part_percent, f"parts are not read ({say_list(others, 2)})")
    if blind:
        yield Floor(settings.lost_die_percent, f"dies are not read ({say_list(blind, 2)})")
    if failed:
        yield Floor(settings.failed_fan_percent if len(failed) == 1 else FULL, f"{say_list(failed)} failed", is_blind=False)


def _list_notes(cards: Sequence[Die], things: Sequence[Part]) -> Iterator[str]:
    """What was voted out, and what is believed although it is old."""
    yield from (die.note for die in cards if die.note and (die.celsius is not None or die.is_mad))
    held = [die.card for die in cards if die.is_held] + [part.subject for part in things if part.is_held]
    if held:
        yield f"by the last good reading of {say_list(held)}"


def find_least(demand: Demand, settings: NodeSettings) -> float:
    """The duty, %, below which nobody may hold the fans: it grows to full speed as the worst part comes to its limit."""
    over, span = demand.over, settings.margin_c - FULL_AT
    urgent = 0.0 if over is None or over <= 0.0 else min(1.0, over / max(span, 1.0))
    return max(settings.least_percent + (FULL - settings.least_percent) * urgent, demand.floor)

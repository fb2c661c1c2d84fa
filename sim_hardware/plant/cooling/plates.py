"""From the card's watts to the coolant: dies, cold plates, and what the coolant leaves with.

Figures are ours unless a source stands beside them: at 600 W (T1) and rated flow of 22 C a die is at about 55 C, its hottest of 128
spots 6 K more. A die without coolant rises by about 1 K/s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from sim_hardware.plant.cooling.design import Design
from sim_hardware.plant.cooling.site import SUBSTEP, NodeSite, find_plate
from sim_hardware.plant.cooling.slugs import HEAT
from sim_hardware.plant.words import Happening

DIE = 0.035  # K/W from die to cold plate
DIE_LAG = 3.0  # s
SPREAD = 0.01  # K/W between a die's mean and its hottest spot
LOSS = 1.0  # W/K from a cold plate to the room
THROTTLES, RECOVERS, BREAKS = 95.0, 88.0, 105.0  # C, of the hottest spot
_COOL_ENOUGH = 95.0  # after overheating, before that is told again
_DIE_STEP = 1.0 - math.exp(-SUBSTEP / DIE_LAG)


class Spot(msgspec.Struct, frozen=True):
    """A die that stands higher over its coolant than it should, K."""

    target: float
    tau_s: float
    now: float = 0.0


class Cards(msgspec.Struct, frozen=True):
    """The cards of a node, by slot."""

    plates: tuple[float, ...]  # C
    dies: tuple[float, ...]  # C, mean of a die
    watts: tuple[float, ...]
    throttled: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset()


class Passage(msgspec.Struct, frozen=True):
    """What one substep gave."""

    cards: Cards
    outlet: float  # C
    coolant: float  # J given to it
    room: float  # J lost to the room from the plates


def step_cards(
    cards: Cards, site: NodeSite, design: Design, inlet: float, flow: float, watts: tuple[float, ...], spots: Mapping[int, Spot]
) -> Passage:
    """One substep with coolant coming in at `inlet` C and `flow` L/s. Closed form, so any flow is stable and no heat is lost."""
    number = site.cards
    if not number:
        return Passage(cards, inlet, 0.0, 0.0)
    effect = find_plate(design.plates.ntu, flow / site.flow)
    plate = effect * flow * HEAT / number
    total = plate + LOSS
    step = 1.0 - math.exp(-SUBSTEP * total / site.capacity)
    part = (1.0 - design.plates.air_share) / total
    sink = plate * inlet + LOSS * design.plates.room_celsius
    base = sink / total
    plates = tuple([old + (base + power * part - old) * step for old, power in zip(cards.plates, watts, strict=True)])
    dies = [old + (new + power * DIE - old) * _DIE_STEP for old, new, power in zip(cards.dies, plates, watts, strict=True)]
    for place, spot in spots.items():
        if site.first <= place < site.first + number:
            dies[place - site.first] += spot.now * _DIE_STEP
    gained = sum(watts) * (1.0 - design.plates.air_share) * SUBSTEP
    mean = (gained / SUBSTEP + sink * number - site.capacity * (sum(plates) - sum(cards.plates)) / SUBSTEP) / total / number
    after = Cards(plates, tuple(dies), watts, cards.throttled, cards.broken)
    return Passage(
        after,
        inlet + effect * (mean - inlet),
        plate * (mean - inlet) * number * SUBSTEP,
        LOSS * (mean - design.plates.room_celsius) * number * SUBSTEP,
    )


def judge_cards(cards: Cards, name: str, at: float, told: list[Happening]) -> Cards:
    """The cards with their throttling, which begins at 95 C and ends at 88 C, and what happened to them."""
    if not cards.throttled and not cards.broken and (not cards.dies or max(cards.dies) + SPREAD * max(cards.watts) < THROTTLES):
        return cards
    hottest = [die + SPREAD * power for die, power in zip(cards.dies, cards.watts, strict=True)]
    throttled = _hold(hottest, cards.throttled, THROTTLES, RECOVERS)
    broken = _hold(hottest, cards.broken, BREAKS, _COOL_ENOUGH)
    if throttled == cards.throttled and broken == cards.broken:
        return cards
    for slot in sorted(throttled ^ cards.throttled):
        begun = slot in throttled
        kind, text = ("card.throttled", "throttles") if begun else ("card.unthrottled", "is back at full clock")
        told.append(Happening(at, kind, f"{name}/card{slot}", f"{name}/card{slot} {text} at {hottest[slot]:.1f} C", hottest[slot]))
    for slot in sorted(broken - cards.broken):
        text = f"{name}/card{slot} is damaged: its die is at {hottest[slot]:.1f} C, and {BREAKS:.0f} C is its limit"
        told.append(Happening(at, "card.overheated", f"{name}/card{slot}", text, hottest[slot]))
    return Cards(cards.plates, cards.dies, cards.watts, throttled, broken)


def _hold(values: Sequence[float], held: frozenset[int], high: float, low: float) -> frozenset[int]:
    """Which are held, when one is taken at `high` and let go at `low`."""
    return frozenset(slot for slot, value in enumerate(values) if value >= (low if slot in held else high))


def step_spots(spots: Mapping[int, Spot]) -> Mapping[int, Spot]:
    """The spots one substep on; one that is lifted and gone is left out."""
    if not spots:
        return spots
    moved = {}
    for place, spot in spots.items():
        now = spot.target + (spot.now - spot.target) * math.exp(-SUBSTEP / spot.tau_s)
        if spot.target or abs(now) > 0.01:
            moved[place] = Spot(spot.target, spot.tau_s, now)
    return moved

"""What goes on in a card's memory: errors that are corrected, and processes that leak.

Errors are drawn once a whole second, from what was to be expected since the last one, so that it does not matter how time was cut.
"""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.cards.shape import HBM_BYTES, Card, State
from sim_hardware.plant.chance import Chance, draw, draw_poisson, start_chance

STRAY_RATE = 1e-6  # corrected errors of a healthy card, 1/s; one in twelve days, ours


def advance_memory(state: State, number: int, time: float) -> Card:
    """A powered card at `time`, from the state's own."""
    card, since = state.cards[number], state.at
    leaked = min(HBM_BYTES, card.leaked + card.leak * (time - since)) if card.leak > 0.0 else card.leaked
    expected, corrected = card.expected, card.corrected
    if card.storm > 0.0 and not card.off and not card.shut:
        whole = math.floor(since) + 1.0
        while whole <= time:
            chance = start_chance(state.site.seed, f"cards/{number}/ecc/{whole:.0f}")
            corrected += draw_poisson(chance, expected + card.storm * (whole - since))[1]
            expected, since, whole = 0.0, whole, whole + 1.0
        expected += card.storm * (time - since)
    return msgspec.structs.replace(card, leaked=leaked, expected=expected, corrected=corrected)


def find_next(state: State, number: int) -> float:
    """When something happens to a busy card by itself: its reset ends, or its memory runs out."""
    card = state.cards[number]
    if card.leak <= 0.0 or card.full or state.nodes[state.site.node_of[number]].power != "on":
        return card.back_at
    left = HBM_BYTES - state.measure_memory(number)
    return min(card.back_at, state.at + max(0.0, left) / card.leak)


def draw_gap(chance: Chance, since: float, cards: int) -> tuple[Chance, float]:
    """The time of the next stray error among so many cards."""
    chance, level = draw(chance)
    return chance, since - math.log(1.0 - level) / (STRAY_RATE * cards) if cards else math.inf


def settle_strays(state: State, time: float) -> State:
    """The stray errors until `time`, counted where the card was on."""
    while state.stray[1] <= time:
        chance, level = draw(state.stray[0])
        number = int(level * len(state.cards))
        if state.is_present(number):
            card = msgspec.structs.replace(state.cards[number], corrected=state.cards[number].corrected + 1)
            state = msgspec.structs.replace(state, cards=(*state.cards[:number], card, *state.cards[number + 1 :]))
        state = msgspec.structs.replace(state, stray=draw_gap(chance, state.stray[1], len(state.cards)))
    return state

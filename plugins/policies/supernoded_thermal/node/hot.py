"""Which dies are hot: over a limit, or soon where they slow down; and how far one stands out among its peers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from supernoded_thermal.node.dies import Die
from supernoded_thermal.node.settings import NodeSettings

SETTLE_S = 10.0  # s from the first hot die to the first word: within it the others of its node or loop show, too (ours)
LEAST_RISE = 0.05  # K/s, below which a temperature is steady (ours)
NEARBY = 20.0  # K below the throttle point, where a rise begins to be foretold (ours)
LEAST_PEERS = 2


class Hot(msgspec.Struct, frozen=True):
    """A hot die, and the sentence's part that says so."""

    card: str
    celsius: float
    text: str
    is_critical: bool = False


class Spell(msgspec.Struct, frozen=True):
    """A die that is hot: since when, what it drew at most meanwhile, and whether it was told."""

    since: float
    watts: float = 0.0
    told: bool = False


class HeatMemory(msgspec.Struct, frozen=True):
    """The hot dies, by card, and what is known of their loop."""

    hot: dict[str, Spell] = {}
    known: dict[str, float] = {}  # of the loop's flow, as learned


def find_hot(dies: Sequence[Die], memory: HeatMemory, now: float, settings: NodeSettings) -> tuple[HeatMemory, list[Hot]]:
    """The dies of one node that are told as hot: critical ones at once, others when they have been so for `SETTLE_S`.

    One that cannot be read keeps what it was, and is not among them.
    """
    spells, found = dict[str, Spell](), []
    for die in dies:
        before = memory.hot.get(die.card)
        hot = _weigh(die, dies, before, settings)
        if hot is not None:
            since = now if before is None else min(before.since, now)
            told = hot.is_critical or now - since >= SETTLE_S or (before is not None and before.told)
            spells[die.card] = Spell(since, max(die.watts or 0.0, before.watts if before is not None else 0.0), told)
            found += [hot] if told else []
        elif before is not None and die.celsius is None:
            spells[die.card] = before
    return HeatMemory(spells), found


def measure_lead(die: Die, dies: Sequence[Die], settings: NodeSettings) -> float | None:
    """K by which it is hotter than its peers would be at its power; None when too few can be compared."""
    over = [
        one.celsius - settings.kelvin_per_watt * one.watts
        for one in dies
        if one.card != die.card and one.celsius is not None and one.watts is not None
    ]
    if len(over) < LEAST_PEERS or die.celsius is None or die.watts is None:
        return None
    return die.celsius - settings.kelvin_per_watt * die.watts - median(over)


def foretell(die: Die, settings: NodeSettings) -> float | None:
    """Seconds until it slows down, when it rises and is near; 0 when it is there."""
    if die.celsius is None:
        return None
    room = settings.throttle_c - die.celsius
    if room <= 0.0:
        return 0.0
    return room / die.rise if die.rise >= LEAST_RISE and room <= NEARBY else None


def _weigh(die: Die, dies: Sequence[Die], before: Spell | None, settings: NodeSettings) -> Hot | None:
    if die.celsius is None:
        return None
    soon = foretell(die, settings)
    parts = [f"at {die.celsius:.1f} C, {settings.warn_c:g} C is the limit"]
    if soon is not None and soon <= settings.foretell_s:
        parts.append(f"rising by {die.rise:.2f} K/s and in {soon:.0f} s at {settings.throttle_c:g} C, where it slows down")
    elif die.celsius < settings.warn_c - (settings.relief_c if before is not None else 0.0):
        again = _find_again(die, before, settings)
        if again is None:
            return None
        parts.append(f"and at its former power it would be at {again:.0f} C again")
    lead = measure_lead(die, dies, settings)
    if lead is not None and lead >= settings.peer_c:
        parts.append(f"{lead:.0f} K hotter than its peers would be at its {die.watts or 0.0:.0f} W")
    return Hot(die.card, die.celsius, ", ".join(parts), is_critical=die.celsius >= settings.critical_c)


def _find_again(die: Die, before: Spell | None, settings: NodeSettings) -> float | None:
    """Where it would be at the power with which it was told, when that is too hot: a cap has cooled it, and its cause is still there."""
    if before is None or not before.told or die.watts is None or die.celsius is None:
        return None
    celsius = die.celsius + settings.kelvin_per_watt * max(before.watts - die.watts, 0.0)
    return celsius if celsius >= settings.warn_c else None

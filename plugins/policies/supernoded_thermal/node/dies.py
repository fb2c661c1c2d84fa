"""How hot a card's die is, when one of its 128 sensors may be mad, stuck or gone (T2). Pure.

A card shows the highest of its sensors. Where their median is read too, one sensor counts for no more than a hot place of a die can stand
above it. Where it is not, the card itself is the witness: one that is past the point where it slows down and draws what its neighbours
draw has not slowed down, so it is not that hot; and one whose temperature does not move by a tenth while its power does is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

import msgspec

from supernoded.plugin import View
from supernoded_thermal.node.frozen import POWER, WINDOW, say_frozen
from supernoded_thermal.node.looking import Last, find_last, find_latest, find_newest, list_numbers, measure_rise, say_why
from supernoded_thermal.node.settings import NodeSettings
from supernoded_thermal.node.vote import BESIDE_S, Vote, vote

HIGHEST, MEDIAN, MEAN = "card.temperature", "card.temperature.median", "card.temperature.mean"
THROTTLED = "card.throttled"
SLOPE_S = 60.0  # s over which a rise is measured (ours)
WATCHES: Mapping[str, float] = dict.fromkeys((HIGHEST, MEDIAN, MEAN, POWER, THROTTLED), WINDOW)

COLDEST = 5.0  # C, below which nothing in a working node is: 0 and -128 are what broken sensors say (ours)
FAR = 30.0  # K below the throttle point, where nobody asks how fast it rises (ours)
BEYOND = 5.0  # K past the throttle point, where a card has slowed down whatever its maker's tolerance (ours)
FULL_SHARE = 0.8  # of its neighbours' power, which a card that has slowed down does not draw: clock and voltage fall together (ours)


class Die(msgspec.Struct, frozen=True):
    """What is believed of one card. `celsius` None = nothing is; `note` says why that is, or what was voted out.

    `is_mad`: it is surely not as hot as it shows; how hot it is can be told by its neighbours alone.
    """

    card: str
    celsius: float | None
    note: str = ""
    rise: float = 0.0  # K/s
    watts: float | None = None
    is_held: bool = False  # what it goes by is not fresh
    is_ever_read: bool = True
    is_mad: bool = False


def read_dies(seen: View, cards: Iterable[str], settings: NodeSettings) -> list[Die]:
    """The cards of one node, each beside the others."""
    cards = list(cards)
    watts = {card: power for card in cards if (power := find_newest(seen, POWER, card, settings.hold_s)) is not None}
    return [_read(seen, card, watts, settings) for card in cards]


def _read(seen: View, card: str, watts: Mapping[str, float], settings: NodeSettings) -> Die:
    power, middle = watts.get(card), _find_middle(seen, card, settings)
    highest = _find_highest(seen, card, middle, settings)
    if highest is None and middle is None:
        return Die(card, None, _say_lost(seen, card, settings), watts=power, is_ever_read=bool(seen.sources(HIGHEST, card)))
    doubt = say_frozen(seen, card, (HIGHEST, MEDIAN, MEAN), settings.frozen_w)
    mad = "" if doubt or middle is not None or highest is None else _say_too_busy(seen, card, highest.celsius, watts, settings)
    if doubt or mad:
        return Die(card, None, doubt or mad, watts=power, is_mad=bool(mad))
    if highest is None:
        top = (middle.value if middle is not None else 0.0) + settings.spread_c
        note = f"the highest sensor of {card} is lost, its median of {top - settings.spread_c:.0f} C and {settings.spread_c:g} K are taken"
        return Die(card, top, note, _measure_rise(seen, card, clipped=True), power)
    note = "" if highest.median is None else f"a sensor of {card} shows too much beside a median of {highest.median:.0f} C: it is voted out"
    held = all(seen.good(HIGHEST, card, source) is None for source in seen.sources(HIGHEST, card))
    rise = _measure_rise(seen, card, clipped=bool(note)) if highest.celsius >= settings.throttle_c - FAR else 0.0
    return Die(card, highest.celsius, note, rise, power, held)


def _find_highest(seen: View, card: str, middle: Last | None, settings: NodeSettings) -> Vote | None:
    """The most that any source shows, after the vote; None when none has shown anything lately that a die can be at."""
    looks = {source: look for source in seen.sources(HIGHEST, card) if (look := _find_look(seen, card, source, settings)) is not None}
    newest = max((at for at, _ in looks.values()), default=0.0)  # what somebody has seen long before is no other view of now
    found = {source: shown for source, (at, shown) in looks.items() if at >= newest - BESIDE_S}
    if middle is None or all(shown <= middle.value + settings.spread_c for shown in found.values()):
        return Vote(max(found.values())) if found else None
    medians, begin = _list_medians(seen, card), seen.now - WINDOW
    votes = [vote(list_numbers(seen, HIGHEST, card, begin, source), medians, settings.spread_c) for source in found]
    return max(votes, key=lambda one: one.celsius)


def _find_look(seen: View, card: str, source: str, settings: NodeSettings) -> tuple[float, float] | None:
    """When a source looked last, and what it saw, if that is fresh or held."""
    good = seen.good(HIGHEST, card, source)
    if good is not None and isinstance(good.value, int | float):
        look = good.at, float(good.value)
    else:
        look = find_latest(seen, HIGHEST, card, settings.hold_s, source) or (0.0, -1.0)
    return look if look[1] >= COLDEST else None


def _list_medians(seen: View, card: str) -> list[tuple[float, float]]:
    """Of the median, else of the mean, which one of 128 moves by less than a kelvin."""
    for quantity in (MEDIAN, MEAN):
        looks = [one for one in list_numbers(seen, quantity, card, seen.now - WINDOW) if one[1] >= COLDEST]
        if looks:
            return looks
    return []


def _find_middle(seen: View, card: str, settings: NodeSettings) -> Last | None:
    found = (find_last(seen, quantity, card, settings.hold_s) for quantity in (MEDIAN, MEAN))
    return next((last for last in found if last is not None and last.value >= COLDEST), None)


def _say_lost(seen: View, card: str, settings: NodeSettings) -> str:
    last = find_last(seen, HIGHEST, card, settings.hold_s)
    return say_why(seen, HIGHEST, card) if last is None else f"{card} shows {last.value:g} C, which is no die's"


def _measure_rise(seen: View, card: str, *, clipped: bool) -> float:
    quantity = MEDIAN if clipped and seen.sources(MEDIAN, card) else MEAN if clipped else HIGHEST
    return measure_rise(list_numbers(seen, quantity, card, seen.now - SLOPE_S))


def _say_too_busy(seen: View, card: str, shown: float, watts: Mapping[str, float], settings: NodeSettings) -> str:
    """Why a temperature past the throttle point is not believed; empty when it is."""
    own, others = watts.get(card), [power for peer, power in watts.items() if peer != card]
    if shown < settings.throttle_c + BEYOND or own is None or len(others) < 2 or seen.number(THROTTLED, card) == 1.0:
        return ""
    usual = median(others)
    if own < FULL_SHARE * usual:
        return ""
    return (
        f"{card} shows {shown:.0f} C and draws {own:.0f} W, its neighbours {usual:.0f} W: past {settings.throttle_c:g} C it would have "
        "slowed down, so one of its sensors is wrong"
    )

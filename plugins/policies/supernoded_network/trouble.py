"""What else than a small buffer makes communication time out (L14): links, bit errors, loss, heat. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from supernoded.plugin import State, View
from supernoded_network.growth import grow_any, grow_most, list_subjects

STATE, DOWNED, BITS, BER = "link.state", "link.downed", "link.bits", "link.ber.post_fec"
ERRORS = ("link.symbol_errors", "link.effective_errors", "link.receive_errors")
UNCORRECTED = "link.fec.uncorrected"
LOSSES = ("link.discards", "switch.drops")
TEMPERATURE, MEDIAN, THROTTLED, HEALTH = "card.temperature", "card.temperature.median", "card.throttled", "card.health"
QUANTITIES = (STATE, DOWNED, BITS, BER, *ERRORS, UNCORRECTED, *LOSSES, TEMPERATURE, MEDIAN, THROTTLED, HEALTH)
SPREAD = 15.0  # K that the hottest of a die's sensors may stand above their median; beyond it one of them is wrong (ours, as T2 has 128)
LEAST_ERRORS = 3  # one or two are a near miss whatever the exposure (Q5)
HEAT_WORDS = ("therm", "thrott", "temperature", "overheat")  # in the flags of a card's health


def find_troubles(seen: View, declared: Iterable[str], ber: float, hot: float) -> Iterator[str]:
    """Each a part of a sentence. A port that is not declared counts only if it was up, too, in the window."""
    known = frozenset(declared)
    for port in list_subjects(seen, [STATE, DOWNED, *ERRORS, UNCORRECTED, BER]):
        yield from _find_link_trouble(seen, port, ber, is_declared=port in known)
    for quantity in LOSSES:
        for subject in list_subjects(seen, [quantity]):
            drops = grow_most(seen, quantity, subject)
            if drops:
                yield f"{subject} dropped {drops:.0f} packets"
    yield from _find_heat(seen, hot)


def _find_link_trouble(seen: View, port: str, ber: float, *, is_declared: bool) -> Iterator[str]:
    states = [one.value for source in seen.sources(STATE, port) for one in seen.window(STATE, port, source) if one.state is State.GOOD]
    if 0.0 in states and (is_declared or 1.0 in states):
        yield f"the link of {port} was down"
    elif grow_most(seen, DOWNED, port):
        yield f"the link of {port} went down between two looks"
    rate = seen.number(BER, port)
    errors, bits = grow_any(seen, ERRORS, port), grow_most(seen, BITS, port)
    if rate is not None and rate > ber:
        yield f"{port} has a BER of {rate:.1e}, above {ber:g}"
    elif errors is not None and errors >= LEAST_ERRORS and errors > ber * (bits or 0.0):
        yield f"{port} had {errors:.0f} bit errors"
    elif grow_most(seen, UNCORRECTED, port):
        yield f"{port} had code words that could not be corrected"


def _find_heat(seen: View, hot: float) -> Iterator[str]:
    """Which card heat may have slowed down. Why it is hot, and that it comes first, is for whoever judges heat."""
    for card in list_subjects(seen, [TEMPERATURE]):
        hottest, middle = _find_peak(seen, TEMPERATURE, card), _find_peak(seen, MEDIAN, card)
        hottest = hottest if middle is None else min(hottest or 0.0, middle + SPREAD)
        if hottest is not None and hottest >= hot:
            yield f"{card} was at {hottest:.0f} C, from {hot:g} C on it may be throttled"
    for card in list_subjects(seen, [THROTTLED]):
        if _find_peak(seen, THROTTLED, card) == 1.0:
            yield f"{card} says that heat has slowed it down"
    for card in list_subjects(seen, [HEALTH]):
        flags = sorted(flag for flag in seen.flags(HEALTH, card) or () if any(word in flag.lower() for word in HEAT_WORDS))
        if flags:
            yield f"{card} reports {', '.join(flags)}"


def _find_peak(seen: View, quantity: str, card: str) -> float | None:
    """The most that was GOOD within the window, by any source."""
    readings = (one for source in seen.sources(quantity, card) for one in seen.window(quantity, card, source))
    return max((float(one.value) for one in readings if one.state is State.GOOD and isinstance(one.value, int | float)), default=None)


def list_unseen(seen: View) -> list[str]:
    """What was not looked at, because nobody reads it."""
    unseen = [] if list_subjects(seen, [TEMPERATURE]) else [f"{TEMPERATURE}: never read"]
    return unseen if list_subjects(seen, [*ERRORS, BER]) else [*unseen, "bit errors: never read"]


def count_links(seen: View) -> Mapping[str, int]:
    """How many links are up, and of how many it is not known."""
    states = [seen.number(STATE, port) for port in list_subjects(seen, [STATE])]
    return {"up": sum(state == 1.0 for state in states), "unknown": sum(state is None for state in states)}

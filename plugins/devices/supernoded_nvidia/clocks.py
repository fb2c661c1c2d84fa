"""Whether a card slows itself down because it is hot: `clocks_event_reasons`, which older drivers call `clocks_throttle_reasons`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from supernoded.plugin import Reading, make_reading
from supernoded_nvidia.values import say_missing, strip

_REASONS = (("clocks_event_reasons", "clocks_event_reason"), ("clocks_throttle_reasons", "clocks_throttle_reason"))
_SECTIONS = ("clocks event reasons", "clocks throttle reasons")  # of the text
_WHO = ("hw", "sw")  # the card by itself, and its driver before that
PATHS = tuple(f"{section}/{name}_{who}_thermal_slowdown" for section, name in _REASONS for who in _WHO) + tuple(
    f"{section}/{who} thermal slowdown" for section in _SECTIONS for who in _WHO
)


def read_throttle(facts: Mapping[str, str], subject: str, at: float) -> Iterator[Reading]:
    """1 when either slows it down, 0 when neither does; unknown in other words, and nothing of a driver that does not tell."""
    told = {path: strip(facts[path]).casefold() for path in PATHS if path in facts}
    if not told:
        return
    words = set(told.values())
    value = 1.0 if "active" in words else 0.0 if words == {"not active"} else None
    odd = next((facts[path] for path, word in told.items() if word not in {"active", "not active"}), "")
    yield make_reading(subject, "card.throttled", value, "1", at, "" if value is not None else say_missing(odd))

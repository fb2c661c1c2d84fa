"""What a switch prints, as readings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from supernoded.plugin import PluginError, Reading, make_reading, quote
from supernoded_fabric.switch.settings import DEFAULT_PATTERNS

LONGEST_LINE = 400  # characters of a line that are looked at
LONGEST_NUMBER = 20  # digits of 2**64
MOST_LINES = 20_000  # of one answer
ECN = "switch.ecn"
UNITS: Mapping[str, str] = MappingProxyType({"switch.pfc_threshold": "B", "switch.ecn_threshold": "B"})  # of the others: 1
SETTINGS, COUNTERS = ("switch.pfc_threshold", "switch.ecn_threshold", ECN), ("switch.drops", "switch.marks", "switch.pauses")

Patterns = Mapping[str, re.Pattern[str]]


def compile_patterns(switch: str, own: Mapping[str, str]) -> Patterns:
    """The expressions of a switch. Raises PluginError for an unknown quantity, and for one that is no expression with one group."""
    compiled = {}
    for quantity, text in {**DEFAULT_PATTERNS, **own}.items():
        where = f"switches.{switch}.patterns: {quantity}"
        if quantity not in DEFAULT_PATTERNS:
            raise PluginError(f"{where} is nothing that is read of a switch; there are {', '.join(DEFAULT_PATTERNS)}")
        try:
            compiled[quantity] = re.compile(text, re.IGNORECASE | re.ASCII)
        except re.error as error:
            raise PluginError(f"{where}: {text!r} is no regular expression: {error}") from error
        if compiled[quantity].groups != 1:
            raise PluginError(f"{where}: {text!r} has {compiled[quantity].groups} groups; put what is to be read into one group")
    return compiled


def parse_answer(text: str, wanted: Iterable[str], patterns: Patterns, subject: str, at: float) -> list[Reading]:
    """A reading of each wanted quantity. Of a setting that stands there more than once the last counts, as the switch has it."""
    lines = [line[:LONGEST_LINE] for line in text.splitlines()[:MOST_LINES]]
    understood = any(pattern.search(line) for line in lines for pattern in patterns.values())
    return [_read(quantity, patterns[quantity], lines, subject, at, understood=understood) for quantity in wanted]


def _read(quantity: str, pattern: re.Pattern[str], lines: list[str], subject: str, at: float, *, understood: bool) -> Reading:
    said = next((found[1] or "" for line in reversed(lines) if (found := pattern.search(line))), None)
    value, note = _measure(quantity, said, understood=understood)
    return make_reading(subject, quantity, value, UNITS.get(quantity, "1"), at, note)


def _measure(quantity: str, said: str | None, *, understood: bool) -> tuple[float | None, str]:
    """The value, or why there is none. A switch that shows its settings, and says nothing of marking, does not mark."""
    if said is None:
        return (0.0, "") if quantity == ECN and understood else (None, f"{quantity} is not in its answer")
    if quantity == ECN:
        return _measure_switch(said)
    if not said.isascii() or not said.isdigit() or len(said) > LONGEST_NUMBER:
        return None, f"no number: {quote(said)}"
    return float(said), ""


def _measure_switch(said: str) -> tuple[float, str]:
    """A command, or a word of its own: undone, off and disabled are 0, all else is 1."""
    off = {"undo", "no", "off", "disable", "disabled", "false", "0"} & set(said.lower().split())
    return float(not off), ""

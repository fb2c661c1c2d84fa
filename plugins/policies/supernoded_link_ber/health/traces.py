"""How a reading of a module stands against its own past, its own limits and the other ports of its node. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from supernoded.plugin import View
from supernoded_link_ber.health.bounds import find_limits
from supernoded_link_ber.health.seeing import as_number, list_ports

LEAST = 3  # readings that can turn, and ports that make a company; ours
RECENT = 3  # readings among which a dip is looked for, ours
TURN = 0.05  # share of the mean by which a value has to swing to count as a turn, ours


class Trace(msgspec.Struct, frozen=True):
    """One quantity of one port."""

    now: float
    at: float
    past: float | None = None  # the median of the oldest third of the window
    usual: float | None = None  # the median of the other ports of the node
    low: float | None = None  # the module's own limits
    high: float | None = None
    turns: int = 0  # times it swung up and down
    drift: float = 1.0  # by what the other ports of the node changed meanwhile: all lasers warm up after a boot
    least: float = math.inf  # of the last few readings

    def say_past(self, unit: str) -> str:
        """What it is compared with, for a sentence."""
        said = (f"{self.past:.3g} {unit} earlier" if self.past is not None else "", f"others {self.usual:.3g} {unit}" if self.usual else "")
        return ", ".join(one for one in said if one) or "with nothing to compare it to"


def trace(seen: View, quantity: str, port: str) -> Trace | None:
    """None when its newest reading is not good."""
    reading = seen.good(quantity, port)
    now = None if reading is None else as_number(reading)
    if reading is None or now is None:
        return None
    values = [value for one in seen.window(quantity, port) if (value := as_number(one)) is not None]
    past = _find_past(values)
    limits = find_limits(seen, quantity, port) if not quantity.endswith("snr") else None
    low, high = limits or (None, None)
    usual, drift = _find_usual(seen, quantity, port), _find_drift(seen, quantity, port)
    return Trace(now, reading.at, past, usual, low, high, _count_turns(values), drift, min(values[-RECENT:]))


def _find_past(values: Sequence[float]) -> float | None:
    return median(values[: max(1, len(values) // 3)]) if len(values) > 1 else None


def _find_drift(seen: View, quantity: str, port: str) -> float:
    """The median change of the other ports of the node; 1 where they are too few."""
    node, changes = port.partition("/")[0] + "/", list[float]()
    for one in list_ports(seen, quantity):
        if one != port and one.startswith(node):
            values = [value for reading in seen.window(quantity, one) if (value := as_number(reading)) is not None]
            past = _find_past(values)
            if past is not None and past > 0.0 and values[-1] > 0.0:
                changes.append(values[-1] / past)
    return median(changes) if len(changes) >= LEAST else 1.0


def _find_usual(seen: View, quantity: str, port: str) -> float | None:
    """Of ports of the same node whose value is a number above 0; those that are dark are no company."""
    node = port.partition("/")[0] + "/"
    others = (seen.number(quantity, one) for one in list_ports(seen, quantity) if one != port and one.startswith(node))
    lit = [value for value in others if value is not None and value > 0.0]
    return median(lit) if len(lit) >= LEAST else None


def _count_turns(values: Sequence[float]) -> int:
    """Times a series changes direction by more than a twentieth of its mean."""
    if len(values) < LEAST:
        return 0
    least = TURN * sum(values) / len(values)
    turns, rising, edge = 0, None, values[0]
    for value in values[1:]:
        if rising is not None and ((value > edge) is rising or value == edge):
            edge = value
        elif abs(value - edge) > least:
            turns += rising is not None
            rising, edge = value > edge, value
    return turns

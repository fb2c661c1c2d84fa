"""What a controller knows between two requests: what it last saw of the plant, and when it cannot answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple, TypeGuard

from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.reading import is_dark, read
from sim_hardware.devices.redfish.words import ROOT
from sim_hardware.loop import EPOCH
from sim_hardware.plant.words import Order, Value

Later = Callable[[float, Callable[[], None]], object]

_JOULES_A_KWH = 3.6e6
_MOST = 1e15  # no part of a rack measures more; what is larger, or NaN, is a broken reading (ours)


class Sample(NamedTuple):
    """A value and when it was taken, in seconds of the plant's time."""

    value: Value
    at: float


def is_number(value: Value) -> TypeGuard[float]:
    """Whether it is a number that a controller can show."""
    return isinstance(value, int | float) and abs(value) <= _MOST


def call_later(seconds: float, call: Callable[[], None]) -> object:
    """Do something on the running loop in so many seconds."""
    return asyncio.get_running_loop().call_later(seconds, call)


def tell_time(at: float) -> str:
    """A moment of the plant as Redfish writes it; second 0 is the wall time at which `SimLoop` starts."""
    return datetime.fromtimestamp(EPOCH + at, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Board:
    """One controller before its panel.

    `busy` holds what answers 503 until a time, by the beginning of its path; before `away_until` nothing answers at all, and neither
    without power where `supply` names whose it is: that of a node (`n0`), a CDU or a PDU.
    """

    def __init__(self, panel: Panel, impairment: Impairment, later: Later = call_later) -> None:
        self.panel, self.impairment, self.later = panel, impairment, later
        self.busy: dict[str, float] = {}
        self.away_until = -math.inf
        self.boots = 0
        self.supply = ""
        self._seen: dict[tuple[str, str], Sample] = {}
        self._held: dict[tuple[str, str], float] = {}
        self._energy: dict[tuple[str, str], tuple[Sample, float]] = {}

    def now(self) -> float:
        """Seconds of the plant's time."""
        return self.panel.now()

    def read(self, subject: str, quantity: str, every: float = 0.0) -> Sample:
        """What the controller shows: old when it is stale or holds the value; with `every` renewed at most once in each such period, s.

        There is no task behind it: the sample of a period is taken when it is first asked for.
        """
        key = (subject, quantity)
        known = self._seen.get(key)
        if known is not None and self._stays(key, known, every):
            return known
        self._seen[key] = sample = Sample(read(self.panel, subject, quantity), self.now())
        return sample

    def _stays(self, key: tuple[str, str], known: Sample, every: float) -> bool:
        if self.impairment.stale or self.now() < self._held.get(key, -math.inf):
            return True
        return every > 0 and math.floor(known.at / every) == math.floor(self.now() / every)

    def hold(self, subject: str, quantity: str, seconds: float) -> None:
        """Show what was read last for so many more seconds."""
        self._held[subject, quantity] = self.now() + seconds

    def is_away(self) -> bool:
        """Whether the controller itself is off, or starting."""
        return self.now() < self.away_until or (self.supply != "" and is_dark(self.panel, self.supply))

    def restart(self, seconds: float, busy: float) -> None:
        """Be away for so long, then say for so long that it is busy."""
        self.boots += 1
        self.away_until = self.now() + seconds
        self.busy[f"{ROOT}/"] = self.away_until + busy

    def order(self, order: Order) -> None:
        """Turn something in the plant. Raises OrderError."""
        self.panel.order(order)

    def count_energy(self, subject: str, quantity: str) -> Sample:
        """Energy since the first look, kWh.

        Between two requests the power, W, is taken as a straight line, also over those at which there was no number.
        """
        key, sample = (subject, quantity), self.read(subject, quantity)
        before, total = self._energy.get(key, (sample, 0.0))
        power, then = sample.value, before.value
        if not is_number(power):
            return Sample(total, sample.at)
        if is_number(then):
            total += (power + then) / 2 * (sample.at - before.at) / _JOULES_A_KWH
        self._energy[key] = sample, total
        return Sample(total, sample.at)

"""A rule, what it has seen and remembers, and a link that is read for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, Generic, TypeVar

import msgspec

from supernoded.history import History
from supernoded.plugin import Level, Reading, Rule, State, Value, Verdict
from supernoded_link_ber.ber.judging import Judge
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.health.ports import WATCHES
from supernoded_link_ber.settings import LinkBerSettings

LINK = "n0/nic/mlx5_0/port1"
POLL = 5.0
SPEED = 200.0
BITS = 1e12  # 200 Gb/s for one poll (Q5)
SATURATED = "saturated, cannot measure (65535 is the ceiling of 16 bits; reset it)"
UNITS = {"link.bits": "bit", "link.speed": "Gb/s", "link.fec": "text"}

M = TypeVar("M")


def make_judge(**settings: Any) -> Judge:
    return Judge(1e-12, SPEED, LinkBerSettings(**settings))


def make_gallery() -> Gallery:
    return Gallery(WATCHES, lambda _: "")


def reading(quantity: str, value: Value, at: float, note: str = "", source: str = "", subject: str = LINK) -> Reading:
    state, unit = (State.UNKNOWN if value is None else State.GOOD), UNITS.get(quantity, "1")
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note, source=source)


def draw(chance: Random, mean: float) -> int:
    """A Poisson count."""
    if mean > 500.0:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    left, count = math.exp(-mean), 0
    product = chance.random()
    while product > left:
        product *= chance.random()
        count += 1
    return count


class Life(Generic[M]):
    """`restart` is the daemon's."""

    def __init__(self, rule: Rule[M], quantity: str = "link.symbol_errors", poll: float = POLL) -> None:
        self.rule, self.quantity, self.poll_s = rule, quantity, poll
        self.history = History(rule.watches)
        self.memory = rule.start()
        self.at = 1e9
        self.bits = 7e15

    def read(self, values: Mapping[str, Value], note: str = "", source: str = "") -> None:
        """Add readings of now."""
        self.history.add([reading(quantity, value, self.at, note, source) for quantity, value in values.items()], 2.5 * self.poll_s)

    def poll(self, value: Value, bits: float | None = BITS, speed: float | None = SPEED, note: str = "", **more: Value) -> Verdict:
        """One reading of its quantity, with what else is read of the link; `fec__corrected` is `link.fec.corrected`."""
        self.at += self.poll_s
        values: dict[str, Value] = {f"link.{name.replace('__', '.')}": also for name, also in more.items()}
        if bits is not None:
            self.bits += bits
            values["link.bits"] = self.bits
        if speed is not None:
            values["link.speed"] = speed
        self.read(values)
        self.read({self.quantity: value}, note)
        return self.judge()

    def judge(self) -> Verdict:
        (verdict,) = self.judge_all()
        return verdict

    def judge_all(self) -> Sequence[Verdict]:
        self.memory, verdicts = self.rule.judge(self.history.view(self.at, self.rule.watches), self.memory)
        return verdicts

    def run(self, totals: Iterable[float]) -> list[Level]:
        return [self.poll(total).level for total in totals]

    def restart(self) -> None:
        self.memory = msgspec.json.decode(msgspec.json.encode(self.memory), type=type(self.memory))
        self.history = History(self.rule.watches)

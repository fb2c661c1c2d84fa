"""What pages say, in words of ours; and what is told of it: one reading for each subject and quantity, with its age."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from supernoded.plugin import Reading, State, Value, make_reading
from supernoded_redfish.ageing import Ages

OLD_S = 15.0  # seconds, or three periods, after which a time stamp that has not moved is old (ours)
Key = tuple[str, str]


class Fact(NamedTuple):
    """One value of one subject; None = not known, `note` says why.

    `stamp` is when it was read by the service's own clock; `link` the path of the sensor that it is quoted from; `at` when its page came.
    """

    subject: str
    quantity: str
    value: Value
    unit: str
    note: str = ""
    stamp: str = ""
    link: str = ""
    at: float = 0.0

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.subject, self.quantity


# Of several sensors of one thing the one that matters; elsewhere the first that is known.
PICKS: Mapping[str, Callable[[float, float], float]] = {
    "card.temperature": max,
    "coolant.supply_temperature": max,  # cool on the warmer (safety rule 19)
    "fan.speed": min,  # the rotor of two that stands
    "coolant.leak": max,
    "coolant.leak_sticky": max,
}
LEAKS = frozenset({"coolant.leak", "coolant.leak_sticky"})  # a dry detector does not speak for one that cannot say


def join_facts(*sources: Iterable[Fact]) -> dict[Key, Fact]:
    """One fact for each key. Within a source see `PICKS`.

    Of several sources the first one has the word, also when it says that the value is not to be believed.
    """
    told: dict[Key, Fact] = {}
    for source in sources:
        found: dict[Key, Fact] = {}
        for fact in source:
            before = found.get(fact.key)
            found[fact.key] = fact if before is None else _pick(before, fact)
        told |= {key: fact for key, fact in found.items() if key not in told}
    return told


def _pick(first: Fact, second: Fact) -> Fact:
    if first.value is None or second.value is None:
        known, unknown = (second, first) if first.value is None else (first, second)
        return unknown if known.quantity in LEAKS and known.value == 0.0 else known
    pick = PICKS.get(first.quantity)
    if pick is None or not isinstance(first.value, int | float) or not isinstance(second.value, int | float):
        return first
    return second if pick(first.value, second.value) == second.value else first


def tell_facts(facts: Mapping[Key, Fact], ages: Ages, now: float, period: float) -> Iterator[Reading]:
    """The readings. One whose time stamp stands still is STALE; one that has none cannot be told from a fresh one."""
    for fact in facts.values():
        age = ages.note(*fact.key, fact.stamp, now) if fact.stamp and fact.value is not None else 0.0
        at = fact.at or now
        if age > max(OLD_S, 3.0 * period):
            note = f"the service's reading is still that of {fact.stamp[:40]}, {age:.0f} s after it was first seen"
            yield Reading(
                subject=fact.subject, quantity=fact.quantity, value=fact.value, unit=fact.unit, at=at, state=State.STALE, note=note
            )
        else:
            yield make_reading(fact.subject, fact.quantity, fact.value, fact.unit, at, fact.note)
    ages.keep(facts.keys())

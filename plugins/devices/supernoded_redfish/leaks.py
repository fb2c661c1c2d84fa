"""Leak detectors (LeakDetector of DSP0268). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from supernoded_redfish.facts import Fact
from supernoded_redfish.gauges import name_words
from supernoded_redfish.monitor import show
from supernoded_redfish.paths import make_slug, name_last

QUANTITIES = ("coolant.leak", "coolant.leak_sticky")
WET = ("Warning", "Critical")  # DetectorState
LATCHED = re.compile(r"latch|stick|sticky|memor")  # in its name: it was wet since a person last cleared it


def parse_detector(subject: str, path: str, body: Mapping[str, object]) -> Iterator[Fact]:
    """A detector of `subject`, as `<subject>/leak/<its Id>`. One that is at fault says nothing: what it should watch is not watched."""
    identity = name_last(path)
    quantity = QUANTITIES[bool(LATCHED.search(name_words(identity, body.get("Name"))))]
    wet, note = read_detector(body)
    yield Fact(f"{subject}/leak/{make_slug(identity)}", quantity, wet, "1", note)


def name_detectors(subject: str, facts: Iterable[Fact]) -> list[Fact]:
    """A detector that is alone of its kind is that of the whole thing; several are told each, and as the worst of them for the whole."""
    every = list(facts)
    kinds = {quantity: [fact for fact in every if fact.quantity == quantity] for quantity in QUANTITIES}
    return [fact for found in kinds.values() if found for fact in (*(found if len(found) > 1 else ()), _join(subject, found))]


def _join(subject: str, facts: Sequence[Fact]) -> Fact:
    """Wet if any is; else unknown if any cannot say, for a dry one does not speak for it; else dry."""
    if len(facts) == 1:
        return facts[0]._replace(subject=subject)
    wet = [fact for fact in facts if fact.value]
    worst = wet or [fact for fact in facts if fact.value is None] or facts
    named = ", ".join(name_last(fact.subject) for fact in worst)
    note = f"wet: {named}" if wet else f"{named}: {worst[0].note}" if worst[0].note else ""
    return worst[0]._replace(subject=subject, note=note)


def read_detector(body: Mapping[str, object]) -> tuple[float | None, str]:
    """Whether it is wet; None and why when it cannot say.

    Health tells of the detector and of what it has found alike, so it counts against the detector only while that says it is dry.
    """
    status = body.get("Status")
    state = status.get("State") if isinstance(status, Mapping) else None
    health = status.get("Health") if isinstance(status, Mapping) else None
    told = body.get("DetectorState")
    if state not in ("Enabled", None):
        return None, f"detector fault: its Status is {show(state)}"
    if told in WET:
        return 1.0, ""
    if told != "OK":
        return None, f"detector fault: DetectorState is {show(told)}"
    if health not in ("OK", None):
        return None, f"detector fault: DetectorState is OK and its health {show(health)}"
    return 0.0, ""

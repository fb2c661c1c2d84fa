"""Pairs of path and text, as an InfiniBand tree holds them, to readings. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from supernoded.plugin import Reading, State, Value, WireError
from supernoded_fabric.counters import COUNTERS, HARDWARE_COUNTERS, Counter, clip, read_counter

Text = str | WireError
Subject = Callable[[str, str], str]  # device and port, as the driver calls them

FACTS = ("state", "phys_state", "rate", "lid")
FILES = (*(f"counters/{name}" for name in COUNTERS), *(f"hw_counters/{name}" for name in HARDWARE_COUNTERS))
UP = "ACTIVE"
NO_LID = 0xFFFF  # the base lid of a port that no subnet manager has taken on

_PLACE = re.compile(r"(?:^|/)(?P<device>[^/\s]+)/ports/(?P<port>\d{1,4})/(?P<rest>[^\s]+)$", re.ASCII)
_NUMBERED = re.compile(r"\d{1,2}:\s*(?P<word>\w[\w ]{0,40})$", re.ASCII)
_RATE = re.compile(r"(?P<speed>\d{1,5}(?:\.\d{1,3})?)\s*Gb/sec\b", re.ASCII)


class Port(msgspec.Struct):
    """What was read of one port."""

    facts: dict[str, Text]
    counters: dict[str, Text]
    hardware: dict[str, Text]

    def word(self, name: str) -> str:
        """The word of a fact such as `4: ACTIVE`, empty when there is none."""
        text = self.facts.get(name, "")
        found = None if isinstance(text, WireError) else _NUMBERED.match(text)
        return found["word"].strip() if found else ""


def parse_tree(pairs: Iterable[tuple[str, Text]], at: float, subject: Subject) -> list[Reading]:
    """Every reading of every port, in the order of the ports' first appearance. Whatever else is in the tree is ignored."""
    return [reading for (device, port), seen in _gather(pairs).items() for reading in _read_port(device, seen, at, subject(device, port))]


def _gather(pairs: Iterable[tuple[str, Text]]) -> Mapping[tuple[str, str], Port]:
    ports: dict[tuple[str, str], Port] = {}
    for path, text in pairs:
        place = _PLACE.search(path)
        if place is None:
            continue
        port = ports.setdefault((place["device"], place["port"]), Port({}, {}, {}))
        folder, _, name = place["rest"].rpartition("/")
        kind = {"": port.facts, "counters": port.counters, "hw_counters": port.hardware}.get(folder)
        if kind is not None:
            kind[name] = text
    return ports


def _read_port(device: str, port: Port, at: float, subject: str) -> Iterator[Reading]:
    state, physical = port.word("state"), port.word("phys_state")
    yield from _read_state(port, at, subject)
    if "bond" in device or physical == "Disabled" or _is_unprovisioned(port, state):
        return  # its counters say nothing about a cable
    if "rate" in port.facts:
        yield _read_speed(port.facts["rate"], state, at, subject)
    for table, texts in ((COUNTERS, port.counters), (HARDWARE_COUNTERS, port.hardware)):
        yield from _read_counters(table, texts, at, subject)


def _read_counters(table: Mapping[str, Counter], texts: Mapping[str, Text], at: float, subject: str) -> Iterator[Reading]:
    for name, text in texts.items():
        counter = table.get(name)
        if counter is not None:
            yield read_counter(subject, counter, text, at)


def _read_state(port: Port, at: float, subject: str) -> Iterator[Reading]:
    if "state" in port.facts:
        state = port.word("state")
        why = "" if state == UP else ", ".join(word for word in (state, port.word("phys_state")) if word)
        yield _make(subject, "link.state", float(state == UP) if state else None, "1", at, note=why or _reason(port.facts["state"], state))
    if "phys_state" in port.facts:
        physical = port.word("phys_state")
        yield _make(subject, "x.infiniband.phys_state", physical or None, "text", at, note=_reason(port.facts["phys_state"], physical))


def _read_speed(text: Text, state: str, at: float, subject: str) -> Reading:
    """The speed, which only a link that is up has: the others show their slowest."""
    if state and state != UP:
        return _make(subject, "link.speed", None, "Gb/s", at, note=f"the link is {state}")
    found = None if isinstance(text, WireError) else _RATE.match(text)
    return _make(subject, "link.speed", float(found["speed"]) if found else None, "Gb/s", at, note=_reason(text, found))


def _reason(text: Text, found: object) -> str:
    if found:
        return ""
    return str(text) if isinstance(text, WireError) else f"not understood: {clip(text)}"


def _make(subject: str, quantity: str, value: Value, unit: str, at: float, *, note: str) -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note)


def _is_unprovisioned(port: Port, state: str) -> bool:
    lid = port.facts.get("lid", "")
    try:
        return state != UP and not isinstance(lid, WireError) and int(lid, 16) == NO_LID
    except ValueError:
        return False

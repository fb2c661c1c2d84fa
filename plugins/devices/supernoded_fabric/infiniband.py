"""Pairs of path and text, as an InfiniBand tree holds them, to readings. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec

from supernoded.plugin import Reading, WireError, make_reading, quote
from supernoded_fabric.counters import COUNTERS, HARDWARE_COUNTERS, OWN, Counter, read_counter

Text = str | WireError
Subject = Callable[[str, str], str]  # device and port, as the driver calls them

FACTS = ("state", "phys_state", "rate", "lid")
ALL = (("counters", COUNTERS), ("hw_counters", HARDWARE_COUNTERS))
FILES, OWN_FILES = (
    tuple(f"{folder}/{name}" for folder, table in ALL for name, counter in table.items() if counter.quantity.startswith(OWN) is own)
    for own in (False, True)
)
UP = "ACTIVE"
OFF = "Disabled"
NO_LID = 0xFFFF  # the base lid of a port that no subnet manager has taken on

_PLACE = re.compile(r"(?:^|/)(?P<device>[^/\s]+)/ports/(?P<port>\d{1,4})/(?P<rest>[^\s]+)$", re.ASCII)
_NUMBERED = re.compile(r"\d{1,2}:\s*(?P<word>\w[\w ]{0,40})$", re.ASCII)
_RATE = re.compile(r"(?P<speed>\d{1,5}(?:\.\d{1,3})?)\s*Gb/sec\b(?:\s*\((?P<width>\d{1,2})X\b)?", re.ASCII)


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
        place = _find_place(path)
        if place is None:
            continue
        device, number, folder, name = place
        port = ports.setdefault((device, number), Port({}, {}, {}))
        kind = {"": port.facts, "counters": port.counters, "hw_counters": port.hardware}.get(folder)
        if kind is not None:
            kind[name] = text
    return ports


@lru_cache(maxsize=8_192)  # paths; a tree has the same ones each time
def _find_place(path: str) -> tuple[str, str, str, str] | None:
    """Device, port, folder and file."""
    place = _PLACE.search(path)
    if place is None:
        return None
    folder, _, name = place["rest"].rpartition("/")
    return place["device"], place["port"], folder, name


def _read_port(device: str, port: Port, at: float, subject: str) -> Iterator[Reading]:
    state, physical = port.word("state"), port.word("phys_state")
    yield from _read_state(port, at, subject)
    if "bond" in device or physical == OFF or _is_unprovisioned(port, state):
        return  # its counters say nothing about a cable
    if "rate" in port.facts:
        yield from _read_rate(port.facts["rate"], state, at, subject)
    for table, texts in ((COUNTERS, port.counters), (HARDWARE_COUNTERS, port.hardware)):
        yield from _read_counters(table, texts, at, subject)


def _read_counters(table: Mapping[str, Counter], texts: Mapping[str, Text], at: float, subject: str) -> Iterator[Reading]:
    for name, text in texts.items():
        counter = table.get(name)
        if counter is not None:
            yield read_counter(subject, counter, text, at)


def _read_state(port: Port, at: float, subject: str) -> Iterator[Reading]:
    """Whether it is up, how far it came, and whether somebody switched it off."""
    state, physical = port.word("state"), port.word("phys_state")
    if "state" in port.facts:
        place = f"no subnet manager has taken it on (base lid {NO_LID:#x})" if _is_unprovisioned(port, state) else ""
        why = "" if state == UP else ", ".join(word for word in (state, physical, place) if word)
        yield make_reading(
            subject, "link.state", float(state == UP) if state else None, "1", at, why or _reason(port.facts["state"], state)
        )
    if "phys_state" in port.facts:
        yield make_reading(subject, "link.phys_state", physical.lower() or None, "text", at, _reason(port.facts["phys_state"], physical))
        if physical:
            yield make_reading(subject, "link.enabled", float(physical != OFF), "1", at, "disabled" if physical == OFF else "")


def _read_rate(text: Text, state: str, at: float, subject: str) -> Iterator[Reading]:
    """Speed and lanes, which only a link that is up has: the others show their slowest."""
    down = f"the link is {state}" if state and state != UP else ""
    found = None if down or isinstance(text, WireError) else _RATE.match(text)
    yield make_reading(subject, "link.speed", float(found["speed"]) if found else None, "Gb/s", at, down or _reason(text, found))
    if down or (found is not None and found["width"]):
        yield make_reading(subject, "link.width", float(found["width"]) if found else None, "1", at, down)


def _reason(text: Text, found: object) -> str:
    if found:
        return ""
    return str(text) if isinstance(text, WireError) else f"not understood: {quote(text)}"


def _is_unprovisioned(port: Port, state: str) -> bool:
    lid = port.facts.get("lid", "")
    try:
        return state != UP and not isinstance(lid, WireError) and int(lid, 16) == NO_LID
    except ValueError:
        return False

"""Whether the lines of `[reflex]` can do what they are for, by arithmetic and by the topology. Asked by `--check` and at every start."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.errors import WireError
from supernoded.reflex.arithmetic import list_crowded, list_late
from supernoded.settings import Settings
from supernoded.settings.reading import LONGEST_SOCKET
from supernoded.tables import Conflict
from supernoded.wire.line_address import parse_line

FASTER = "raise the baud rate, lower frames, interval_ms, debounce_ms or poll_ms, wire a contact, or allow more by deadline_ms"


def list_conflicts(settings: Settings) -> Iterator[Conflict]:
    """What is wrong, each with its arithmetic or its reason."""
    reflex = settings.reflex
    for index, fault in list_late(reflex):
        yield Conflict(key=("reflex", "frames", index), fault=fault, remedy=FASTER)
    for index, fault in list_crowded(reflex):
        yield Conflict(key=("reflex", "triggers", index), fault=fault, remedy="raise interval_ms or the baud rate")
    length = len(bytes(reflex.socket))
    if reflex.lines and length > LONGEST_SOCKET:
        fault = f"the socket's path has {length} bytes, at most {LONGEST_SOCKET} are possible"
        yield Conflict(key=("reflex", "socket"), fault=fault, remedy="use a shorter one, or a shorter runtime folder")
    yield from _list_strange_feeds(settings)
    for wire in _list_wires(settings):
        yield from _check_wire(settings, *wire)


def _list_strange_feeds(settings: Settings) -> Iterator[Conflict]:
    feeds = settings.topology.list_feeds()
    for index, trigger in enumerate(settings.reflex.triggers):
        if feeds and trigger.feed not in feeds:
            fault = f"is no feed of the topology, which has {', '.join(feeds)}"
            yield Conflict(key=("reflex", "triggers", index, "feed"), fault=fault, remedy="name one of them")


def _list_wires(settings: Settings) -> Iterator[tuple[str, int, str]]:
    site = settings.topology
    wires = {
        "ups": [device.wire for device in site.ups],
        "pdus": [device.wire for device in site.pdus],
        "loops": [device.wire for device in site.loops],
    }
    for table, urls in wires.items():
        for index, url in enumerate(urls):
            if url.startswith("reflex:"):
                yield table, index, url


def _check_wire(settings: Settings, table: str, index: int, wire: str) -> Iterator[Conflict]:
    """A device on a line of the reflex: the line is there, and what may be shed there is shed."""
    reflex = settings.reflex
    try:
        name = parse_line(wire).place
    except WireError as error:
        yield Conflict(key=(table, index, "wire"), fault=str(error), remedy="write reflex://name")
        return
    names = [line.name for line in reflex.lines]
    if name not in names:
        fault = f"the reflex has no line {name}, it has {', '.join(names) or 'none'}"
        yield Conflict(key=(table, index, "wire"), fault=fault, remedy="describe it in [[reflex.lines]]")
    elif table == "pdus" and reflex.frames and _is_spared(settings, index, name):
        fault = "has sheddable outlets, and nothing is sent on its line; a shed opens every cord of its loads (safety rule 5)"
        yield Conflict(key=(table, index, "wire"), fault=fault, remedy=f"add a [[reflex.frames]] for line {name}")


def _is_spared(settings: Settings, pdu: int, line: str) -> bool:
    """Whether a PDU could shed and would never be told to."""
    sheddable = any(outlet.sheddable for outlet in settings.topology.pdus[pdu].outlets)
    return sheddable and line not in [frame.line for frame in settings.reflex.frames]

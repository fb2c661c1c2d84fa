"""`nvidia-smi -q -x`, `-q` and the plain table: each card as a sheet of `path -> text`. Pure; nothing here raises for bad text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.parsers import expat

from supernoded_nvidia.slots import read_bus

DEEPEST = 32  # levels of a document; the tool's own has seven
MOST_FACTS = 20_000  # of one card
LONGEST_LINE = 200  # characters of a row of the table
LARGEST = 8 * 2**20  # characters; 16 cards with their clocks take half a million


class Sheet(NamedTuple):
    """What one view says of one card, by path: `temperature/gpu_temp`, or in small letters as the text view has it."""

    bus: str
    facts: Mapping[str, str]


class Document(NamedTuple):
    """The cards of a document, and why it is not whole; empty when it is."""

    sheets: tuple[Sheet, ...]
    trouble: str = ""


class _RefusedError(Exception):
    """A document that no `nvidia-smi` writes."""


class _Builder:
    """Takes in the elements of a document; a card counts when its element was closed."""

    def __init__(self) -> None:
        self.sheets: list[Sheet] = []
        self._path: list[str] = []
        self._facts: dict[str, str] = {}
        self._id, self._text, self._is_leaf = "", "", False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._path.append(name)
        if len(self._path) > DEEPEST:
            raise _RefusedError(f"elements within elements, {DEEPEST} deep")
        if len(self._path) == 2 and name == "gpu":
            self._facts, self._id = {}, attributes.get("id", "")
        self._text, self._is_leaf = "", True

    def data(self, text: str) -> None:
        self._text += text if len(self._text) < 1000 else ""

    def end(self, name: str) -> None:
        if len(self._path) > 2 and self._is_leaf and self._path[1] == "gpu" and len(self._facts) < MOST_FACTS:
            self._facts.setdefault("/".join(self._path[2:]), self._text.strip())
        if len(self._path) == 2 and name == "gpu":
            bus = read_bus(self._id) or read_bus(self._facts.get("pci/pci_bus_id", ""))
            if bus:
                self.sheets.append(Sheet(bus, self._facts))
        self._path.pop()
        self._is_leaf = False

    def refuse(self, *declaration: object) -> None:
        """An entity could be declared to grow without end, or to be a file of this machine."""
        raise _RefusedError(f"it declares the entity {declaration[0]!r}")


def parse_xml(text: str) -> Document:
    """The document of `-q -x`, of whatever driver. One that declares entities, or is too large or too deep, is refused."""
    if len(text) > LARGEST:
        return Document((), f"a document of {len(text)} characters, at most {LARGEST} are read")
    builder, parser = _Builder(), expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = builder.data, builder.refuse
    start = max(text.find("<"), 0)  # a tool may warn before it begins
    try:
        parser.Parse(text[start:].encode(errors="replace"), True)
    except (expat.ExpatError, _RefusedError) as error:
        return Document(tuple(builder.sheets), f"no whole document of nvidia-smi: {error}")
    return Document(tuple(builder.sheets), "" if builder.sheets else "a document without a card")


_CARD = re.compile(r"GPU\s+(?P<bus>[0-9a-f:.]{7,20})\s*", re.ASCII | re.IGNORECASE)
_LINE = re.compile(r"(?P<indent>\s+)(?P<key>[^:\s][^:]{0,80}?)\s*(?::\s?(?P<value>.*))?")


def parse_text(text: str) -> Iterator[Sheet]:
    """The cards of `-q` without `-x`: sections by their indent, keys in small letters."""
    bus, facts, path = "", dict[str, str](), list[tuple[int, str]]()
    for line in text[:LARGEST].splitlines():
        card, pair = _CARD.fullmatch(line), _LINE.fullmatch(line)
        if card is not None:
            if bus:
                yield Sheet(bus, facts)
            bus, facts, path = read_bus(card["bus"]), {}, []
        elif pair is not None and bus and len(facts) < MOST_FACTS:
            indent, key = len(pair["indent"].expandtabs(4)), pair["key"].strip().casefold()
            path = [(deep, name) for deep, name in path if deep < indent]
            if pair["value"] is None:
                path.append((indent, key))
            else:
                facts.setdefault("/".join([*(name for _, name in path), key]), pair["value"].strip())
    if bus:
        yield Sheet(bus, facts)


_FIRST = re.compile(
    r"\|\s*\d{1,4}\s+(?P<name>\S.{0,60}?)\s+(?:On|Off|N/A)\s*\|\s*(?P<bus>[0-9a-f:.]{7,20})\s+\S+\s*\|.*", re.ASCII | re.IGNORECASE
)
_SECOND = re.compile(
    r"\|\s*\S+\s+(?P<temperature>\S+)\s+\S+\s+(?P<power>\S+)\s*/\s*\S+\s*\|\s*(?P<used>\S+)\s*/\s*(?P<total>\S+)\s*\|\s*(?P<load>\S+)\s.*",
    re.ASCII,
)


def parse_table(text: str) -> Iterator[Sheet]:
    """The cards of the plain table, as paths of the document. A name that was cut short (`...`) is no name."""
    first: re.Match[str] | None = None
    for line in (line[:LONGEST_LINE] for line in text[:LARGEST].splitlines()):
        line_two = _SECOND.fullmatch(line.strip()) if first is not None else None
        if first is not None and line_two is not None:
            name = {} if first["name"].endswith("...") else {"product_name": first["name"]}
            facts = {path: line_two[group] for group, path in _COLUMNS.items()}
            yield Sheet(read_bus(first["bus"]), {**name, **facts})
        found = _FIRST.fullmatch(line.strip())
        first = found if found is not None and read_bus(found["bus"]) else None


_COLUMNS = {
    "temperature": "temperature/gpu_temp",
    "power": "gpu_power_readings/power_draw",
    "used": "fb_memory_usage/used",
    "total": "fb_memory_usage/total",
    "load": "utilization/gpu_util",
}

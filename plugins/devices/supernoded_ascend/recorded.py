"""Replay formats: what these programs printed, with the command lines or without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from supernoded.plugin import Reading, Source, Topology, name_neighbour
from supernoded_ascend.card_readings import read_chip
from supernoded_ascend.devices import Naming
from supernoded_ascend.fitting import BOARD, GAUGES, HEALTH, list_groups
from supernoded_ascend.hccl_log import Told, take_in
from supernoded_ascend.log_sensor import list_told
from supernoded_ascend.making import find_device, is_number, select_device, split_rows
from supernoded_ascend.npu_table import parse_table

_COMMAND = re.compile(r"\s*(?:[#$]\s*)?(?:\S{0,200}/)?(?P<tool>hccn_tool|npu-smi)\s+(?P<words>[^|]{1,300})(?:\|.*)?", re.ASCII)
_OTHER = re.compile(r"(?:/\S+|lspci|cat|pip|ls|dmesg|for|lscpu|uname)(?:\s|$)", re.ASCII)  # begins somebody else's output

# How an answer without its command line is told: a word that only it has.
_SIGNS = {
    "-link": "link status",
    "-stat": "packet statistics",
    "-link_stat": "link change records",
    "-optical": "optical info",
    "-net_health": "net health status",
    "-fec": "fec mode",
    "-lldp": "ifname",
    "-speed": "speed",
}

_SINGLE = tuple(
    (name, question)
    for name, questions in (("ascend.cards", GAUGES), ("ascend.health", HEALTH), ("ascend.boards", BOARD))
    for question in questions
)
# By a row that only it has.
_ROWS = {
    "power": "power dissipation(w)",
    "temp": "npu temperature (c)",
    "usages": "aicore usage rate(%)",
    "health": "health status",
    "ecc": "hbm single bit error count",
    "board": "pcie bus info",
}


class Section(msgspec.Struct):
    """A command line and what it printed."""

    tool: str
    words: list[str]
    lines: list[str]

    @property
    def text(self) -> str:
        """Its output."""
        return "\n".join(self.lines)

    def option(self, name: str) -> int | None:
        """The number after an option."""
        place = self.words.index(name) + 1 if name in self.words else len(self.words)
        word = self.words[place] if place < len(self.words) else ""
        return int(word) if is_number(word) else None


def list_sections(text: str) -> list[Section]:
    """Cut at command lines; what stands before the first one, or after somebody else's, is a section of no tool."""
    sections = [Section("", [], [])]
    for line in text.splitlines():
        found = _COMMAND.match(line) if len(line) < 1000 else None
        if found is not None:
            sections.append(Section(found["tool"], found["words"].split(), []))
        elif _OTHER.match(line):
            sections.append(Section("other", [], []))
        else:
            sections[-1].lines.append(line)
    return sections


def read_hccn_tool(source: Source) -> Iterator[Reading]:
    """The readings of every answer, all at `source.at`, with the names of the sensors that would have asked."""
    groups = list_groups(name_neighbour(Topology.empty(source.node), {}))
    known = {question.words[0]: (name, question) for name, questions in groups.items() for question in questions}
    for section in list_sections(source.data.decode(errors="replace")):
        for word in _find_kinds(section):
            name, question = known[word]
            told = section.option("-i")
            device = told if told is not None else find_device(section.text) or 0
            subject = f"{source.node}/card{device}/port{section.option('-port') or 0}"
            for reading in question.parse(select_device(section.text, device), source.at, subject):
                yield msgspec.structs.replace(reading, source=name)


def _find_kinds(section: Section) -> list[str]:
    if section.tool == "hccn_tool":
        return [word for word in _SIGNS if word in section.words and "-g" in section.words]
    rows = split_rows(select_device(section.text, find_device(section.text) or 0).splitlines()) if not section.tool else {}
    names = {name.rpartition("]")[2].strip() for name in rows}
    return [word for word, sign in _SIGNS.items() if sign in names]


def read_npu_smi(source: Source) -> Iterator[Reading]:
    """Tables and answers of single cards, all at `source.at`. Where a table shows several chips of one NPU, each is a card."""
    sections = [one for one in list_sections(source.data.decode(errors="replace")) if one.tool in {"", "npu-smi"}]
    tables = [parse_table(section.text).chips for section in sections]
    naming = Naming(source.node, (), 1 + max((chip.chip for chips in tables for chip in chips), default=0))
    for section, chips in zip(sections, tables, strict=True):
        for chip in chips:
            readings = read_chip(chip, source.at, naming.chip(chip.npu, chip.chip, chip.physical))
            yield from (msgspec.structs.replace(reading, source="ascend.cards") for reading in readings)
        yield from _read_single(section, naming, source.at)


def _read_single(section: Section, naming: Naming, at: float) -> Iterator[Reading]:
    """An answer of one card, by what was asked; without a command line by a row that only it has."""
    rows = split_rows(section.lines)
    npu, chip = (_find_number(section, rows, option, row) for option, row in (("-i", "npu id"), ("-c", "chip id")))
    for name, question in _SINGLE:
        word = question.words[-1]
        if word in section.words if section.words else _ROWS[word] in rows:
            readings = question.parse(section.text, at, naming.chip(npu, chip, None))
            yield from (msgspec.structs.replace(reading, source=name) for reading in readings)


def _find_number(section: Section, rows: Mapping[str, str], option: str, row: str) -> int:
    told, text = section.option(option), rows.get(row, "")
    return told if told is not None else int(text) if is_number(text) else 0


def read_hccl_log(source: Source) -> Iterator[Reading]:
    """What a whole log tells, at `source.at`. Rings are those that it names."""
    told = take_in(Told(), source.data.decode(errors="replace").splitlines())
    for reading in list_told(told, source.at, source.node, "", {ring for ring, _ in told.modes}):
        yield msgspec.structs.replace(reading, source="ascend.log")

"""`ethtool --show-fec`, as text and as JSON: the code in use, and with `-I` what it corrected. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Reading, make_reading
from supernoded_fabric.counters import Counter, read_counter
from supernoded_fabric.documents import Member, list_members
from supernoded_fabric.making import explain, list_lines

NONE = frozenset({"off", "none"})
COUNTS: Mapping[str, Counter] = {
    "corrected_bits": Counter("link.fec.corrected"),
    "uncorrectable_blocks": Counter("link.fec.uncorrected"),
    "corrected_blocks": Counter("x.ethernet.fec_corrected_blocks"),
}
_ACTIVE = re.compile(r"\s*Active FEC encodings?\s*:\s*(?P<words>.*)", re.IGNORECASE)
_COUNT = re.compile(r"\s*(?P<name>corrected_bits|corrected_blocks|uncorrectable_blocks)\s*:\s*(?P<value>\S{1,30})\s*", re.ASCII)
_LANE = re.compile(r"\s*Lane (?P<lane>\d{1,2})\s*:\s*(?P<value>\S{1,30})\s*", re.ASCII)


def parse_fec(text: str, at: float, subject: str) -> list[Reading]:
    """The readings of one answer; none when it is about something else."""
    members = list_members(text)
    return list(_read_members(members, at, subject) if members else _read_lines(list_lines(text), at, subject))


def _read_lines(lines: Sequence[str], at: float, subject: str) -> Iterator[Reading]:
    counting: Counter | None = None
    for line in lines:
        active, count, lane = _ACTIVE.fullmatch(line), _COUNT.fullmatch(line), _LANE.fullmatch(line)
        if active is not None:
            yield _name_code(active["words"].split(), at, subject)
        elif count is not None:
            counting = COUNTS[count["name"]]
            yield read_counter(subject, counting, count["value"], at)
        elif lane is not None and counting is not None:
            yield read_counter(f"{subject}/lane{int(lane['lane'])}", counting, lane["value"], at)


def _read_members(members: Sequence[Member], at: float, subject: str) -> Iterator[Reading]:
    for name, value in members:
        words = [value] if isinstance(value, str) else value
        if name == "active":
            yield _name_code([word for word in words if isinstance(word, str)] if isinstance(words, list) else [], at, subject)
        counter = COUNTS.get(name.removeprefix("statistics_").removesuffix("_total").removesuffix("_lanes"))
        if counter is None or not name.startswith("statistics_"):
            continue
        if name.endswith("_lanes") and isinstance(value, list):
            yield from (read_counter(f"{subject}/lane{lane}", counter, f"{count}", at) for lane, count in enumerate(value[:64]))
        elif name.endswith("_total"):
            yield read_counter(subject, counter, f"{value}", at)


def _name_code(words: Sequence[str], at: float, subject: str) -> Reading:
    """`rs`, `baser`, `llrs`; `none` where no code is in use."""
    code = " ".join(words).lower()[:100]
    value = ("none" if code in NONE else code) or None
    return make_reading(subject, "link.fec", value, "text", at, "" if value else explain("", "code in use"))

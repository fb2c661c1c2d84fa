"""Answers of one line: is the link up, how fast, which code, what the card's own probe says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from supernoded.plugin import Reading, make_reading, quote
from supernoded_ascend.making import NOTHING, list_lines, read_number, split_rows

_MODE = re.compile(r"(?P<code>[a-z0-9][a-z0-9_-]{0,30})\s+fec(?:\s+mode)?", re.ASCII)

# What the probe of a peer says: `link.probe`. A socket that cannot be opened or a thread that died is the probe's trouble, not the link's.
_PROBES = (
    ("success", "success"),
    ("socket fail", "failed"),
    ("thread error", "failed"),
    ("receive timeout", "time-out"),
    ("unreachable", "unreachable"),
    ("time exceeded", "unreachable"),  # ICMP: the packet went astray
    ("fault", "fault"),
    ("init", "starting"),
    ("detect ip set", "starting"),  # the peer was named a moment ago and is not yet asked
)


def parse_link(text: str, at: float, subject: str) -> list[Reading]:
    """`-link`: `link status: UP`."""
    word, note = _read_word(list_lines(text), "link status")
    state = {"up": 1.0, "down": 0.0}.get(word)
    return [make_reading(subject, "link.state", state, "1", at, note or _doubt(word, state))]


def parse_speed(text: str, at: float, subject: str) -> list[Reading]:
    """`-speed`: `Speed: 200000 Mb/s`."""
    megabits, note = read_number(split_rows(list_lines(text)).get("speed"), "Mb/s")
    speed = megabits / 1000.0 if megabits is not None and megabits > 0 else None
    return [
        make_reading(subject, "link.speed", speed, "Gb/s", at, note or ("" if speed else f"a speed of {megabits:g}: the link has none now"))
    ]


def parse_fec(text: str, at: float, subject: str) -> list[Reading]:
    """`-fec`: `fec mode: rs FEC mode`; `no FEC mode` is a code too, `none`."""
    word, note = _read_word(list_lines(text), "fec mode")
    found = _MODE.fullmatch(word)
    code = {"no": "none"}.get(found["code"], f"{found['code']}-fec") if found else None
    return [make_reading(subject, "link.fec", code, "text", at, note or _doubt(word, code))]


def parse_probe(text: str, at: float, subject: str) -> list[Reading]:
    """`-net_health`: what came of the card's own probe of its peer."""
    word, note = _read_word(list_lines(text), "net health status")
    probe = next((meant for begin, meant in _PROBES if word.startswith(begin)), None) if word else None
    told = f"the tool says {quote(word)}" if probe not in {None, "success"} else ""
    return [make_reading(subject, "link.probe", probe, "text", at, note or told or _doubt(word, probe))]


def _read_word(lines: Iterable[str], name: str) -> tuple[str, str]:
    word = " ".join(split_rows(lines).get(name, "").lower().split())
    return word, "" if word else NOTHING


def _doubt(word: str, value: object) -> str:
    return f"not understood: {quote(word)}" if value is None else ""

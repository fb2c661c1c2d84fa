"""What a health code asks for: tables of level -> codes, ours and the site's."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from supernoded.plugin import PluginError

LARGEST = 2**20  # bytes of a table; the largest that is published has ten thousand
LOST, UNKNOWN, IGNORE = "lost", "unknown", "ignore"

# From harmless to worst, and what each asks people to do. `unknown` may be anything: worse than what a restart cures, better than the rest.
LEVELS: Mapping[str, str] = {
    IGNORE: "nothing is to be done",
    "sub-health": "let it work, and look at it at the next maintenance",
    "restart-request": "if the work fails, send the request again",
    "restart": "restart the job that ran on it",
    "reset-when-free": "reset it as soon as no job is on it",
    UNKNOWN: "look the code up with the vendor, and add it to the site's fault_codes",
    "reset": "move the job away and reset it",
    "reboot": "move the jobs of the node away and reboot it",
    "pre-separate": "give it no new job, and replace it when this one ends",
    "separate": "move the job away, take it out of service and replace it",
    LOST: "see that it sits in its slot and has power, reboot the node, and replace it if it stays away",
}
RANKS = {level: rank for rank, level in enumerate(LEVELS)}

SUMMARIES = frozenset({"ok", "warning", "alarm", "critical"})  # they sum up what codes say in detail

# As a published table names the levels.
_PUBLISHED = {
    "nothandlefaultcodes": IGNORE,
    "subhealthfaultcodes": "sub-health",
    "restartrequestcodes": "restart-request",
    "restartbusinesscodes": "restart",
    "freerestartnpucodes": "reset-when-free",
    "restartnpucodes": "reset",
    "preseparatenpucodes": "pre-separate",
    "separatenpucodes": "separate",
    "manuallyseparatenpucodes": "separate",
}


class Table(msgspec.Struct, frozen=True):
    """Code -> level, and what is normal on which chip."""

    levels: Mapping[str, str]
    chips: Mapping[str, tuple[str, ...]] = {}
    memory: tuple[str, ...] = ()  # shell patterns of codes that are about memory: what counts its errors sees the same

    def is_of_memory(self, code: str) -> bool:
        """Whether a code is about the card's memory."""
        word = normalise(code)
        return any(fnmatchcase(word, normalise(pattern)) for pattern in self.memory)

    def level(self, code: str, chip: str = "") -> str:
        """What a code asks for on a chip."""
        word, chip = normalise(code), chip.casefold()
        is_normal = any(fnmatchcase(chip, pattern.casefold()) and word in map(normalise, words) for pattern, words in self.chips.items())
        return IGNORE if chip and is_normal else self.levels.get(word, UNKNOWN)

    def judge(self, flags: Iterable[str], chip: str = "") -> Mapping[str, str]:
        """Each flag that is a fault, and its level, the worst first. A word that sums up counts only where no code says what it means."""
        codes = [flag for flag in flags if normalise(flag) not in SUMMARIES]
        levels = {code: self.level(code, chip) for code in codes or flags}
        faults = [code for code, level in levels.items() if level != IGNORE]
        return {code: levels[code] for code in sorted(faults, key=lambda code: (-RANKS[levels[code]], code))}


class _File(msgspec.Struct, frozen=True):
    levels: dict[str, list[str]]
    chips: dict[str, tuple[str, ...]]
    views: dict[str, tuple[str, ...]]


def normalise(code: str) -> str:
    """One spelling of a code."""
    return code.strip().casefold().removeprefix("0x")


def build_table(path: str = "", chips: Mapping[str, tuple[str, ...]] | None = None) -> Table:
    """Our table, with the site's file and settings over it. Raises PluginError that says what is wrong with the file."""
    ours = msgspec.toml.decode((importlib.resources.files(__package__) / "codes.toml").read_bytes(), type=_File)
    site = read_levels(path) if path else {}
    return Table({**_turn(ours.levels, "our table"), **site}, {**ours.chips, **(chips or {})}, ours.views.get("memory", ()))


def read_levels(path: str) -> Mapping[str, str]:
    """The site's own table. Raises PluginError."""
    name = f"fault_codes: {path}"
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        raise PluginError(f"{name}: cannot be read: {error}") from error
    if len(data) > LARGEST:
        raise PluginError(f"{name}: larger than {LARGEST} bytes, which is no table of codes")
    try:
        decode = msgspec.toml.decode if path.endswith(".toml") else msgspec.json.decode
        levels = decode(data, type=dict[str, list[str]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PluginError(f'{name}: {error}; write {{"level": ["code", ...]}}') from error
    return _turn(levels, name)


def _turn(levels: Mapping[str, Iterable[str]], name: str) -> Mapping[str, str]:
    """Code -> level; a code of several levels is of the worst."""
    found: dict[str, str] = {}
    for key, codes in levels.items():
        level = _PUBLISHED.get(key.casefold(), key.casefold())
        if level not in RANKS:
            raise PluginError(f"{name}: {key!r} is no level; use one of {', '.join(LEVELS)}")
        for code in map(normalise, codes):
            found[code] = max(found.get(code, level), level, key=RANKS.__getitem__)
    return found

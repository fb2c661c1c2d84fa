"""What a UPS's flags mean, as data: every combination meets exactly one row (safety rule 13).

Flags are NUT's words in small letters. A row is met when all of `every`, at least one of `some` (where there are any) and none of `no`
are there. Two rows are not met by their flags: `SILENT` by no data at all, `STRANGER` by a word that stands in no row.
"""

from __future__ import annotations

from enum import Enum

import msgspec


class Source(Enum):
    """What feeds the load, by the word of the UPS."""

    MAINS = "mains"
    BATTERY = "battery"
    BYPASS = "bypass"
    OFF = "off"
    UNKNOWN = "unknown"
    CONFLICT = "conflict"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One meaning, and what follows from it."""

    name: str
    means: str  # a part of a sentence
    source: Source
    every: frozenset[str]
    some: frozenset[str]
    no: frozenset[str]
    rides: bool  # its battery carries the load through a break
    sheds: bool  # it does not forbid a shed
    saves: bool  # a checkpoint now
    oftener: bool  # checkpoints oftener: it may not carry the load through a break
    second: bool  # another source must say so before anything is stopped
    settles: bool  # it counts only when it lasts (nut#2347)
    on_purpose: str  # `test` or `cal`: what looks like an outage is none, for as long as such a thing may last; else empty


KNOWN = frozenset(
    {"ol", "ob", "lb", "rb", "chrg", "dischrg", "bypass", "cal", "test", "off", "fsd", "over", "trim", "boost", "alarm", "eco"}
)

_PLAIN = "ob bypass off fsd eco cal test"  # what a UPS in its usual work on line does not say
_WELL = f"{_PLAIN} rb lb over"
_ON_BATTERY = "ol bypass off fsd"


def _row(name: str, means: str, source: Source, flags: str = "", no: str = "", some: str = "", follows: str = "") -> Row:
    """`follows` has the names of what follows, and `test` or `cal`; neither a battery that rides nor leave to shed without its word."""
    words = frozenset(follows.split())
    return Row(
        name=name,
        means=means,
        source=source,
        every=frozenset(flags.split()),
        some=frozenset(some.split()),
        no=frozenset(no.split()),
        rides="rides" in words,
        sheds="sheds" in words,
        saves="saves" in words,
        oftener="oftener" in words,
        second="second" in words,
        settles="settles" in words,
        on_purpose=next(iter(words & {"test", "cal"}), ""),
    )


SILENT = _row("silent", "nothing is heard of it", Source.UNKNOWN, follows="oftener second")
STRANGER = _row("stranger", "it says a word that nobody knows", Source.CONFLICT, follows="saves second")

ROWS = (
    # It contradicts itself: that may start a checkpoint, never a shed.
    _row("line-conflict", "on line and on battery at once", Source.CONFLICT, "ol ob", follows="saves second"),
    _row("bypass-conflict", "on battery and on bypass at once", Source.CONFLICT, "ob bypass", "ol off", follows="saves second"),
    _row("discharging", "on line, and discharging", Source.CONFLICT, "ol dischrg", _WELL, follows="saves second"),
    _row("trim-conflict", "trimming and boosting at once", Source.CONFLICT, "ol trim boost", f"{_WELL} dischrg", follows="saves second"),
    _row("forced", "shutting down, and silent on what feeds it", Source.CONFLICT, "fsd", "ol ob bypass off", follows="saves second"),
    # The load does not hang on its inverter.
    _row("off", "its output is off", Source.OFF, "off", "ol", follows="oftener second"),
    _row("off-on-line", "its output is off while its input is there", Source.OFF, "off ol", "ob", follows="oftener second"),
    _row("bypass", "on bypass, the load is on raw mains", Source.BYPASS, "bypass", "ob off", follows="oftener"),
    # It does not say what feeds the load.
    _row("nothing", "it does not say what feeds it", Source.UNKNOWN, "", "ol ob bypass off fsd", follows="oftener second"),
    # On battery.
    _row("battery-forced", "on battery and shutting down", Source.BATTERY, "ob fsd", "ol bypass off", follows="rides sheds saves"),
    _row("battery-calibrating", "on battery for a calibration", Source.BATTERY, "ob cal", _ON_BATTERY, follows="cal oftener"),
    _row("battery-test", "on battery for a self-test", Source.BATTERY, "ob test", f"{_ON_BATTERY} cal", follows="test rides"),
    _row("battery-low", "on a low or bad battery", Source.BATTERY, "ob", f"{_ON_BATTERY} cal test", "lb rb", "rides sheds saves"),
    _row("battery", "on battery", Source.BATTERY, "ob", f"{_ON_BATTERY} cal test lb rb", follows="rides sheds saves"),
    # On line.
    _row("forced-on-line", "on line and shutting down", Source.MAINS, "ol fsd", "ob bypass off", "", "rides oftener second settles"),
    _row("eco", "on line, in its economy mode", Source.MAINS, "ol eco", "ob bypass off fsd", follows="oftener"),
    _row("calibrating", "on line, calibrating", Source.MAINS, "ol cal", "ob bypass off fsd eco", follows="cal oftener"),
    _row("test", "on line, testing itself", Source.MAINS, "ol test", "ob bypass off fsd eco cal", follows="test rides"),
    _row("battery-bad", "on line, with a bad battery", Source.MAINS, "ol rb", _PLAIN, follows="sheds oftener settles"),
    _row("mains-low", "on line, with a low battery", Source.MAINS, "ol lb", f"{_PLAIN} rb", follows="sheds oftener settles"),
    _row("overloaded", "on line and overloaded", Source.MAINS, "ol over", f"{_PLAIN} rb lb", follows="rides sheds oftener settles"),
    _row("boosting", "on line, boosting a low input", Source.MAINS, "ol boost", f"{_WELL} dischrg trim", follows="rides sheds"),
    _row("trimming", "on line, trimming a high input", Source.MAINS, "ol trim", f"{_WELL} dischrg boost", follows="rides sheds"),
    _row("alarm", "on line, with an alarm", Source.MAINS, "ol alarm", f"{_WELL} dischrg trim boost", follows="rides sheds"),
    _row("recharging", "on line, recharging", Source.MAINS, "ol chrg", f"{_WELL} dischrg trim boost alarm", follows="rides sheds"),
    _row("on-line", "on line", Source.MAINS, "ol", f"{_WELL} dischrg trim boost alarm chrg", follows="rides sheds"),
)

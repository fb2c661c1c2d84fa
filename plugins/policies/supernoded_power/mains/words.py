"""What is known of one feed, and what has to be remembered of it."""

from __future__ import annotations

from enum import Enum

import msgspec

from supernoded_power.status import Row, Source


class Mains(Enum):
    """What a feed lives on, by all views together."""

    PRESENT = "present"
    SAGGED = "sagged"  # too low, and not on battery (yet)
    BATTERY = "battery"
    LOST = "lost"  # nothing comes out of it
    UNKNOWN = "unknown"
    CONFLICT = "conflict"


_SAID = {
    Mains.PRESENT: "has mains",
    Mains.SAGGED: "has sagged",
    Mains.BATTERY: "is on battery",
    Mains.LOST: "is dead",
    Mains.UNKNOWN: "cannot be told",
    Mains.CONFLICT: "contradicts itself",
}
AWAY = frozenset({Mains.SAGGED, Mains.BATTERY, Mains.LOST})


class Track(msgspec.Struct, frozen=True):
    """What is remembered of one feed, over restarts too. Times are seconds on the scale of `Clock.now`; 0 = not."""

    row: str = ""
    row_since: float = 0.0
    purpose_since: float = 0.0  # a test or calibration
    odd_since: float = 0.0  # two views contradict each other
    silent_since: float = 0.0
    was_on_battery: bool = False  # when it was last heard
    away_since: float = 0.0
    input_back_since: float = 0.0  # since when its input is good while its UPS is still away: that waits before it goes back
    back_since: float = 0.0
    generator_since: float = 0.0


class Feed(msgspec.Struct, frozen=True, kw_only=True):
    """One feed now."""

    name: str
    mains: Mains
    row: Row | None  # of its UPS; None for a feed without one
    settled: bool  # the row has lasted long enough to count
    views: tuple[str, ...]  # parts of sentences: what each view says
    conflict: str = ""  # what contradicts what
    silent: bool = False  # nothing is heard of the UPS
    silent_s: float = 0.0  # for so long
    dark: bool = False  # nor of the PDUs behind it, which have been heard
    was_on_battery: bool = False
    away_s: float = 0.0
    stable_s: float = 0.0  # since when it is present without a break
    generator: bool = False  # what is present is taken for a generator

    @property
    def subject(self) -> str:
        """`feed/A`."""
        return f"feed/{self.name}"

    @property
    def ups(self) -> str:
        """`ups/A`."""
        return f"ups/{self.name}"

    @property
    def text(self) -> str:
        """What is seen, as a part of a sentence."""
        said = _SAID[self.mains]
        views = self.views or ("nothing is read of it",)
        return f"{self.subject} {said} ({'; '.join(view for view in views if view not in said) or views[0]})"

    @property
    def is_away(self) -> bool:
        """Whether it is away, or was when it was last known."""
        return self.mains in AWAY or (self.mains is Mains.UNKNOWN and self.away_s > 0.0)

    @property
    def is_there(self) -> bool:
        """Whether it has mains: a UPS that is on battery for a test has them by its own word alone."""
        return self.mains is Mains.PRESENT and (self.row is None or self.row.source is not Source.BATTERY)

    @property
    def is_silent_after_battery(self) -> bool:
        """Nothing is heard since it was on battery (safety rule 10)."""
        return self.silent and self.was_on_battery

    @property
    def sheds(self) -> bool:
        """Whether it asks for a shed, and nothing of its UPS forbids one (safety rules 5 and 13)."""
        return self.mains in {Mains.SAGGED, Mains.BATTERY} and (self.row is None or self.row.sheds or bool(self.row.on_purpose))

"""What can be wrong with a line, as one frozen table: put another one in to inject or lift."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

Stuck = Literal["", "held", "babble"]


def _bounded(low: float, high: float, unit: str) -> Any:
    return field(default=0.0, metadata={"low": low, "high": high, "unit": unit})


@dataclass(frozen=True)
class LineFaults:
    """The faults of a line; the defaults are none. A field's metadata has `low`, `high` and `unit`. Raises ValueError outside of them."""

    echo: bool = False  # a master hears what it says itself
    drop_bytes: float = _bounded(0.0, 1.0, "share")  # of all bytes, lost on the wire
    drop_frames: float = _bounded(0.0, 1.0, "share")  # of all answers, never said
    flip: float = _bounded(0.0, 1.0, "share")  # of all bytes, with one bit flipped
    split_s: float = _bounded(0.0, 5.0, "s")  # an answer comes in two pieces with this gap
    duplicate: float = _bounded(0.0, 1.0, "share")  # of all answers, said twice
    late_s: float = _bounded(0.0, 60.0, "s")  # an answer comes so much later, whole and correct ...
    late_share: float = field(default=1.0, metadata={"low": 0.0, "high": 1.0, "unit": "share"})  # ... in this share of all
    usb_ms: float = _bounded(0.0, 255.0, "ms")  # latency timer of the master's adapter; 16 in FTDI's as delivered
    no_crc: float = _bounded(0.0, 1.0, "share")  # of all exception answers, said without CRC
    silent: frozenset[int] = frozenset()  # units that answer nothing
    wrong_unit: frozenset[int] = frozenset()  # units that answer under the next id
    twins: frozenset[int] = frozenset()  # ids that two units have
    stuck: Stuck = ""  # a driver that does not let go: the line is held and nothing passes, or it babbles without end

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if "low" in one.metadata and not one.metadata["low"] <= value <= one.metadata["high"]:
                raise ValueError(f"{one.name} = {value}: {one.metadata['low']:g} to {one.metadata['high']:g} {one.metadata['unit']}")
        if self.stuck not in ("", "held", "babble"):
            raise ValueError(f"stuck = {self.stuck!r}: held, babble, or '' for none")
        for name in ("silent", "wrong_unit", "twins"):
            if strange := [unit for unit in getattr(self, name) if not 1 <= unit <= 247]:
                raise ValueError(f"{name} has unit {strange[0]}: units are 1 to 247")

"""How fast a serial line is: Modbus over Serial Line V1.02, §2.5.1.1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

_FAST = 19200  # baud above which both silences are fixed
_FAST_T15, _FAST_T35 = 750e-6, 1750e-6  # s


@dataclass(frozen=True)
class Pace:
    """Speed and format of a line. Raises ValueError for a speed outside 300 to 4,000,000 baud."""

    baud: int = 19200
    parity: Literal["N", "E", "O"] = "N"
    stop_bits: Literal[1, 2] = 1

    def __post_init__(self) -> None:
        if not 300 <= self.baud <= 4_000_000:
            raise ValueError(f"{self.baud} baud: a line has 300 to 4000000 baud, such as 19200")

    @property
    def text(self) -> str:
        """The format as people write it, such as 8E1."""
        return f"8{self.parity}{self.stop_bits}"

    @cached_property
    def character_s(self) -> float:
        """Seconds of one character: a start bit, eight data bits, perhaps a parity bit, and the stop bits."""
        return (9 + (self.parity != "N") + self.stop_bits) / self.baud

    @cached_property
    def t15(self) -> float:
        """The longest silence inside a frame, s."""
        return _FAST_T15 if self.baud > _FAST else 1.5 * self.character_s

    @cached_property
    def t35(self) -> float:
        """The silence that ends a frame, s."""
        return _FAST_T35 if self.baud > _FAST else 3.5 * self.character_s

    def time_of(self, count: int) -> float:
        """Seconds that so many characters take, without a pause."""
        return count * self.character_s

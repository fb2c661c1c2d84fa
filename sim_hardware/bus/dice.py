"""Chance for things that live on a loop: a generator that remembers where it is."""

from __future__ import annotations

from sim_hardware.plant.chance import draw, start_chance


class Dice:
    """Draws by seed and name; one share of 0 costs nothing and moves nothing."""

    def __init__(self, seed: int, name: str) -> None:
        self._chance = start_chance(seed, name)

    def throw(self) -> float:
        """A number in [0, 1)."""
        self._chance, number = draw(self._chance)
        return number

    def hits(self, share: float) -> bool:
        """True in this share of all calls."""
        return share > 0.0 and self.throw() < share

    def below(self, count: int) -> int:
        """One of 0 .. count - 1."""
        return int(self.throw() * count)

    def garble(self, data: bytes, first: int = 0) -> bytes:
        """The data with one byte changed, at `first` or behind it."""
        if len(data) <= first:
            return data
        place = first + self.below(len(data) - first)
        return data[:place] + bytes((data[place] ^ (1 + self.below(255)),)) + data[place + 1 :]

"""Answers with a changed byte."""

from __future__ import annotations

from sim_hardware.plant.chance import Chance, draw, start_chance


class Garbling:
    """Changes one byte of a share of the answers, by chance."""

    def __init__(self, seed: int, name: str) -> None:
        self._chance: Chance = start_chance(seed, f"{name}/garbled")

    def _draw(self, below: int) -> int:
        self._chance, number = draw(self._chance)
        return int(number * below)

    def garble(self, answer: bytes, share: float) -> bytes:
        """The answer, in `share` of the cases with one byte changed."""
        if not answer or share <= 0.0 or self._draw(1_000_000) >= share * 1e6:
            return answer
        place = self._draw(len(answer))
        return answer[:place] + bytes([answer[place] ^ (1 + self._draw(255))]) + answer[place + 1 :]

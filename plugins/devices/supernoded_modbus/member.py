"""What is known of one unit as a member of its line: whether it answers, and what went wrong."""

from __future__ import annotations

from collections import Counter

from supernoded_modbus.maps import RegisterMap

DORMANT_AFTER = 10  # failures in a row (rackmon)
GONE_AFTER = 3  # failures in a row after which another device may have taken its place; ours
DEAD_SHARE = 0.1  # of a line's time, at most, for units that do not answer (safety rule 25)
REFUSED = "refused"


class Member:
    """A unit's health. `life` grows when it comes back: then it is looked at anew, and what it refused is asked for again."""

    def __init__(self, number: int, subject: str, register_map: RegisterMap) -> None:
        self.number, self.subject = number, subject
        self.answer_s, self.latest_s = register_map.answer_s, register_map.latest_s
        self.counts: Counter[str] = Counter()
        self.failures = 0
        self.life = 0
        self.refusal = ""  # why it is not the device it should be; empty = it is, as far as is known
        self.probe_at = 0.0  # when a dormant one may be asked again

    @property
    def dormant(self) -> bool:
        """Whether it is left alone but for a probe now and then."""
        return self.failures >= DORMANT_AFTER

    @property
    def state(self) -> str:
        """As `line.state` has it."""
        if self.dormant:
            return "dormant"
        return "lost" if self.failures >= GONE_AFTER else REFUSED if self.refusal else "ok"

    def answered(self) -> None:
        """It has answered, if only to refuse."""
        if self.failures >= GONE_AFTER:
            self.come_back()
        self.failures = 0

    def come_back(self) -> None:
        """From now on it may be another device."""
        self.life += 1
        self.refusal = ""

    def failed(self, now: float, cost: float, dead: int) -> None:
        """It has not answered, which took `cost` seconds of a line with so many dead units."""
        self.failures += 1
        self.probe_at = now + cost * max(dead, 1) / DEAD_SHARE

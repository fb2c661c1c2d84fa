"""The pumps of a loop, as they are told. Pure."""

from __future__ import annotations

import msgspec

from supernoded.plugin import View, find_most
from supernoded_thermal.coolant.seeing import PUMP_COMMAND, PUMP_STATE, RPM, SPEED
from supernoded_thermal.coolant.site import Loop

WATCHES = dict.fromkeys((SPEED, RPM, PUMP_STATE, PUMP_COMMAND), 60.0)
TURNS, TURNS_RPM = 5.0, 60.0  # % and rpm, above which a pump turns (ours)
CALLED = 15.0  # % of speed: a command of less is none; controllers start pumps at 20 or more (ours)
BROKEN = frozenset({"tripped", "resetting"})


class Pump(msgspec.Struct, frozen=True):
    """One pump now; None = not told."""

    subject: str
    speed: float | None
    rpm: float | None
    state: str | None
    command: float | None

    @property
    def turns(self) -> bool:
        """Whether any of its sensors says that it turns."""
        return (self.rpm or 0.0) > TURNS_RPM or (self.speed or 0.0) > TURNS

    @property
    def stands(self) -> bool:
        """Whether it is told that it does not turn, and nothing says that it does."""
        return not self.turns and (self.speed is not None or self.rpm is not None)

    @property
    def fault(self) -> str:
        """What is wrong with it, as a part of a sentence; empty when nothing is told to be."""
        if self.state in BROKEN:
            return f"{self.subject} has tripped"
        if self.stands and self.state in {"running", "starting"}:
            return f"{self.subject} says {self.state!r} and does not turn ({self._say_speed()}): its run signal is missing"
        if self.stands and self.state is None and (self.command or 0.0) >= CALLED:
            return f"{self.subject} is told to run at {self.command:.0f} % and does not turn ({self._say_speed()})"
        return ""

    def _say_speed(self) -> str:
        return f"{self.rpm:.0f} rpm" if self.rpm is not None else f"{self.speed or 0.0:.0f} %"


def list_pumps(seen: View, loop: Loop) -> list[Pump]:
    """Every pump of a loop of which anything was ever read."""
    subjects = {subject for quantity in WATCHES for subject in seen.subjects(quantity) if loop.is_pump(subject)}
    return [
        Pump(
            subject,
            find_most(seen, SPEED, subject),
            find_most(seen, RPM, subject),
            seen.text(PUMP_STATE, subject),
            find_most(seen, PUMP_COMMAND, subject),
        )
        for subject in sorted(subjects)
    ]

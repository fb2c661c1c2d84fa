"""A daemon with one unit of a few lines, for what the commissioning asks of it; faults on order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from supernoded.errors import AdminError
from supernoded.messages import CoolingUnit, LoopRow, Thermal

RETURN, PRIMARY, FLOW = 40.0, 12.0, 800.0
LAG = 4.0  # s


@dataclass
class Plant:
    """Supply follows the valve with a lag; control falls back by itself after `watchdog` seconds without a word."""

    watchdog: float | None = 12.0
    dew_margin: float | None = 8.0
    fallback: float = 20.0
    now: float = 1000.0
    valve: float = 50.0
    supply: float = 26.0
    control: str = "direct"
    spoken: float = 1000.0
    hand: tuple[float | None, float, str] | None = None  # value, until, by
    holds: list[tuple[float, float | None]] = field(default_factory=list)
    releases: int = 0
    unit_changes: dict[str, object] = field(default_factory=dict)
    loop_changes: dict[str, object] = field(default_factory=dict)
    faults: list[tuple[float, Callable[[Plant], None]]] = field(default_factory=list)  # seconds from the start, what happens then
    deaf: bool = False  # it does not fall back
    gone: bool = False  # nobody answers
    after_release: dict[str, object] = field(default_factory=dict)
    best: float = 100.0  # % that its loop lets the valve open

    def sleep(self, seconds: float) -> None:
        """One second at a time, so that everything takes its course."""
        self.now += seconds
        due = [happen for at, happen in self.faults if self.now - 1000.0 >= at]
        self.faults = [(at, happen) for at, happen in self.faults if self.now - 1000.0 < at]
        for happen in due:
            happen(self)
        if self.hand is not None and self.now >= self.hand[1]:
            self.hand = None
        self._turn()
        target = self.fallback if self.control == "auto" else RETURN - (RETURN - PRIMARY) * self.valve / 100.0
        self.supply += (target - self.supply) * min(1.0, seconds / LAG)

    def _turn(self) -> None:
        if self.hand is not None and self.hand[0] is None:
            if self.watchdog is not None and self.now - self.spoken > self.watchdog and not self.deaf:
                self.control = "auto"
            return
        self.spoken, self.control = self.now, "direct"
        self.valve = 50.0 if self.hand is None or self.hand[0] is None else min(self.hand[0], self.best)

    def look(self) -> Thermal:
        """See `thermal_procedure.Access`."""
        unit = CoolingUnit(
            subject="cdu/0",
            name="cdu0",
            authority="direct",
            control=self.control,
            watchdog=self.watchdog,
            supply=round(self.supply, 1),
            supply_colder=round(self.supply, 1),
            setpoint=self.fallback if self.control == "auto" else 22.0,
            return_temperature=RETURN,
            primary=PRIMARY,
            flow=FLOW,
            valve=self.valve,
            leak=False,
            dew_margin=self.dew_margin,
        )
        value, until, by = self.hand or (None, 0.0, "")
        loop = LoopRow(
            name="valve of cdu/0",
            target="cdu/0/valve",
            scope="cdu/0",
            policy="thermal",
            engaged=True,
            put_age=self.now - self.spoken,
            by_hand=self.hand is not None,
            hand_value=value,
            hand_by=by,
            hand_left=until - self.now,
            can_be_held=True,
        )
        return Thermal(
            now=self.now,
            units=(msgspec.structs.replace(unit, **self.unit_changes),),
            loops=(msgspec.structs.replace(loop, **self.loop_changes),),
        )

    def hold(self, target: str, value: float | None, seconds: float) -> None:
        """See `thermal_procedure.Access`."""
        self._ask()
        self.holds.append((self.now, value))
        self.hand = (value, self.now + seconds, "alice")

    def release(self, target: str) -> None:
        """See `thermal_procedure.Access`."""
        self._ask()
        self.releases += 1
        self.hand = None
        self.loop_changes |= self.after_release

    def _ask(self) -> None:
        if self.gone:
            raise AdminError("no daemon can be reached")

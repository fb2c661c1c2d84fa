"""Small views for loops: readings of a CDU and its nodes at one moment."""

from collections.abc import Mapping
from typing import Any

import msgspec

from supernoded.history import History
from supernoded.plugin import Reading, State, View
from supernoded_thermal.control.commissioning import Commissioning, Point
from supernoded_thermal.control.sensing import WATCHES

CDU, NODES, CARDS = "cdu/0", ("n0", "n1"), ("n0/card0", "n0/card1", "n1/card0", "n1/card1")
UNITS = {"coolant.flow": "L/min", "coolant.valve": "%", "coolant.alarm": "flags", "coolant.pressure_difference": "kPa", "card.power": "W"}
STEADY = {
    "coolant.supply_temperature": 22.0,
    "coolant.return_temperature": 26.0,
    "coolant.primary_temperature": 16.0,
    "coolant.flow": 8.0,
    "coolant.valve": 26.0,
    "air.dew_point": 10.0,
}
FRESH = 5.0


class Site:
    """Readings second by second. A value of None is UNKNOWN, and what is left out is not read."""

    def __init__(self, watches: Mapping[str, float] = WATCHES) -> None:
        self.watches = dict(watches)
        self.history = History(self.watches)

    def read(self, at: float, subject: str = CDU, source: str = "modbus", **values: Any) -> "Site":
        """Names with `_` for the first dot, as `coolant__flow`."""
        self.add(at, {name.replace("__", "."): value for name, value in values.items()}, subject, source)
        return self

    def add(self, at: float, values: Mapping[str, Any], subject: str = CDU, source: str = "modbus") -> "Site":
        self.history.add(
            [
                Reading(
                    subject=subject,
                    quantity=quantity,
                    value=value,
                    unit=UNITS.get(quantity, "C"),
                    at=at,
                    state=State.UNKNOWN if value is None else State.GOOD,
                    source=source,
                )
                for quantity, value in values.items()
            ],
            FRESH,
        )
        return self

    def heat(self, at: float, watts: float) -> "Site":
        for card in CARDS:
            self.add(at, {"card.power": watts / len(CARDS)}, card, "npu")
        return self

    def view(self, now: float) -> View:
        return self.history.view(now, self.watches)


def see(now: float = 0.0, watts: float | None = 2229.0, **changes: Any) -> View:
    """A steady loop, with changes; 8 L/min and 4 K are 2229 W."""
    site = Site().add(now, {**STEADY, **{name.replace("__", "."): value for name, value in changes.items()}})
    return (site if watts is None else site.heat(now, watts)).view(now)


def make_data(**changes: Any) -> Commissioning:
    """A linear valve on 2 MW scaled down: effectiveness 0.16 at 10 % to 0.78 at 100 %."""
    curve = ((10.0, 0.16), (20.0, 0.31), (30.0, 0.45), (40.0, 0.56), (60.0, 0.69), (80.0, 0.75), (100.0, 0.78))
    points = tuple(
        Point(valve=valve, supply=16.0 + 4.0 / effect - 4.0, returned=16.0 + 4.0 / effect, primary=16.0, flow=8.0)
        for valve, effect in curve
    )
    return msgspec.structs.replace(Commissioning(cdu=CDU, points=points), **changes)

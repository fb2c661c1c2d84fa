"""The plant as the card of a device sees it: what it has read last stands still when it is stale, and orders may go nowhere."""

from __future__ import annotations

import math

from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.reading import is_dark, read
from sim_hardware.devices.snmp.words import Asn, Kind, Unknown, number, text
from sim_hardware.plant.words import Order, Value
from sim_hardware.rack import Rack


class Front:
    """A panel before the panel, for the card of one thing (`ups/A`, `pdu/A1`)."""

    def __init__(self, panel: Panel, subject: str) -> None:
        self.panel, self.subject, self.impairment = panel, subject, Impairment()
        self._seen: dict[tuple[str, str], Value] = {}

    @property
    def rack(self) -> Rack:
        """What stands where."""
        return self.panel.rack

    def is_dark(self) -> bool:
        """Whether the card has no power."""
        return is_dark(self.panel, self.subject)

    def now(self) -> float:
        """Seconds of the plant's time."""
        return self.panel.now()

    def sense(self, subject: str, quantity: str) -> Value:
        """What the sensor shows, or showed before it went stale. Raises UnknownSensorError."""
        key = (subject, quantity)
        if not self.impairment.stale or key not in self._seen:
            self._seen[key] = self.panel.sense(subject, quantity)
        return self._seen[key]

    def order(self, order: Order) -> None:
        """Pass it on, or drop it. Raises OrderError."""
        if not self.impairment.idle_orders:
            self.panel.order(order)


class Gauges:
    """The sensors of one subject, as numbers and texts for SNMP."""

    def __init__(self, panel: Panel, subject: str, unknown: Unknown = "minus-one") -> None:
        self.panel, self.subject, self.unknown = panel, subject, unknown

    def read(self, quantity: str) -> Value:
        """What the panel shows; None too when it has no such sensor."""
        return read(self.panel, self.subject, quantity)

    def measure(self, quantity: str) -> float | None:
        """A finite number, or None."""
        value = self.read(quantity)
        return value if isinstance(value, float | int) and math.isfinite(value) else None

    def flags(self, quantity: str) -> frozenset[str] | None:
        """Flags, or None."""
        value = self.read(quantity)
        return value if isinstance(value, frozenset) else None

    def show(self, value: float | None, kind: Kind = "integer") -> Asn | None:
        """A number; what is unknown, in the manner of this agent, where the type has room for it."""
        if value is None or not math.isfinite(value):
            unknown = {"minus-one": number(-1, kind), "zero": number(0, kind)}
            return unknown.get(self.unknown)
        return number(round(min(max(value, -1e10), 1e10)), kind)

    def number(self, quantity: str, scale: float = 1.0, kind: Kind = "integer") -> Asn | None:
        """A quantity times `scale`."""
        value = self.measure(quantity)
        return self.show(None if value is None else value * scale, kind)

    def text(self, quantity: str) -> Asn | None:
        """A text; empty when unknown, as in the field."""
        value = self.read(quantity)
        return text(value if isinstance(value, str) else "")

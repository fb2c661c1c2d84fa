"""A panel whose values are set by hand, for tests of one device."""

from __future__ import annotations

from dataclasses import dataclass, field

from sim_hardware.plant.words import Order, UnknownSensorError, Value
from sim_hardware.rack import Rack, generate_rack


@dataclass
class FakePanel:
    """See `sim_hardware.devices.panel.Panel`. What is not in `values` is unknown; orders are kept."""

    rack: Rack = field(default_factory=lambda: generate_rack(1, 8))
    values: dict[tuple[str, str], Value] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    time: float = 0.0

    def now(self) -> float:
        return self.time

    def sense(self, subject: str, quantity: str) -> Value:
        if (subject, quantity) not in self.values:
            raise UnknownSensorError(f"{subject} has no sensor of {quantity}")
        return self.values[subject, quantity]

    def order(self, order: Order) -> None:
        self.orders.append(order)

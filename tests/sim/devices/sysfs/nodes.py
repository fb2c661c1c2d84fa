"""A panel over real links and hand-set air, for tests of trees."""

from __future__ import annotations

from dataclasses import dataclass, field

from sim_hardware.plant.links import State, sense, start
from sim_hardware.plant.words import Order, OrderError, UnknownSensorError, Value
from sim_hardware.rack import Rack, generate_rack

AIR: dict[tuple[str, str], Value] = {
    ("n0", "air.temperature"): 24.06,
    ("n0", "air.temperature.optics"): 51.5,
    ("n0", "air.temperature.nic"): 58.0,
    ("n0", "air.temperature.vrm"): 63.2,
    ("n0", "air.temperature.dimm"): 47.0,
    ("n0", "fan.control"): "auto",
    **{(f"n0/fan{number}", "fan.speed"): 7000.4 + number for number in range(8)},
    **{(f"n0/fan{number}", "fan.duty"): 40.0 for number in range(8)},
}


def _link() -> State:
    return start(generate_rack(1, 2), 1)


@dataclass
class NodePanel:
    """See `sim_hardware.devices.panel.Panel`. `values` go before the links; orders are kept, or refused."""

    links: State = field(default_factory=_link)
    values: dict[tuple[str, str], Value] = field(default_factory=lambda: dict(AIR))
    orders: list[Order] = field(default_factory=list)
    refusing: bool = False

    @property
    def rack(self) -> Rack:
        return generate_rack(1, 2)

    def now(self) -> float:
        return self.links.at

    def sense(self, subject: str, quantity: str) -> Value:
        if (subject, quantity) in self.values:
            return self.values[subject, quantity]
        if subject not in self.links.site.ports:
            raise UnknownSensorError(f"{subject} has no sensor of {quantity}")
        return sense(self.links, subject, quantity)

    def order(self, order: Order) -> None:
        if self.refusing:
            raise OrderError("the plant will not")
        self.orders.append(order)

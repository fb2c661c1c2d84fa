"""A panel over the real cards, pool and job, with ports and rings whose values are set by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import msgspec

from sim_hardware.plant import cards, job, pool
from sim_hardware.plant.words import Order, UnknownSensorError, Value
from sim_hardware.rack import Rack, generate_rack

PARTS: tuple[ModuleType, ...] = (cards, pool, job)

PORT: dict[str, Value] = {
    "link.state": 1.0,
    "link.speed": 200.0,
    "link.present": 1.0,
    "link.los": 0.0,
    "link.temperature": 44.0,
    "link.voltage": 3.3012,
    "link.tx_power": 1.25,
    "link.rx_power": 0.9,
    "link.rx_power.lane1": 0.0312,
    "link.bias": 7.5,
    "link.bits": 8e12,
    "link.receive_errors": 3.0,
    "link.discards": 2.0,
    "link.pfc_sent": 5.0,
    "link.pfc_received": 6.0,
    "link.cnp": 7.0,
    "link.ups": 3.0,
    "link.downs": 2.0,
    "link.flaps": '[[10.0, "DOWN"], [11.5, "UP"]]',
    "link.fec.mode": "rs",
    "link.ip": "10.20.0.3",
    "link.neighbour": "n0/card1/port1",
    "link.neighbour_mac": "02:00:00:00:00:03",
}


@dataclass
class Desk:
    """See `sim_hardware.devices.panel.Panel`. `values` go before what the parts say."""

    rack: Rack = field(default_factory=lambda: generate_rack(1, 8))
    values: dict[tuple[str, str], Value] = field(default_factory=dict)
    states: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.states = [part.start(self.rack, 1) for part in PARTS]
        for card in self.rack.list_cards():
            self.values[card, "card.temperature"] = 45.0
            for port in range(2):
                self.values |= {(f"{card}/port{port}", quantity): value for quantity, value in PORT.items()}
        for ring in self.rack.rings:
            mine: dict[str, Value] = {"ring.closed": 1.0, "ring.mode": "sar_ring", "hop.latency": 1.75}
            self.values |= {(f"ring/{ring.name}", quantity): value for quantity, value in mine.items()}
        for switch in self.rack.switches:
            set_by_hand: dict[str, Value] = {"pfc_threshold": 120_000.0, "ecn_threshold": 110_000.0, "ecn": 1.0, "drops": 3.0}
            self.values |= {(f"switch/{switch.name}", f"switch.{name}"): value for name, value in set_by_hand.items()}
        for number, cable in enumerate(self.rack.cables):
            self.values[cable.subject, "hop.latency"] = 1.70 + number / 100.0

    def now(self) -> float:
        return float(self.states[0].at)

    def sense(self, subject: str, quantity: str) -> Value:
        if (subject, quantity) in self.values:
            return self.values[subject, quantity]
        for part, state in zip(PARTS, self.states, strict=True):
            try:
                value: Value = part.sense(state, subject, quantity)
            except UnknownSensorError:
                continue
            return value
        raise UnknownSensorError(f"{subject} has no sensor of {quantity}")

    def order(self, order: Order) -> None:
        index = next(index for index, part in enumerate(PARTS) if type(order).__module__ == f"{part.__name__}.orders")
        self.states[index] = PARTS[index].apply(self.states[index], order)

    def play(self, seconds: float) -> None:
        """On, in steps of half a second, each part seeing the others'."""
        for _ in range(round(seconds * 2)):
            one, two, three = self.states
            end = self.now() + 0.5
            inputs = msgspec.structs.replace(one.inputs, load=job.list_loads(three))
            one = cards.update(one, end, inputs)
            two = pool.update(two, end, pool.Inputs(cards.list_up(one), cards.list_memory(one), writing=three.phase == "running"))
            three = job.update(three, end, job.Inputs(cards.list_speeds(one), cards.list_alive(one)))
            self.states = [one, two, three]

"""What a device sees and turns: the plant, behind one panel; and how its own answering can be impaired."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from sim_hardware.plant.words import Order, Value
from sim_hardware.rack import Rack


class Panel(Protocol):
    """The plant as its devices see it, at this moment."""

    @property
    def rack(self) -> Rack:
        """What stands where."""
        ...

    def now(self) -> float:
        """Seconds of the plant's time."""
        ...

    def sense(self, subject: str, quantity: str) -> Value:
        """What the sensor shows, which may be wrong, NaN, or None for one that is absent.

        Raises UnknownSensorError when there is no such sensor.
        """
        ...

    def order(self, order: Order) -> None:
        """Do something to the plant. Raises OrderError."""
        ...


@dataclass
class Impairment:
    """How a device's answering is impaired at present; the defaults are none. Faults set it, and servers look at it for every request."""

    silent: bool = False  # takes requests, answers none
    refusing: bool = False  # takes no connection; where there are none, silent
    delay_s: float = 0.0  # before each answer
    garbled: float = 0.0  # share of answers with a changed byte
    stale: bool = False  # says by itself that its values are old, where the protocol has a word for it; else shows old values
    idle_orders: bool = False  # acknowledges orders and does nothing
    alarms: frozenset[str] = frozenset()  # warnings about its own sensors, such as `supply-sensor`, whatever these show


class Device(Protocol):
    """One thing that speaks one protocol."""

    @property
    def name(self) -> str:
        """Its key among the endpoints, such as `ups/A`, `pdu/A1/snmp`, `n0/bmc`."""
        ...

    @property
    def impairment(self) -> Impairment:
        """How its answering is impaired."""
        ...

    def serve(self, host: str, port: int = 0) -> AbstractAsyncContextManager[str]:
        """Listen, and give the URL; port 0 takes a free one. Works on the real loop and on `SimLoop`. Raises OSError."""
        ...

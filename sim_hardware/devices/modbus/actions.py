"""What a write does to the plant: a row of the map becomes an order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

import msgspec

from sim_hardware.devices.modbus.maps import Action, Scalar
from sim_hardware.plant.cooling import orders as cooling
from sim_hardware.plant.power import orders as power
from sim_hardware.plant.words import Order

Written = Scalar | tuple[int, ...]


def _collect(modules: Iterable[ModuleType]) -> Mapping[str, type[Order]]:
    found = [thing for module in modules for thing in vars(module).values() if isinstance(thing, type) and issubclass(thing, Order)]
    return {order.__name__: order for order in found if order is not Order}


ORDERS = _collect((cooling, power))  # by the name that a map uses


def build_order(action: Action, subject: str, number: int, value: Written, look_up: Callable[[str], Written], node: str = "") -> Order:
    """The order that a write of `value` gives; `look_up` tells what another register keeps.

    Raises msgspec.ValidationError when the order cannot take it.
    """
    arguments: dict[str, Written] = {name: _resolve(given, subject, number, look_up, node) for name, given in action.set.items()}
    if action.value:
        arguments[action.value] = value
    return msgspec.convert(arguments, ORDERS[action.order], strict=False)


def _resolve(given: Scalar, subject: str, number: int, look_up: Callable[[str], Written], node: str) -> Written:
    if not isinstance(given, str):
        return given
    if given.startswith("@"):
        return look_up(given[1:])
    return given.replace("{subject}", subject).replace("{n}", str(number)).replace("{node}", node)

"""Attributes of the kernel: small files with a function that shows and perhaps one that stores; and how numbers become text.

A sensor may show anything. What an attribute makes of it is what drivers do: a register has a width and a step; one that cannot be
read fails with an error number of its own (Documentation/filesystems/sysfs.rst of the kernel).
"""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.words import Order, OrderError, UnknownSensorError, Value

Show = Callable[[Panel], str]  # without the newline; raises OSError
Store = Callable[[Panel, str], None]  # raises OSError as the kernel refuses

_INTEGER = re.compile(r"\s*\+?(?P<digits>\d{1,9})\n?", re.ASCII)  # what kstrtoul takes, of the decimal ones
NO_PMA = "N/A (no PMA)"  # what drivers without these registers say in the place of a number


class Attribute(NamedTuple):
    """One file. Without `store` it is read-only."""

    show: Show
    store: Store | None = None


def fail(number: int) -> NoReturn:
    """Raise OSError with an error number of the system."""
    raise OSError(number, os.strerror(number))


def constant(text: str) -> Attribute:
    """A file that always says the same."""
    return Attribute(lambda _panel: text)


def sense(panel: Panel, subject: str, quantity: str) -> Value:
    """What a sensor shows. Raises FileNotFoundError when there is no such sensor: then there is no such file."""
    try:
        return panel.sense(subject, quantity)
    except UnknownSensorError:
        fail(errno.ENOENT)


def sense_number(panel: Panel, subject: str, quantity: str) -> float | None:
    """A number that may be endless, but not NaN; None where there is none. Raises FileNotFoundError."""
    value = sense(panel, subject, quantity)
    return float(value) if isinstance(value, int | float) and not math.isnan(value) else None


def clip(value: float, low: float, high: float) -> float:
    """The value, or the end that it is beyond."""
    return min(max(value, low), high)


def count(subject: str, quantity: str, bits: int, divisor: int = 1) -> Attribute:
    """A counter in a register of so many bits, which stays at its ceiling. An absent one is EINVAL, a broken one no number."""

    def show(panel: Panel) -> str:
        value = sense(panel, subject, quantity)
        if value is None:
            fail(errno.EINVAL)
        if not isinstance(value, int | float) or math.isnan(value):
            return NO_PMA
        ceiling = (1 << bits) - 1
        return str(ceiling if value / divisor >= ceiling else int(max(0.0, value)) // divisor)

    return Attribute(show)


def parse_number(text: str) -> int:
    """A number that was written. Raises OSError, EINVAL, as kstrtoul does."""
    found = _INTEGER.fullmatch(text)
    return int(found["digits"]) if found else fail(errno.EINVAL)


def give_order(panel: Panel, order: Order) -> None:
    """Do it to the plant. Raises OSError, EINVAL, when the plant refuses."""
    try:
        panel.order(order)
    except OrderError:
        fail(errno.EINVAL)

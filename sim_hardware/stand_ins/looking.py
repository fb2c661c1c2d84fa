"""What every stand-in asks of a panel, and how it orders. A sensor that shows no number shows nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.words import Order, OrderError

NOMINAL_SHARE = 0.9  # of the nominal voltage, below which an input is lost (P3)


def attempt(panel: Panel, order: Order) -> bool:
    """Give an order, and say whether it was taken: a PDU without power takes none."""
    try:
        panel.order(order)
    except OrderError:
        return False
    return True


def number(panel: Panel, subject: str, quantity: str) -> float | None:
    """A finite number, or None."""
    value = panel.sense(subject, quantity)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def flags(panel: Panel, subject: str, quantity: str) -> frozenset[str]:
    """Flags; none when there is nothing."""
    value = panel.sense(subject, quantity)
    return value if isinstance(value, frozenset) else frozenset()


def has_mains(panel: Panel, ups: str) -> bool | None:
    """Whether the input of a UPS is there by its voltage; None when that cannot be told."""
    volts = number(panel, f"ups/{ups}", "ups.input_voltage")
    return None if volts is None else volts >= NOMINAL_SHARE * panel.rack.sim.power.volts


def has_output(panel: Panel, ups: str) -> bool | None:
    """Whether a UPS gives power."""
    volts = number(panel, f"ups/{ups}", "ups.output_voltage")
    return None if volts is None else volts >= NOMINAL_SHARE * panel.rack.sim.power.volts


def list_outlets(panel: Panel, load: str) -> Iterator[tuple[str, int]]:
    """PDU and number of every outlet that feeds a load."""
    for pdu in panel.rack.pdus:
        yield from ((pdu.name, outlet.number) for outlet in pdu.outlets if outlet.load == load)


def list_sheddable(panel: Panel, pdu: str) -> tuple[int, ...]:
    """The outlets of a PDU that may be shed."""
    return tuple(outlet.number for one in panel.rack.pdus if one.name == pdu for outlet in one.outlets if outlet.sheddable)


def name_job(panel: Panel) -> str:
    """The training job; empty when there is none."""
    return panel.rack.sim.job.name if panel.rack.sim.job is not None else ""


def is_running(panel: Panel) -> bool:
    """Whether the job makes steps, so that it can save or stop in order."""
    job = name_job(panel)
    return bool(job) and panel.sense(f"job/{job}", "job.state") == "running"

"""What a module says of itself, whichever tool asks it: its lanes and its own limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.gauges import read_number
from sim_hardware.devices.tools.hccn_optical import CELSIUS_LIMITS, LANES, RX_LIMITS, TX_LIMITS, VOLT_LIMITS
from sim_hardware.devices.tools.nics import read_lane

BIAS_LIMITS = (150.0, 30.0)  # mA, high and low: beyond twice, or under half, of a new laser's (ours)
DARK_DBM = -40.0  # shown for no light at all
Limits = tuple[float, float]

__all__ = ["BIAS_LIMITS", "CELSIUS_LIMITS", "RX_LIMITS", "TX_LIMITS", "VOLT_LIMITS", "Module", "read_module", "to_dbm"]


@dataclass(frozen=True)
class Module:
    """One module: C, mV, mA and mW; None for what it does not tell."""

    celsius: float | None
    millivolts: float | None
    bias: tuple[float | None, ...]
    sent: tuple[float | None, ...]
    received: tuple[float | None, ...]
    dark: bool


def read_module(panel: Panel, port: str) -> Module | None:
    """The module of a port; None when there is none."""
    if read_number(panel, port, "link.present") != 1.0:
        return None
    volts = read_number(panel, port, "link.voltage")
    bias, sent, received = (
        tuple(read_lane(panel, port, quantity, lane) for lane in LANES) for quantity in ("link.bias", "link.tx_power", "link.rx_power")
    )
    return Module(
        celsius=read_number(panel, port, "link.temperature"),
        millivolts=None if volts is None else volts * 1000.0,
        bias=bias,
        sent=sent,
        received=received,
        dark=read_number(panel, port, "link.los") == 1.0,
    )


def to_dbm(milliwatts: float) -> float:
    """Power in dBm, not below what is shown for no light."""
    return max(DARK_DBM, 10.0 * math.log10(milliwatts)) if milliwatts > 0.0 else DARK_DBM

"""`hccn_tool -optical`: the module's own page. A line whose value nobody can read is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.gauges import read_number

LANES = range(4)
TX_LIMITS, RX_LIMITS = (3.5481, 0.2818), (3.5481, 0.1445)  # mW, high and low, of a 200G-SR4 module
VOLT_LIMITS, CELSIUS_LIMITS = (3465.0, 3135.0), (70, 0)  # mV and C, SFF-8636
_DARK_DB = 0.0  # signal to noise without light


def print_optical(panel: Panel, port: str) -> str:
    """All lines of the page."""
    return "optical info:\n" + "".join(f"{name:<21}: {value}\n" for name, value in _list_rows(panel, port))


def _list_rows(panel: Panel, port: str) -> Iterator[tuple[str, str]]:
    present = read_number(panel, port, "link.present")
    yield "present", "present" if present == 1.0 else "not present"
    volts = read_number(panel, port, "link.voltage")
    if present != 1.0 and volts is None:  # nothing answers on the module's bus
        return
    yield from _show("temperature", read_number(panel, port, "link.temperature"), ".0f", "C")
    if present == 1.0:
        yield from _NAMEPLATE
    yield from _show("Vcc", None if volts is None else volts * 1000.0, ".2f", "mV")
    received = [_read_lane(panel, port, "link.rx_power", lane) for lane in LANES]
    for lane in LANES:
        yield from _show(f"Tx Power{lane}", _read_lane(panel, port, "link.tx_power", lane), ".4f", "mW")
        yield from _show(f"Rx Power{lane}", received[lane], ".4f", "mW")
    yield from _list_limits()
    for lane in LANES:
        yield from _show(f"Tx Bias{lane}", _read_lane(panel, port, "link.bias", lane), ".4f", "mA")
    dark = read_number(panel, port, "link.los") == 1.0
    for name, raised in (("Tx Los", False), ("Rx Los", dark), ("Tx LoL", False), ("Rx LoL", dark)):
        yield f"{name} Flag", "0xff" if raised else "0x0"
    yield from ((f"Host SNR Lane{lane}", "not supported") for lane in LANES)
    yield from ((f"Media SNR Lane{lane}", f"{_DARK_DB if dark else _guess_snr(received[lane]):.4f} dB") for lane in LANES)


def _read_lane(panel: Panel, port: str, quantity: str, lane: int) -> float | None:
    """A lane's own value; where there is one for the module alone, that."""
    value = read_number(panel, port, f"{quantity}.lane{lane}")
    return read_number(panel, port, quantity) if value is None else value


def _show(name: str, value: float | None, pattern: str, unit: str) -> Iterator[tuple[str, str]]:
    if value is not None:
        yield name, f"{value:{pattern}} {unit}"


def _guess_snr(milliwatts: float | None) -> float:
    """Some 23 dB at 1 mW, and falling with the light."""
    return min(26.0, max(_DARK_DB, 23.0 * math.sqrt(math.sqrt(max(0.0, milliwatts or 0.0)))))


def _list_limits() -> Iterator[tuple[str, str]]:
    yield "Vcc High Thres", f"{VOLT_LIMITS[0]:.2f} mV"
    yield "Vcc Low Thres", f"{VOLT_LIMITS[1]:.2f} mV"
    yield "Temp High Thres", f"{CELSIUS_LIMITS[0]} C"
    yield "Temp Low Thres", f"{CELSIUS_LIMITS[1]} C"
    for name, limits in (("TxPower", TX_LIMITS), ("RxPower", RX_LIMITS)):
        yield f"{name} High Thres", f"{limits[0]:.4f} mW"
        yield f"{name} Low Thres", f"{limits[1]:.4f} mW"


_NAMEPLATE = (
    ("high power enable reg", "enabled"),
    ("vendor name", "SIMULATED"),
    ("vendor part number", "SIM-200G-SR4"),
    ("xsfp identifier", "QSFP+ or later"),
    ("xsfp wave length", "850 nm"),
)

"""`ethtool -m`: the page of an SFF-8636 module. A line whose value nobody can read is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools import modules
from sim_hardware.devices.tools.modules import Limits, Module, read_module, to_dbm

Show = Callable[[float], str]

_NAMEPLATE = (
    ("Identifier", "0x11 (QSFP28)"),
    ("Connector", "0x0c (MPO Parallel Optic)"),
    ("Transmitter technology", "0x00 (850 nm VCSEL)"),
    ("Laser wavelength", "850.000nm"),
    ("Vendor name", "SIMULATED"),
    ("Vendor PN", "SIM-200G-SR4"),
)


def print_module(panel: Panel, port: str) -> str:
    """All lines of the page; empty when no module answers."""
    module = read_module(panel, port)
    return "" if module is None else "".join(f"\t{name:<41} : {value}\n" for name, value in _list_rows(module))


def _list_rows(module: Module) -> Iterator[tuple[str, str]]:
    yield from _NAMEPLATE
    if module.celsius is not None:
        yield "Module temperature", _show_celsius(module.celsius)
    if module.millivolts is not None:
        yield "Module voltage", _show_volts(module.millivolts)
    yield from _list_lanes("Laser tx bias current (Channel {})", module.bias, _show_bias)
    yield from _list_lanes("Transmit avg optical power (Channel {})", module.sent, _show_power)
    yield from _list_lanes("Rcvr signal avg optical power(Channel {})", module.received, _show_power)
    dark = "[ Yes, Yes, Yes, Yes ]" if module.dark else "None"
    yield from (("Rx loss of signal", dark), ("Tx loss of signal", "None"), ("Rx loss of lock", dark), ("Tx loss of lock", "None"))
    yield from _list_limits("Laser bias current", modules.BIAS_LIMITS, _show_bias)
    yield from _list_limits("Laser output power", modules.TX_LIMITS, _show_power)
    yield from _list_limits("Module temperature", modules.CELSIUS_LIMITS, _show_celsius)
    yield from _list_limits("Module voltage", modules.VOLT_LIMITS, _show_volts)
    yield from _list_limits("Laser rx power", modules.RX_LIMITS, _show_power)


def _list_lanes(name: str, values: Sequence[float | None], show: Show) -> Iterator[tuple[str, str]]:
    yield from ((name.format(lane), show(value)) for lane, value in enumerate(values, 1) if value is not None)


def _list_limits(name: str, limits: Limits, show: Show) -> Iterator[tuple[str, str]]:
    yield from ((f"{name} {word} alarm threshold", show(limit)) for word, limit in zip(("high", "low"), limits, strict=True))


def _show_bias(milliamperes: float) -> str:
    return f"{milliamperes:.3f} mA"


def _show_power(milliwatts: float) -> str:
    light = max(0.0, milliwatts)
    return f"{light:.4f} mW / {to_dbm(light):.2f} dBm"


def _show_celsius(celsius: float) -> str:
    return f"{celsius:.2f} degrees C / {celsius * 1.8 + 32.0:.2f} degrees F"


def _show_volts(millivolts: float) -> str:
    return f"{millivolts / 1000.0:.4f} V"

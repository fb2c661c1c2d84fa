"""`mlxlink`: the link of one port, its counters and bit error rates (`-c`), and its module (`-m`), as text and as JSON.

The texts are those of MFT 4. A rate without an error is `15E-255`; lanes stand behind each other with commas, a module's limits in
brackets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools import modules
from sim_hardware.devices.tools.arguments import UsageError, parse
from sim_hardware.devices.tools.gauges import read_number, read_text
from sim_hardware.devices.tools.modules import Limits, read_module, to_dbm
from sim_hardware.devices.tools.nics import dump, find_port, read_count
from sim_hardware.devices.tools.words import Run, ToolState
from sim_hardware.plant.links.coding import FLOOR
from sim_hardware.plant.links.optics import LANES

ASK_S, MODULE_S = 0.15, 0.2  # ours
MISSING, NO_ERRORS = "N/A", "15E-255"

Section = dict[str, str]
_LONG = {"--device": "-d", "--show_counters": "-c", "--show_module": "-m"}


def mlxlink(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """`-d DEVICE [-c] [-m] [--json]`. Codes: 0, 1 wrong arguments or no such device."""
    try:
        options = parse([_LONG.get(word, word) for word in argv], frozenset({"-d", "-p"}), frozenset({"-c", "-m", "--json"}))
    except UsageError as error:
        return Run(1, f"\n-E- Invalid argument: {error}\n", seconds=0.02)
    port = find_port(panel, node, options.get("-d", ""))
    if not port:
        return Run(1, f"\n-E- Failed to open device: {options.get('-d') or 'a device is missing'}. No such device\n", seconds=0.05)
    sections: dict[str, Section] = {"Operational Info": _list_operation(panel, port), "Troubleshooting Info": _list_trouble(panel, port)}
    if "-c" in options:
        sections["Physical Counters and BER Info"] = _list_counters(panel, port)
    if "-m" in options:
        sections["Module Info"] = _list_module(panel, port)
    show = _print_json if "--json" in options else _print_text
    return Run(0, show(sections), seconds=ASK_S + ("-m" in options) * MODULE_S)


def _print_text(sections: Mapping[str, Section]) -> str:
    blocks = []
    for title, rows in sections.items():
        lines = [title, "-" * len(title), *(f"{name:<35}: {value}" for name, value in rows.items())]
        blocks.append("\n" + "\n".join(lines) + "\n")
    return "".join(blocks)


def _print_json(sections: Mapping[str, Section]) -> str:
    """Lists are lists there, but where a module's limits stand behind them."""
    output = {title: {name: _split(value) for name, value in rows.items()} for title, rows in sections.items()}
    return dump({"status": {"code": 0, "message": "success"}, "result": {"output": output}})


def _split(value: str) -> str | list[str]:
    return value.split(",") if "," in value and not {"[", "("} & set(value) else value


def _list_operation(panel: Panel, port: str) -> Section:
    up, speed, width = (read_number(panel, port, quantity) for quantity in ("link.state", "link.speed", "link.width"))
    physical = read_text(panel, port, "link.phys_state", MISSING)
    state = "Active" if up == 1.0 else "Disable" if physical == "Disabled" else "Polling"
    coded = read_text(panel, port, "link.fec.mode", "").lower().startswith("rs")
    return {
        "State": MISSING if up is None else state,
        "Physical state": physical,
        "Speed": f"{speed:g}G" if up == 1.0 and speed is not None else MISSING,
        "Width": f"{width:.0f}x" if up == 1.0 and width is not None else MISSING,
        "FEC": "Standard_RS-FEC - (544,514)" if coded else "No FEC",
        "Loopback Mode": "No Loopback",
        "Auto Negotiation": "ON",
    }


def _list_trouble(panel: Panel, port: str) -> Section:
    """Codes of the tool's documentation: 1 = switched off by hand, 1024 = no cable, 15 = the link's bit error rate or light is bad."""
    if read_number(panel, port, "link.present") != 1.0:
        code, text = 1024, "Cable is unplugged"
    elif read_text(panel, port, "link.phys_state", "") == "Disabled":
        code, text = 1, "The port is closed by command. Please check that the interface is enabled"
    elif read_number(panel, port, "link.state") != 1.0:
        code, text = 15, "Bad signal integrity"
    else:
        code, text = 0, "No issue was observed"
    return {"Status Opcode": f"{code}", "Group Opcode": "PHY FW" if code else MISSING, "Recommendation": text}


def _list_counters(panel: Panel, port: str) -> Section:
    lanes = [read_count(panel, port, f"link.fec.corrected.lane{lane}") for lane in range(LANES)]
    symbols, ups, downs = (read_count(panel, port, quantity) for quantity in ("link.symbol_errors", "link.recoveries", "link.downed"))
    before, after = (read_number(panel, port, quantity) for quantity in ("link.ber.pre_fec", "link.ber.post_fec"))
    return {
        "Time Since Last Clear [Min]": f"{max(0.0, panel.now()) / 60.0:.1f}",
        "Symbol Errors": _show_count(symbols),
        "Symbol BER": show_ber(after),
        "Effective Physical Errors": _show_count(symbols),
        "Effective Physical BER": show_ber(after),
        "Raw Physical Errors Per Lane": ",".join(map(_show_count, lanes)),
        "Raw Physical BER": show_ber(before),
        "Link Down Counter": _show_count(downs),
        "Link Error Recovery Counter": _show_count(ups),
    }


def _show_count(count: int | None) -> str:
    return MISSING if count is None else f"{count}"


def show_ber(rate: float | None) -> str:
    """A rate with one digit; one no greater than what even a good link has is none at all."""
    if rate is None:
        return MISSING
    if not FLOOR < rate <= 1.0:
        return NO_ERRORS
    digits, _, exponent = f"{rate:.0E}".partition("E")
    return f"{digits}E{int(exponent)}"


def _list_module(panel: Panel, port: str) -> Section:
    module = read_module(panel, port)
    if module is None:
        return {"Identifier": MISSING, "Vendor Name": MISSING, "Temperature [C]": MISSING, "Rx Power Current [dBm]": MISSING}
    milliwatts = (modules.TX_LIMITS, modules.RX_LIMITS)
    tx_limits, rx_limits = ((to_dbm(high), to_dbm(low)) for high, low in milliwatts)
    lost = ",".join(["1" if module.dark else "0"] * LANES)
    return {
        "Identifier": "QSFP56",
        "Cable Technology": "850 nm VCSEL",
        "Cable Type": "Optical Module (separated)",
        "Vendor Name": "SIMULATED",
        "Vendor Part Number": "SIM-200G-SR4",
        "Digital Diagnostic Monitoring": "Yes",
        "Rx Loss of Signal": lost,
        "Temperature [C]": _bound([module.celsius], modules.CELSIUS_LIMITS, 0),
        "Voltage [mV]": _bound([module.millivolts], modules.VOLT_LIMITS, 1),
        "Bias Current [mA]": _bound(module.bias, modules.BIAS_LIMITS, 3),
        "Rx Power Current [dBm]": _bound([_to_dbm(one) for one in module.received], rx_limits, 3),
        "Tx Power Current [dBm]": _bound([_to_dbm(one) for one in module.sent], tx_limits, 3),
    }


def _to_dbm(milliwatts: float | None) -> float | None:
    return None if milliwatts is None else to_dbm(milliwatts)


def _bound(values: Sequence[float | None], limits: Limits, digits: int) -> str:
    shown = ",".join(MISSING if value is None else f"{value:.{digits}f}" for value in values)
    high, low = limits
    return f"{shown} [{round(low, digits):g}..{round(high, digits):g}]"

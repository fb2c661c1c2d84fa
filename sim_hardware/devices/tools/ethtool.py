"""`ethtool`: the driver's counters, the code against errors, and the module's page of one interface.

The texts are those of ethtool 6 with the mlx5 driver. JSON there is only of `--show-fec`: of the module's page only the newest have it,
and of a driver's own counters (`-S`) none.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.ethtool_module import print_module
from sim_hardware.devices.tools.gauges import read_text
from sim_hardware.devices.tools.nics import dump, find_port, read_count
from sim_hardware.devices.tools.words import Run, ToolState
from sim_hardware.plant.links.optics import LANES

ASK_S, MODULE_S = 0.02, 0.15  # ours; a module's page comes over a slow bus
_STATISTICS = {
    "rx_packets_phy": ("link.bits", 4096 * 8),
    "rx_bytes_phy": ("link.bits", 8),
    "rx_crc_errors_phy": ("link.receive_errors", 1),
    "rx_discards_phy": ("link.discards", 1),
    "tx_discards_phy": ("", 1),
    "link_down_events_phy": ("link.downed", 1),
    "rx_pcs_symbol_err_phy": ("link.symbol_errors", 1),
    "rx_corrected_bits_phy": ("link.fec.corrected", 1),
    **{f"rx_err_lane_{lane}_phy": (f"link.fec.corrected.lane{lane}", 1) for lane in range(LANES)},
    "rx_prio4_pause": ("link.pfc_received", 1),
    "tx_prio4_pause": ("link.pfc_sent", 1),
    "rx_ecn_mark": ("link.cnp", 1),
    "rx_pci_signal_integrity": ("", 1),
    "tx_pci_signal_integrity": ("", 1),
}
_USAGE = "ethtool: bad command line argument(s)\nFor more information run ethtool -h\n"
_NO_JSON = "JSON output not available for this subcommand\n"
_VERBS = {"-S": "-S", "--statistics": "-S", "--show-fec": "fec", "-m": "-m", "--module-info": "-m", "--dump-module-eeprom": "-m"}


def ethtool(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """`[--json] [-I] -S|--show-fec|-m DEVICE`. Codes: 0, 1 wrong arguments or nothing to show."""
    flags = [word for word in argv if word in {"--json", "-I", "--include-statistics"}]
    words = [word for word in argv if word not in flags]
    if len(words) != 2 or words[0] not in _VERBS or not words[1].startswith("eth"):
        return Run(1, err=_USAGE, seconds=ASK_S)
    port = find_port(panel, node, words[1])
    if not port:
        return Run(1, err="netlink error: no device matches name (offset 24)\nnetlink error: No such device\n", seconds=ASK_S)
    verb, json = _VERBS[words[0]], "--json" in flags
    if verb == "-m":
        return _show_module(panel, port, json=json)
    if verb == "fec":
        return Run(0, _show_fec(panel, port, words[1], json=json, counted=len(flags) > json), seconds=ASK_S)
    return Run(0, _show_statistics(panel, port), seconds=ASK_S)


def _show_module(panel: Panel, port: str, *, json: bool) -> Run:
    if json:
        return Run(1, err=_NO_JSON, seconds=ASK_S)
    page = print_module(panel, port)
    if not page:
        return Run(1, err="netlink error: Input/output error\n", seconds=MODULE_S)
    return Run(0, page, seconds=MODULE_S)


def _show_statistics(panel: Panel, port: str) -> str:
    """A counter a line. One that nobody can read is missing."""
    lines = ["NIC statistics:"]
    for name, (quantity, divisor) in _STATISTICS.items():
        value = read_count(panel, port, quantity) if quantity else 0
        if value is not None:
            lines.append(f"     {name}: {value // divisor}")
    return "\n".join(lines) + "\n"


def _show_fec(panel: Panel, port: str, interface: str, *, json: bool, counted: bool) -> str:
    mode = "RS" if read_text(panel, port, "link.fec.mode", "").lower().startswith("rs") else "Off"
    corrected = [read_count(panel, port, f"link.fec.corrected.lane{lane}") for lane in range(LANES)]
    lost = read_count(panel, port, "link.fec.uncorrected")
    if json:
        page: dict[str, object] = {"ifname": interface, "config": ["Auto", "RS"], "active": [mode]}
        if counted:
            page["statistics"] = {**_list_bits(corrected), **({} if lost is None else {"uncorrectable_blocks": {"total": lost}})}
        return dump([page])
    lines = [f"FEC parameters for {interface}:", "Supported/Configured FEC encodings: Auto RS", f"Active FEC encoding: {mode}"]
    if counted:
        lines += ["Statistics:", *_print_counts(corrected, lost)]
    return "\n".join(lines) + "\n"


def _list_bits(corrected: Sequence[int | None]) -> dict[str, object]:
    lanes = [count for count in corrected if count is not None]
    return {"corrected_bits": {"total": sum(lanes), "lanes": lanes}} if len(lanes) == LANES else {}


def _print_counts(corrected: Sequence[int | None], lost: int | None) -> list[str]:
    lanes = [count for count in corrected if count is not None]
    lines = []
    if len(lanes) == LANES:
        lines = [f"  corrected_bits: {sum(lanes)}", *(f"    Lane {lane}: {count}" for lane, count in enumerate(lanes))]
    return lines if lost is None else [*lines, f"  uncorrectable_blocks: {lost}"]

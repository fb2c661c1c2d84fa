"""`hccn_tool -link_stat` and `-stat`: when the link changed, and what was counted."""

from __future__ import annotations

from operator import itemgetter

import msgspec

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.gauges import read_number, read_text, show
from sim_hardware.devices.tools.words import ToolState

PACKET_BITS = 4096 * 8.0  # of a full packet (RoCE payload)

_SOURCES = {  # counter -> quantity, and what to divide it by
    "mac_tx_mac_pause_num": (None, 1.0),
    "mac_rx_mac_pause_num": (None, 1.0),
    "mac_tx_pfc_pkt_num": ("link.pfc_sent", 1.0),
    "mac_tx_pfc_pri4_pkt_num": ("link.pfc_sent", 1.0),
    "mac_rx_pfc_pkt_num": ("link.pfc_received", 1.0),
    "mac_rx_pfc_pri4_pkt_num": ("link.pfc_received", 1.0),
    "mac_tx_total_pkt_num": ("link.bits", PACKET_BITS),
    "mac_tx_total_oct_num": ("link.bits", 8.0),
    "mac_tx_bad_pkt_num": (None, 1.0),
    "mac_rx_total_pkt_num": ("link.bits", PACKET_BITS),
    "mac_rx_total_oct_num": ("link.bits", 8.0),
    "mac_rx_bad_pkt_num": ("link.receive_errors", 1.0),
    "mac_rx_fcs_err_pkt_num": ("link.receive_errors", 1.0),
    "roce_rx_all_pkt_num": ("link.bits", PACKET_BITS),
    "roce_rx_err_pkt_num": ("link.discards", 1.0),
    "roce_tx_all_pkt_num": ("link.bits", PACKET_BITS),
    "roce_tx_err_pkt_num": (None, 1.0),
    "roce_rx_cnp_pkt_num": ("link.cnp", 1.0),
    "roce_tx_cnp_pkt_num": (None, 1.0),
    "roce_new_pkt_rty_num": ("link.discards", 1.0),
    "roce_qp_status_err_num": (None, 1.0),
}
_QUANTITIES = tuple(dict.fromkeys(quantity for quantity, _ in _SOURCES.values()))


def print_stat(panel: Panel, port: str) -> str:
    """One counter a line. One that nobody can read is missing."""
    lines = ["packet statistics:"]
    values = {quantity: 0.0 if quantity is None else read_number(panel, port, quantity) for quantity in _QUANTITIES}
    for name, (quantity, divisor) in _SOURCES.items():
        value = values[quantity]
        if value is not None:
            lines.append(f"{name}:{max(0.0, value) // divisor:.0f}")
    return "\n".join(lines) + "\n"


def print_link_stat(panel: Panel, port: str, slot: int, state: ToolState) -> str:
    """The records come newest first, and two spaces stand before a one-digit day."""
    head = f"[devid {slot}]"
    lines = [f"{head}current time        : {state.tell_time(panel.now()):%a %b %e %H:%M:%S %Y}"]
    lines.append(f"{head}link up count       : {show(read_number(panel, port, 'link.ups'), missing='0')}")
    lines.append(f"{head}link down count     : {show(read_number(panel, port, 'link.downs'), missing='0')}")
    lines.append(f"{head}link change records :")
    records = sorted(_read_flaps(panel, port), key=itemgetter(0))
    for at, word in reversed(records):
        lines.append(f"{head}    {state.tell_time(at):%a %b %e %H:%M:%S %Y}    LINK {word}")
    return "\n".join(lines) + "\n"


def _read_flaps(panel: Panel, port: str) -> list[tuple[float, str]]:
    """Records that are none are none."""
    try:
        return msgspec.json.decode(read_text(panel, port, "link.flaps", "[]"), type=list[tuple[float, str]])
    except msgspec.DecodeError:
        return []

"""`/sys/class/infiniband` of a node: `mlx5_0` is its NIC, `mlx5_1` to `mlx5_16` are port 0 and port 1 of card 0, card 1 and so on.

The texts are those of drivers/infiniband/core/sysfs.c; widths of counters those of its PORT_PMA_ATTR (`plant/links/widths.py`).
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.sysfs.attributes import Attribute, constant, count, fail, sense, sense_number
from sim_hardware.plant.links.widths import PMA_BITS, WIDE
from sim_hardware.rack import Rack

WORD_BITS = 32  # port_*_data count words of four octets
SLOWEST = "2.5 Gb/sec (1X SDR)"  # what a port without a link shows

_PHYSICAL: Mapping[str, int] = MappingProxyType({"Sleep": 1, "Polling": 2, "Disabled": 3, "LinkUp": 5})
_COUNTERS: Mapping[str, str] = MappingProxyType(
    {
        "symbol_error": "link.symbol_errors",
        "link_error_recovery": "link.recoveries",
        "link_downed": "link.downed",
        "port_rcv_errors": "link.receive_errors",
        "port_xmit_discards": "link.discards",
        "port_xmit_wait": "link.waits",
    }
)
_SILENT = (  # registers that nothing in this plant moves
    "VL15_dropped",
    "excessive_buffer_overrun_errors",
    "local_link_integrity_errors",
    "port_rcv_constraint_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_constraint_errors",
    "multicast_rcv_packets",
    "multicast_xmit_packets",
)
_HARDWARE: Mapping[str, str] = MappingProxyType(
    {
        "np_cnp_sent": "link.cnp",
        "np_ecn_marked_roce_packets": "link.cnp",
        "rp_cnp_handled": "link.cnp",
        "packet_seq_err": "link.receive_errors",
        "out_of_sequence": "link.receive_errors",
        "roce_adp_retrans": "link.receive_errors",
    }
)
_SILENT_HARDWARE = (
    "duplicate_request",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "out_of_buffer",
    "req_cqe_error",
    "resp_cqe_error",
    "rnr_nak_retry_err",
    "roce_slow_restart",
    "rx_icrc_encapsulated",
)
_FRAME_BITS = 4096 * 8
FIRST_BUS = 0x60  # of the PCI addresses of ports, beyond those of cards (ours)


def name_bus(number: int) -> str:
    """The PCI address of a port, by its number."""
    return f"0000:{FIRST_BUS + number:02x}:00.0"


def list_hcas(rack: Rack, node: str) -> Mapping[str, str]:
    """The HCAs of a node, and the port subject of each: `mlx5_3` is `n0/card1/port0`."""
    cards = next((one.list_cards() for one in rack.nodes if one.name == node), ())
    ports = [f"{node}/nic/mlx5_0", *(f"{card}/port{port}" for card in cards for port in (0, 1))]
    return {f"mlx5_{number}": port for number, port in enumerate(ports)}


def name_ports(rack: Rack, node: str) -> Mapping[str, str]:
    """The same as a daemon's settings name a port of an HCA: `mlx5_3/1`."""
    return {f"{hca}/1": port for hca, port in list_hcas(rack, node).items()}


def list_infiniband(rack: Rack, node: str) -> Iterator[tuple[str, Attribute]]:
    """Every attribute below `/sys/class/infiniband`."""
    for number, (hca, subject) in enumerate(list_hcas(rack, node).items()):
        yield f"{hca}/device/uevent", constant(f"DRIVER=mlx5_core\nPCI_SLOT_NAME={name_bus(number)}")
        yield f"{hca}/node_type", constant("1: CA")
        yield f"{hca}/hca_type", constant("SIM4129")
        yield f"{hca}/fw_ver", constant("1.0.0")
        for name, attribute in _list_port(subject):
            yield f"{hca}/ports/1/{name}", attribute


def _list_port(subject: str) -> Iterator[tuple[str, Attribute]]:
    yield "state", Attribute(lambda panel: _show_state(panel, subject))
    yield "phys_state", Attribute(lambda panel: _show_physical(panel, subject))
    yield "rate", Attribute(lambda panel: _show_rate(panel, subject))
    yield "link_layer", constant("Ethernet")
    yield "lid", constant("0x0")  # RoCE has none
    for name, quantity in _COUNTERS.items():
        yield f"counters/{name}", count(subject, quantity, PMA_BITS[quantity])
    for way in ("rcv", "xmit"):
        yield f"counters/port_{way}_data", count(subject, "link.bits", WIDE, WORD_BITS)
        yield f"counters/port_{way}_packets", count(subject, "link.bits", WIDE, _FRAME_BITS)
        yield f"counters/unicast_{way}_packets", count(subject, "link.bits", WIDE, _FRAME_BITS)
    for name in _SILENT:
        yield f"counters/{name}", constant("0")
    for name, quantity in _HARDWARE.items():
        yield f"hw_counters/{name}", count(subject, quantity, WIDE)
    for name in _SILENT_HARDWARE:
        yield f"hw_counters/{name}", constant("0")


def _show_state(panel: Panel, subject: str) -> str:
    up = sense_number(panel, subject, "link.state")
    if up is None:
        return "0: NOP"
    return "4: ACTIVE" if up else "1: DOWN"


def _show_physical(panel: Panel, subject: str) -> str:
    word = sense(panel, subject, "link.phys_state")
    number = _PHYSICAL.get(word) if isinstance(word, str) else None
    return "0: <unknown>" if number is None else f"{number}: {word}"


def _show_rate(panel: Panel, subject: str) -> str:
    """The speed, width and kind of lanes; a port without a link shows its slowest, one that cannot tell fails (as the kernel does)."""
    if not sense_number(panel, subject, "link.state"):
        return SLOWEST
    speed, lanes = sense_number(panel, subject, "link.speed"), sense_number(panel, subject, "link.width")
    if speed is None or lanes is None or not 0.0 < speed < 1e6:
        fail(errno.EINVAL)
    width = next(width for width in (4, 2, 1, 0) if width <= max(0.0, lanes)) or 1
    return f"{speed:g} Gb/sec ({width}X HDR)"

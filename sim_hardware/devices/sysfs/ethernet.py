"""`/sys/class/net` of a node: `eth0` is its NIC, `eth1` to `eth16` are the ports of its cards.

The texts are those of net/core/net-sysfs.c of the kernel; all counters have 64 bits.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.sysfs.attributes import Attribute, Show, constant, count, fail, sense, sense_number
from sim_hardware.devices.sysfs.infiniband import list_hcas, name_bus
from sim_hardware.plant.links.widths import WIDE
from sim_hardware.rack import Rack

_FRAME_BITS = 4096 * 8
_COUNTERS = {
    "statistics/rx_errors": "link.receive_errors",
    "statistics/rx_crc_errors": "link.receive_errors",
    "statistics/tx_dropped": "link.discards",
    "carrier_changes": "link.changes",
    "carrier_up_count": "link.ups",
    "carrier_down_count": "link.downs",
}
_SILENT = ("rx_missed_errors", "rx_dropped", "tx_errors", "rx_frame_errors", "collisions")


def list_interfaces(rack: Rack, node: str) -> Mapping[str, str]:
    """The interfaces of a node, and the port subject of each."""
    return {hca.replace("mlx5_", "eth"): port for hca, port in list_hcas(rack, node).items()}


def list_ethernet(rack: Rack, node: str) -> Iterator[tuple[str, Attribute]]:
    """Every attribute below `/sys/class/net`."""
    for number, (interface, subject) in enumerate(list_interfaces(rack, node).items()):
        for name, attribute in _list_interface(number, subject):
            yield f"{interface}/{name}", attribute


def _list_interface(number: int, subject: str) -> Iterator[tuple[str, Attribute]]:
    yield "device/uevent", constant(f"DRIVER=mlx5_core\nPCI_SLOT_NAME={name_bus(number)}")
    yield "address", Attribute(lambda panel: _show_text(panel, subject, "link.mac"))
    yield "mtu", constant("9000")  # N7
    yield "operstate", Attribute(lambda panel: "up" if sense_number(panel, subject, "link.state") else "down")
    yield "carrier", Attribute(_while_open(subject, _show_carrier))
    yield "speed", Attribute(_while_open(subject, _show_speed))
    for way in ("rx", "tx"):
        yield f"statistics/{way}_bytes", count(subject, "link.bits", WIDE, 8)
        yield f"statistics/{way}_packets", count(subject, "link.bits", WIDE, _FRAME_BITS)
    for name, quantity in _COUNTERS.items():
        yield name, count(subject, quantity, WIDE)
    for name in _SILENT:
        yield f"statistics/{name}", constant("0")


def _while_open(subject: str, show: Callable[[Panel, str], str]) -> Show:
    """An interface that is shut answers EINVAL."""

    def guarded(panel: Panel) -> str:
        if sense(panel, subject, "link.phys_state") == "Disabled":
            fail(errno.EINVAL)
        return show(panel, subject)

    return guarded


def _show_carrier(panel: Panel, subject: str) -> str:
    up = sense_number(panel, subject, "link.state")
    if up is None:
        fail(errno.EINVAL)
    return str(int(bool(up)))


def _show_speed(panel: Panel, subject: str) -> str:
    """Mb/s; -1 is SPEED_UNKNOWN."""
    speed = sense_number(panel, subject, "link.speed") if sense_number(panel, subject, "link.state") else None
    return "-1" if speed is None or not 0.0 < speed < 1e6 else str(round(speed * 1000.0))


def _show_text(panel: Panel, subject: str, quantity: str) -> str:
    value = sense(panel, subject, quantity)
    return value if isinstance(value, str) else ""

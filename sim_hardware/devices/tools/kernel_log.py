"""The kernel log of a node, in the form of `dmesg --raw`: `<level>[seconds] text`. What drivers say of links, modules and cards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sim_hardware.devices.sysfs.infiniband import name_bus
from sim_hardware.devices.tools.gauges import find_bus
from sim_hardware.plant.words import Happening

ERROR, WARNING, INFO = 3, 4, 6  # syslog levels
NVIDIA = "NVIDIA"  # how the chips of that vendor's driver begin
_PORT = re.compile(r"[^/]+/(?:nic/mlx5_0|card(?P<slot>\d+)/port(?P<side>[01]))", re.ASCII)
_CARD = re.compile(r"[^/]+/card(?P<slot>\d+)", re.ASCII)
_RAW = re.compile(r"(<\d>)\[ *\d+\.\d+\] ", re.ASCII)

Said = Iterator[tuple[int, str]]


def write_kernel_log(chip: str, happenings: Iterable[Happening], _epoch: float) -> Iterator[str]:
    """The lines, without their ends, of what the drivers know of. `chip` is the kind of all cards. The kernel tells no time of day."""
    for news in happenings:
        for level, text in _describe(news, chip):
            yield f"<{level}>[{max(0.0, news.at):12.6f}] {text}"


def tag_line(line: str) -> str:
    """The same line as the daemon's host port has it: `<level>text`."""
    return _RAW.sub(r"\1", line.rstrip("\n"), count=1)


def _describe(news: Happening, chip: str) -> Said:
    port, card = _PORT.fullmatch(news.subject), _CARD.fullmatch(news.subject)
    if port is not None and news.kind in _PORTS:
        number = 0 if port["slot"] is None else 1 + 2 * int(port["slot"]) + int(port["side"])
        level, text = _PORTS[news.kind]
        yield level, text.format(bus=name_bus(number), interface=f"eth{number}")
    elif card is not None:
        slot = int(card["slot"])
        bus = find_bus(slot).lower()
        for level, text in (_GPUS if chip.startswith(NVIDIA) else _NPUS).get(news.kind, ()):
            yield level, text.format(bus=bus, short=bus.rpartition(".")[0], slot=slot)
    elif news.kind == "part.overheated" and news.text.startswith("optics "):
        yield WARNING, f"mlx5_core {name_bus(0)}: Port module event[error]: module 0, Cable error, High Temperature"


_PORTS: dict[str, tuple[int, str]] = {
    "link.down": (INFO, "mlx5_core {bus} {interface}: Link down"),
    "link.up": (INFO, "mlx5_core {bus} {interface}: Link up"),
    "module.absent": (INFO, "mlx5_core {bus}: Port module event: module 0, Cable unplugged"),
    "module.present": (INFO, "mlx5_core {bus}: Port module event: module 0, Cable plugged"),
}
_GPUS: dict[str, tuple[tuple[int, str], ...]] = {
    "card.fell_off": (
        (ERROR, "NVRM: Xid (PCI:{short}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        (ERROR, "NVRM: GPU {bus}: GPU has fallen off the bus."),
    ),
    "card.uncorrectable": ((ERROR, "NVRM: Xid (PCI:{short}): 48, pid='<unknown>', name=<unknown>, DBE (double bit error) ECC error"),),
}
_NPUS: dict[str, tuple[tuple[int, str], ...]] = {
    "card.fell_off": (
        (INFO, "pcieport {bus}: pciehp: Slot({slot}): Card not present"),
        (ERROR, "devdrv_device_driver {bus}: device {slot}: heart beat lost, it is not on the bus any more"),
    ),
}

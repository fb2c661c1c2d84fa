"""The replay formats `nvidia-smi`, whatever view was recorded, and this plugin's part of `kernel-log`."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import Reading, Source, Topology
from supernoded_nvidia.cards import read_loss, read_sheet
from supernoded_nvidia.document import Sheet, parse_table, parse_text, parse_xml
from supernoded_nvidia.kernel import OFF_BUS, Driver, read_flags
from supernoded_nvidia.losses import find_losses
from supernoded_nvidia.nvlink import parse_errors, parse_status
from supernoded_nvidia.slots import Slots


def read_nvidia_smi(source: Source) -> Iterator[Reading]:
    """Documents, text, tables, links and fault lines, all at `source.at`. Cards are numbered in the order of the bus within one file."""
    text = source.data.decode(errors="replace")
    slots, sheets = Slots(source.node, Topology(), {}), _list_sheets(text)
    slots.learn([sheet.bus for sheet in sheets], None, {sheet.bus: sheet.facts.get("uuid", "") for sheet in sheets})
    lost = find_losses(text)
    for bus, why in lost.items():
        yield from read_loss(slots.subject(bus), why, source.at)
    for sheet in sheets:
        if sheet.bus not in lost:
            yield from read_sheet(sheet, slots.subject(sheet.bus), source.at)
    yield from parse_status(text, slots.subject_by_uuid, source.at)
    yield from parse_errors(text, slots.subject_by_uuid, source.at)


def _list_sheets(text: str) -> list[Sheet]:
    """Each card once, by the view that shows most."""
    sheets: dict[str, Sheet] = {}
    for view in (parse_xml(text).sheets if "<nvidia_smi_log" in text else (), parse_text(text), parse_table(text)):
        for sheet in view:
            sheets.setdefault(sheet.bus, sheet)
    return list(sheets.values())


def read_kernel_log(source: Source) -> Iterator[Reading]:
    """What the driver said of cards, each one once with all its flags, at `source.at`: stamps without a year are not believed."""
    cards: dict[str, dict[int, str]] = {}
    for fault in Driver().read(source.data.decode(errors="replace").splitlines()):
        cards.setdefault(fault.bus, {})[fault.xid] = fault.text
    slots = Slots(source.node, Topology(), {})
    for bus, flags in cards.items():
        text = flags.get(OFF_BUS) or next(iter(flags.values()))
        yield from read_flags(slots.subject(bus), flags, text, source.at)

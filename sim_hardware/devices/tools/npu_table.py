"""The table of `npu-smi info`: two rows a card."""

from __future__ import annotations

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.gauges import find_bus, read_flags, read_number, read_text, show, touch

VERSION = "25.3.0"
MEGA = 2.0**20
_WIDTHS = (27, 15, 52)
_THIN = "+" + "+".join("-" * width for width in _WIDTHS) + "+\n"
_THICK = "+" + "+".join("=" * width for width in _WIDTHS) + "+\n"
_FULL = "+" + "-" * (sum(_WIDTHS) + 2) + "+\n"


def print_table(panel: Panel, node: str, present: list[int]) -> str:
    """All cards that are on the bus, and their processes. Raises StuckError when one of them hangs."""
    title = f" npu-smi {VERSION:<24} Version: {VERSION}"
    head = _print_row(("NPU   Name", "Health", f"{'Power(W)':<11} {'Temp(C)':<17} Hugepages-Usage(page)"))
    head += _print_row(("Chip  Phy-ID", "Bus-Id", f"{'AICore(%)':<11} {'Memory-Usage(MB)':<17} HBM-Usage(MB)"))
    cards = "".join(_print_card(panel, touch(panel, f"{node}/card{slot}"), slot) + _THICK for slot in present)
    processes = "".join(_print_processes(panel, f"{node}/card{slot}", slot) + _THICK for slot in present)
    names = _print_row(("NPU     Chip", "Process id", f"{'Process name':<24} | Process memory(MB)"))
    return _FULL + f"|{title:<96}|\n" + _THIN + head + _THICK + cards + _THIN + names + _THICK + processes


def _print_row(cells: tuple[str, str, str]) -> str:
    return "|" + "|".join(f" {cell:<{width - 1}}" for cell, width in zip(cells, _WIDTHS, strict=True)) + "|\n"


def _print_card(panel: Panel, card: str, slot: int) -> str:
    codes = read_flags(panel, card, "card.health")
    health = "NA" if codes is None else "Alarm" if codes else "OK"
    power = show(read_number(panel, card, "card.power"), ".1f", "-")
    celsius = show(read_number(panel, card, "card.temperature"), missing="-")
    used, total = read_number(panel, card, "card.memory_used"), read_number(panel, card, "card.memory_total")
    hbm = f"{show(used and used / MEGA, missing='-'):<5}/ {show(total and total / MEGA, missing='-')}"
    share = show(read_number(panel, card, "card.utilisation"), missing="-")
    first = (f"{slot:<5} {read_text(panel, card, 'card.chip'):<19}", health, f"{power:<11} {celsius:<17} {'0':<5}/ 0")
    none = f"{'0':<5}/ 0"
    return _print_row(first) + _print_row((f"{'0':<5} {slot}", find_bus(slot), f"{share:<11} {none:<17} {hbm}"))


def _print_processes(panel: Panel, card: str, slot: int) -> str:
    """A job holds some tens of GB; a driver alone a few."""
    used = read_number(panel, card, "card.memory_used")
    if used is None or used / MEGA < 8192.0:
        return f"| {f'No running processes found in NPU {slot}':<95}|\n"
    return _print_row((f"{slot:<7} 0", f"{40_000 + slot}", f"{'python3':<24} | {used / MEGA - 3072.0:.0f}"))

"""`npu-smi`: the table of all cards, and one property of one card."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.arguments import UsageError, parse, parse_slot
from sim_hardware.devices.tools.gauges import (
    count_cards,
    find_bus,
    find_present,
    is_present,
    read_flags,
    read_number,
    read_text,
    show,
    touch,
)
from sim_hardware.devices.tools.npu_table import VERSION, print_table
from sim_hardware.devices.tools.words import Run, ToolState
from sim_hardware.plant.cards.orders import ResetCard
from sim_hardware.plant.words import OrderError

Rows = list[tuple[str, str]]
MEGA = 2.0**20
CARD_S, TABLE_S = 0.06, 0.12  # a query of one card, and of the driver; ours
USAGE = """Usage: npu-smi info
       npu-smi info -m
       npu-smi info -t board|ecc|health|power|temp|usages -i CARD [-c 0]
       npu-smi set -t reset -i CARD -c 0
       npu-smi -v
"""


def npu_smi(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """What the vendor's tool prints. Codes: 0, or 1 for wrong arguments and for a card that is not there."""
    try:
        return _run(list(argv), panel, node)
    except UsageError as error:
        return Run(1, f"Error parameter of {error}\n{USAGE}", seconds=0.02)


def _run(argv: list[str], panel: Panel, node: str) -> Run:
    if argv == ["-v"]:
        return Run(0, f"npu-smi version: {VERSION}\n", seconds=0.02)
    if not argv or argv[0] not in {"info", "set"}:
        raise UsageError(argv[0] if argv else "nothing")
    options = parse(argv[1:], frozenset({"-t", "-i", "-c"}), frozenset({"-m"}))
    if argv[0] == "set":
        return _reset(options, panel, node)
    if options and options != {"-m": ""}:
        return _print_card(options, panel, node)
    present = find_present(panel, node)
    if options:
        return Run(0, _print_mapping(panel, node, present), seconds=TABLE_S)
    return Run(0, print_table(panel, node, present), seconds=TABLE_S + CARD_S * len(present))


def _find_slot(options: dict[str, str], panel: Panel, node: str) -> int:
    if options.get("-c", "0") != "0":
        raise UsageError(f"-c {options['-c']}")
    return parse_slot(options.get("-i", "nothing"), count_cards(panel, node))


def _print_card(options: dict[str, str], panel: Panel, node: str) -> Run:
    kind = options.get("-t", "nothing")
    if kind not in _KINDS or "-m" in options:
        raise UsageError(f"-t {kind}")
    slot = _find_slot(options, panel, node)
    if not is_present(panel, node, slot):
        return Run(1, f"Failed to get the {kind} of NPU {slot}: the device does not exist. ret is -8010\n", seconds=CARD_S)
    rows = _KINDS[kind](panel, touch(panel, f"{node}/card{slot}"), slot)
    head, tail = [("NPU ID", f"{slot}"), ("Chip Count", "1")], [("Chip ID", "0")]
    if "-c" in options:
        text = print_rows(rows)
    elif kind == "board":
        text = print_rows([head[0], *rows, head[1]])
    else:
        text = print_rows(head) + "\n" + print_rows([*rows, *tail])
    return Run(0, text, seconds=CARD_S)


def print_rows(rows: Rows) -> str:
    """Names and values, a line each."""
    return "".join(f"\t{name:<31}: {value}\n" for name, value in rows)


def _reset(options: dict[str, str], panel: Panel, node: str) -> Run:
    if options.get("-t") != "reset" or "-m" in options:
        raise UsageError(f"-t {options.get('-t', 'nothing')}")
    slot = _find_slot(options, panel, node)
    try:
        panel.order(ResetCard(f"{node}/card{slot}"))
    except OrderError as error:
        return Run(1, f"Failed to reset NPU {slot}: {error}. ret is -8010\n", seconds=CARD_S)
    return Run(0, print_rows([("Status", "OK"), ("Message", f"The reset of NPU {slot} has begun")]), seconds=CARD_S)


def _print_mapping(panel: Panel, node: str, present: list[int]) -> str:
    rows = [("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")]
    rows += [(f"{slot}", "0", f"{slot}", read_text(panel, f"{node}/card{slot}", "card.chip")) for slot in present]
    return "".join("\t" + "".join(f"{cell:<31}" for cell in row[:3]) + row[3] + "\n" for row in rows)


def _list_health(panel: Panel, card: str, _slot: int) -> Rows:
    codes = read_flags(panel, card, "card.health")
    if codes is None:
        return [("Health Status", "NA"), ("Error Code", "NA"), ("Error Information", "NA")]
    if not codes:
        return [("Health Status", "OK"), ("Error Code", "NA"), ("Error Information", "NA")]
    listed = ", ".join(sorted(codes))
    return [("Health Status", "Alarm"), ("Error Code", listed), ("Error Information", f"{len(codes)} fault events present")]


def _list_ecc(panel: Panel, card: str, _slot: int) -> Rows:
    single = show(read_number(panel, card, "card.ecc_corrected"))
    double = show(read_number(panel, card, "card.ecc_uncorrectable"))
    return [
        ("DDR Single Bit Error Count", "0"),
        ("DDR Double Bit Error Count", "0"),
        ("HBM Single Bit Error Count", single),
        ("HBM Double Bit Error Count", double),
        ("HBM Single Bit Aggregate Total Err Cnt", single),
        ("HBM Double Bit Aggregate Total Err Cnt", double),
        ("HBM Single Bit Isolated Pages Count", "0"),
        ("HBM Double Bit Isolated Pages Count", double),
    ]


def _list_usages(panel: Panel, card: str, _slot: int) -> Rows:
    total, used = read_number(panel, card, "card.memory_total"), read_number(panel, card, "card.memory_used")
    share = 100.0 * used / total if total and used is not None else None
    return [
        ("HBM Capacity(MB)", show(total and total / MEGA)),
        ("HBM Usage Rate(%)", show(share)),
        ("Aicore Usage Rate(%)", show(read_number(panel, card, "card.utilisation"))),
        ("Aicpu Usage Rate(%)", "0"),
        ("Ctrlcpu Usage Rate(%)", "1"),
        ("HBM Bandwidth Usage Rate(%)", "0"),
    ]


def _list_power(panel: Panel, card: str, _slot: int) -> Rows:
    return [("Power Dissipation(W)", show(read_number(panel, card, "card.power"), ".1f"))]


def _list_temperature(panel: Panel, card: str, _slot: int) -> Rows:
    return [("NPU Temperature (C)", show(read_number(panel, card, "card.temperature")))]


def _list_board(panel: Panel, card: str, slot: int) -> Rows:
    return [
        ("Product Name", read_text(panel, card, "card.chip")),
        ("Model", "NA"),
        ("Serial Number", read_text(panel, card, "card.serial")),
        ("Software Version", VERSION),
        ("Firmware Version", read_text(panel, card, "card.firmware")),
        ("Compatibility", "OK"),
        ("PCIe Bus Info", find_bus(slot)),
        ("Slot ID", f"{slot}"),
        ("PCI Vendor ID", "0x19E5"),
    ]


_KINDS: dict[str, Callable[[Panel, str, int], Rows]] = {
    "board": _list_board,
    "ecc": _list_ecc,
    "health": _list_health,
    "power": _list_power,
    "temp": _list_temperature,
    "usages": _list_usages,
}

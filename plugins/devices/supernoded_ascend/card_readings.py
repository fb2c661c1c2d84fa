"""What `npu-smi` says of a card, as readings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from supernoded.plugin import Reading, Value, make_reading, quote
from supernoded_ascend.making import NOTHING, list_lines, read_number, split_rows
from supernoded_ascend.npu_table import Chip

MIB = 2.0**20  # the tool's MB: 65536 of them are the 64 GiB of a card
MOST_CODES = 128
NO_MEMORY = "no memory of any size is printed"

ALARMS = frozenset({"alarm", "warning", "critical"})  # words of the health column besides OK
_USAGE = re.compile(r"(?P<used>\d{1,9})\s*/\s*(?P<total>\d{1,9})", re.ASCII)
_CODE = re.compile(r"\b(?:0x)?(?P<code>[0-9a-f]{8,9})\b", re.ASCII | re.IGNORECASE)
_MISSING = frozenset({"", "-", "na", "n/a", "unknown"})

# Counts of `-t ecc`, since the card was started, of all its memories.
_ERRORS = {"card.errors_corrected": "single bit error count", "card.errors_uncorrected": "double bit error count"}


def read_chip(chip: Chip, at: float, subject: str) -> list[Reading]:
    """The table's two rows."""
    watts, no_watts = _read_cell(chip.values, "power(w)")
    celsius, no_celsius = _read_cell(chip.values, "temp(c)")
    share, no_share = _read_cell(chip.values, "aicore(%)")
    health, note = read_health(chip.values.get("health", ""), "")
    return [
        make_reading(subject, "card.present", 1.0, "1", at),
        make_reading(subject, "card.health", health, "flags", at, note),
        make_reading(subject, "card.chip", chip.name.lower() or None, "text", at, "" if chip.name else NOTHING),
        _make_power(watts, no_watts, at, subject),
        make_reading(subject, "card.temperature", celsius, "C", at, no_celsius),
        make_reading(subject, "card.utilisation", share, "%", at, no_share),
        *_read_memory(chip.values, at, subject),
    ]


def _make_power(watts: float | None, note: str, at: float, subject: str) -> Reading:
    """A chip that answers takes some: small modules print 0.0 and do not measure."""
    return make_reading(subject, "card.power", watts or None, "W", at, "0.0 W: it does not measure its power" if watts == 0.0 else note)


def _read_cell(values: Mapping[str, str], name: str) -> tuple[float | None, str]:
    text = values.get(name, "")
    return (None, f"the tool prints {quote(text)}") if text.lower() in _MISSING else read_number(text)


def _read_memory(values: Mapping[str, str], at: float, subject: str) -> Iterator[Reading]:
    """HBM, on a card that has some, else its DDR."""
    found = [match for name in ("hbm-usage(mb)", "memory-usage(mb)") if (match := _USAGE.fullmatch(values.get(name, "")))]
    told = next((match for match in found if int(match["total"])), None)
    for quantity, group in (("card.memory_used", "used"), ("card.memory_total", "total")):
        value = None if told is None else int(told[group]) * MIB
        yield make_reading(subject, quantity, value, "B", at, "" if told else NO_MEMORY)


def read_health(word: str, codes: str) -> tuple[frozenset[str] | None, str]:
    """The fault codes as flags; without codes the word itself; none of either for OK. A word that is not known is not OK."""
    found = frozenset(match["code"].upper() for match in _CODE.finditer(codes))
    word = word.strip().lower()
    if found:
        kept = frozenset(sorted(found)[:MOST_CODES])
        return kept, "" if len(found) <= MOST_CODES else f"{len(found)} codes, of which {MOST_CODES} are kept"
    if codes.strip().lower() not in _MISSING:
        return (frozenset({word}) if word in ALARMS else None), f"codes not understood: {quote(codes.strip())}"
    if word == "ok":
        return frozenset(), ""
    return (frozenset({word}), "") if word in ALARMS else (None, f"the tool prints {quote(word)}" if word else NOTHING)


def parse_health(text: str, at: float, subject: str) -> list[Reading]:
    """`-t health`: codes over one or several lines; the first line of their description becomes the note."""
    rows = split_rows(list_lines(text))
    codes = " ".join(_gather(text, "error code"))
    health, note = read_health(rows.get("health status", ""), codes)
    told = rows.get("error information", "")
    return [make_reading(subject, "card.health", health, "flags", at, note or (told if told.lower() not in _MISSING else ""))]


def parse_ecc(text: str, at: float, subject: str) -> list[Reading]:
    """`-t ecc`: single and double bit errors of all memories that count them."""
    rows = split_rows(list_lines(text))
    return [_add_errors(rows, quantity, ending, at, subject) for quantity, ending in _ERRORS.items()]


def _add_errors(rows: Mapping[str, str], quantity: str, ending: str, at: float, subject: str) -> Reading:
    """Memories that do not count are left out; one whose count cannot be read leaves no sum: half a sum is none."""
    texts = [value for name, value in rows.items() if name.endswith(ending)]
    counts = [read_number(text)[0] for text in texts if text.lower() not in _MISSING]
    known = [count for count in counts if count is not None and count >= 0]
    total = sum(known) if known and len(known) == len(counts) else None
    note = "" if total is not None else f"the tool prints {quote(', '.join(texts))}" if texts else NOTHING
    return make_reading(subject, quantity, total, "1", at, note)


def parse_power(text: str, at: float, subject: str) -> list[Reading]:
    """`-t power`: the one row that is in watts."""
    rows = split_rows(list_lines(text))
    watts, note = _read_cell(rows, next((name for name in rows if "power" in name and name.endswith("(w)")), ""))
    return [_make_power(watts, note, at, subject)]


def parse_temperature(text: str, at: float, subject: str) -> list[Reading]:
    """`-t temp`: that of the chip, which is the first of several."""
    rows = split_rows(list_lines(text))
    celsius, note = _read_cell(rows, next((name for name in rows if "temperature" in name), ""))
    return [make_reading(subject, "card.temperature", celsius, "C", at, note)]


def parse_usages(text: str, at: float, subject: str) -> list[Reading]:
    """`-t usages`: capacity and share of the memory that the table shows, to a hundredth of it."""
    rows = split_rows(list_lines(text))
    share, note = _read_cell(rows, "aicore usage rate(%)")
    sizes = {kind: read_number(rows.get(f"{kind} capacity(mb)"))[0] for kind in ("hbm", "ddr")}
    kind = next((kind for kind, size in sizes.items() if size), "hbm")
    size, used = sizes[kind], read_number(rows.get(f"{kind} usage rate(%)"))[0]
    taken = None if size is None or used is None else size * MIB * used / 100.0
    return [
        make_reading(subject, "card.utilisation", share, "%", at, note),
        make_reading(subject, "card.memory_used", taken, "B", at, "" if taken is not None else "no share of the memory is printed"),
        make_reading(subject, "card.memory_total", size * MIB if size else None, "B", at, "" if size else NO_MEMORY),
    ]


def parse_board(text: str, at: float, subject: str) -> list[Reading]:
    """`-t board`: the serial number, as it is printed."""
    serial = split_rows(list_lines(text)).get("serial number", "")
    value: Value = None if serial.lower() in _MISSING else serial
    return [
        make_reading(subject, "card.serial", value, "text", at, "" if value else f"the tool prints {quote(serial)}" if serial else NOTHING)
    ]


def _gather(text: str, name: str) -> Iterator[str]:
    """The value of a row and of the lines below it that have no name of their own."""
    inside = False
    for line in list_lines(text):
        head, colon, tail = line.partition(":")
        if colon:
            inside = " ".join(head.lower().split()) == name
        if inside:
            yield (tail if colon else line).strip()

"""`hccn_tool -stat`: totals of a port, 64 bits wide, as the device gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Reading, make_reading, quote
from supernoded_ascend.making import NOTHING, list_lines

OCTET = 8.0  # bits
CEILING = 2**64 - 1
MOST_OTHERS = 200  # counters of the vendor's own; a port has some 80

_ROW = re.compile(r"\s*(?P<name>[a-z][a-z0-9_]{0,59})\s*:\s*(?P<value>\S.{0,60}?)?\s*", re.ASCII)


class Total(msgspec.Struct, frozen=True):
    """A quantity, and the counters that it is made of."""

    quantity: str
    names: tuple[str, ...]
    unit: str = "1"
    factor: float = 1.0
    add: bool = True  # False: they count the same things, the greatest counts


TOTALS: Sequence[Total] = (
    Total("link.bits", ("mac_rx_total_oct_num",), "bit", OCTET),  # errors are counted on what was received
    Total("x.ascend.sent_bits", ("mac_tx_total_oct_num",), "bit", OCTET),
    # A frame whose check sum is wrong is a bad one: which contains which is nowhere said, so none is counted twice.
    Total("link.receive_errors", ("mac_rx_bad_pkt_num", "mac_rx_fcs_err_pkt_num"), add=False),
    Total("link.discards", ("roce_rx_err_pkt_num",)),  # what RoCE received and threw away
    Total("link.retransmits", ("roce_new_pkt_rty_num",)),
    Total("link.pauses_sent", ("mac_tx_mac_pause_num", "mac_tx_pfc_pkt_num")),  # of the whole link, and of priorities
    Total("link.pauses_received", ("mac_rx_mac_pause_num", "mac_rx_pfc_pkt_num")),
    Total("link.cnp_sent", ("roce_tx_cnp_pkt_num",)),
    Total("link.cnp_received", ("roce_rx_cnp_pkt_num",)),
)
# Given under their own names as well: the parts of a sum tell more than it.
_PARTS = ("mac_rx_fcs_err_pkt_num", "mac_tx_mac_pause_num", "mac_rx_mac_pause_num")
_TAKEN = {name for total in TOTALS for name in total.names} - set(_PARTS)


def parse_stat(text: str, at: float, subject: str) -> list[Reading]:
    """Every counter that is printed; without any, one UNKNOWN."""
    found = (_ROW.fullmatch(line) for line in list_lines(text))
    rows = {match["name"]: match["value"] or "" for match in found if match}
    readings = [*_make_totals(rows, at, subject), *_make_others(rows, at, subject)]
    return readings or [make_reading(subject, "link.receive_errors", None, "1", at, NOTHING)]


def _make_totals(rows: Mapping[str, str], at: float, subject: str) -> Iterator[Reading]:
    for total in TOTALS:
        parts = [_measure(rows[name]) for name in total.names if name in rows]
        if parts:
            note = next((why for _, why in parts if why), "")
            counts = [count for count, _ in parts]
            value = None if note else (sum(counts) if total.add else max(counts)) * total.factor
            yield make_reading(subject, total.quantity, value, total.unit, at, note)


def _make_others(rows: Mapping[str, str], at: float, subject: str) -> Iterator[Reading]:
    for name in [name for name in rows if name not in _TAKEN][:MOST_OTHERS]:
        count, note = _measure(rows[name])
        yield make_reading(subject, f"x.ascend.{name}", None if note else count, "1", at, note)


def _measure(text: str) -> tuple[float, str]:
    """A count, or 0 and the reason why it is none."""
    if not text.isascii() or not text.isdigit() or len(text) > len(str(CEILING)) or int(text) > CEILING:
        return 0.0, f"no count: {quote(text)}"
    if int(text) == CEILING:
        return 0.0, f"saturated, cannot measure ({text} is the ceiling of 64 bits; reset it)"
    return float(text), ""

"""`ethtool -S`: the driver's own counters, under the names of common drivers (mlx5, ice, i40e, bnxt, hns3). Pure.

For each quantity there are several names or groups of names. The first that is there counts, and a group is summed, as with pauses by
priority.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from supernoded.plugin import Reading, make_reading
from supernoded_fabric.counters import Counter, measure
from supernoded_fabric.making import list_lines

KNOWN_NAMES = 4_096  # of counters; a driver has some 1,500, most of them of queues

_LANE = re.compile(r"rx_err_lane_(?P<lane>\d{1,2})_phy", re.ASCII)
_PRIORITY = r"(?:prio|priority_|pri|pfc_pri)\d{1,2}"


class Choice(msgspec.Struct, frozen=True):
    """A quantity and the patterns of its names, the best first."""

    counter: Counter
    patterns: tuple[re.Pattern[str], ...]


def _choose(quantity: str, *patterns: str, unit: str = "1", factor: int = 1) -> Choice:
    return Choice(Counter(quantity, 64, unit, factor), tuple(re.compile(pattern, re.ASCII) for pattern in patterns))


def _choose_pauses(quantity: str, way: str, short: str) -> Choice:
    """Whole totals before those by priority: they count the same frames."""
    by_priority = (rf"{way}_{_PRIORITY}_pause", rf"(?:port\.)?{way}_{_PRIORITY}_xoff(?:\.nic)?", rf"pfc_pri\d{{1,2}}_{way}_transitions")
    whole = (rf"{way}_pause_ctrl_phy", rf"mac_{short}_mac_pause_num|mac_{short}_pfc_pkt_num", rf"{way}_pause_frames|{way}_pfc_frames")
    return _choose(
        quantity, *whole, rf"{way}_global_pause|{by_priority[0]}", rf"(?:port\.)?link_xoff_{way}(?:\.nic)?|{by_priority[1]}", by_priority[2]
    )


CHOICES = (
    _choose("link.bits", "rx_bytes_phy", r"port\.rx_bytes|rx_bytes\.nic", "mac_rx_total_oct_num", unit="bit", factor=8),
    _choose("link.symbol_errors", "rx_pcs_symbol_err_phy", "rx_symbol_err_phy", "rx_pcs_symbol_err", r"(?:rx_)?symbol_err(?:or)?s?"),
    _choose("link.fec.corrected", "rx_corrected_bits_phy", "rx_corrected_bits", r"(?:rx_)?fec_corrected_bits"),
    _choose(
        "link.fec.uncorrected",
        r"(?:rx_|port\.|mac_)*(?:rs_?)?fec_uncorrect(?:able|ed)(?:_(?:blocks?|cws?|codewords?|errs?|errors?))?(?:\.nic|_phy)?",
    ),
    _choose("link.downed", "link_down_events_phy", "link_down_events"),
    _choose(
        "link.receive_errors", "rx_crc_errors_phy", r"(?:port\.)?rx_crc_errors(?:\.nic)?", "mac_rx_fcs_err_pkt_num", "rx_fcs_err_frames"
    ),
    _choose(
        "link.discards",
        "[rt]x_discards_phy",
        r"port\.[rt]x_(?:discards|dropped_link_down)|[rt]x_dropped(?:_link_down)?\.nic",
        "[rt]x_discard_pkts",
    ),
    _choose_pauses("link.pauses_received", "rx", "rx"),
    _choose_pauses("link.pauses_sent", "tx", "tx"),
    _choose("link.ecn_marked", "rx_ecn_mark", "rx_ecn_marked_pkts"),
    _choose("link.cnp_sent", "tx_cnp_pkts"),
    _choose("link.cnp_received", "rx_cnp_pkts"),
    _choose("x.ethernet.fec_corrected_blocks", r"(?:rx_)?(?:rs)?fec_corrected(?:_(?:blocks|cw|codewords))?"),
    _choose("x.ethernet.pci_signal_integrity", "[rt]x_pci_signal_integrity"),
    _choose("x.ethernet.rx_buffer_passed_thres", "rx_buffer_passed_thres_phy"),
)


def parse_statistics(text: str, at: float, subject: str) -> list[Reading]:
    """Every counter that means something here; what else the driver counts is ignored."""
    parts = (line.partition(":") for line in list_lines(text))
    rows = {name.strip(): value.strip() for name, colon, value in parts if colon and value.strip()}
    return [*_list_counters(rows, at, subject), *_list_lanes(rows, at, subject)]


def _list_counters(rows: Mapping[str, str], at: float, subject: str) -> Iterator[Reading]:
    found: dict[int, dict[int, list[str]]] = {}  # texts by choice and pattern
    for name, text in rows.items():
        for choice, pattern in find_places(name):
            found.setdefault(choice, {}).setdefault(pattern, []).append(text)
    for choice in sorted(found):
        yield _sum(CHOICES[choice].counter, found[choice][min(found[choice])], at, subject)


@lru_cache(maxsize=KNOWN_NAMES)
def find_places(name: str) -> Sequence[tuple[int, int]]:
    """The numbers of the choices that a name belongs to, and of the patterns of each; kept, for a driver has the same names each time."""
    return [
        (number, place) for number, choice in enumerate(CHOICES) for place, pattern in enumerate(choice.patterns) if pattern.fullmatch(name)
    ]


def _sum(counter: Counter, texts: list[str], at: float, subject: str) -> Reading:
    """UNKNOWN as soon as one of them is no number: half a sum is none."""
    total = 0.0
    for text in texts:
        value, note = measure(counter, text)
        if not isinstance(value, float):
            return make_reading(subject, counter.quantity, None, counter.unit, at, note)
        total += value
    return make_reading(subject, counter.quantity, total, counter.unit, at)


def _list_lanes(rows: Mapping[str, str], at: float, subject: str) -> Iterator[Reading]:
    for name, text in rows.items():
        lane = _LANE.fullmatch(name)
        if lane is not None:
            yield _sum(Counter("link.fec.corrected"), [text], at, f"{subject}/lane{int(lane['lane'])}")

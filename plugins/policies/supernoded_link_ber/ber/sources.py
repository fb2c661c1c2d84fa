"""What counts errors, how near it stands to what the user of a link feels, and which bits it looks at.

*Counters of the line* (symbols, corrected blocks) see every symbol, idle ones too: their exposure is speed x time, whatever the traffic.
*Counters of packets* see what is received: their exposure is the bits counted. The nearer to the user, the better the rank: what
is left after correction decides, a word about symbols does not overrule it. *Bare rates* come last: one that is above the limit
proves errors, but one of a few seconds, or an average of years, never proves that there were none.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

BITS, SPEED, STATE = "link.bits", "link.speed", "link.state"
POST_FEC, PRE_FEC, FEC = "link.ber.post_fec", "link.ber.pre_fec", "link.fec"
RATES = frozenset({POST_FEC, PRE_FEC})  # bare numbers, no totals
NO_FEC = frozenset({"none", "off", "no", "no fec", "no fec mode", "no-fec", "disabled"})  # words for a link without correction


class Counter(NamedTuple):
    """One quantity that counts errors."""

    name: str
    rank: int  # 0 is the best
    on_line: bool = True  # it sees the whole line, not received packets only
    worth: float = 1.0  # wrong bits that one of its errors stands for


# A block that RS(544,514) cannot correct has more than 15 wrong symbols, so 16 wrong bits or more (IEEE 802.3 clause 91).
COUNTERS: Mapping[str, Counter] = MappingProxyType(
    {
        "link.effective_errors": Counter("effective errors", 0),
        POST_FEC: Counter("errors after correction", 8),
        PRE_FEC: Counter("errors of a link without correction", 9),
        "link.fec.uncorrected": Counter("uncorrectable blocks", 1, worth=16.0),
        "link.symbol_errors": Counter("symbol errors", 2),
        "link.receive_errors": Counter("receive errors", 3, on_line=False),
    }
)

VOUCHING = 3  # ranks below this one see the line itself

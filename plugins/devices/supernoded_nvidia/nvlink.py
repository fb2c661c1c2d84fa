"""`nvidia-smi nvlink -s` and `-e`: the links of each card. Pure; nothing here raises for bad text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from supernoded.plugin import Reading, make_reading
from supernoded_nvidia.values import add_up, is_no_value, measure, say_missing

Card = Callable[[int, str], str]  # the tool's number of a card, and its UUID -> subject

LINKS_UP = "x.nvidia.links_up"  # of a card; 0 where it has none, or all are off
BITS = 8.0  # in a byte: the tool prints GB/s
IMMEASURABLE = 1e-100  # a rate below this is the tool's way to say none: 15e-255, 15e-238
NO_LINKS = "all links are inactive"

# The counters of `-e`, as drivers have called them; several of one quantity are added up.
COUNTERS = {
    "replay errors": "link.retransmits",
    "recovery errors": "link.recoveries",
    "total link recovery events": "link.recoveries",
    "link recovery failed events": "x.nvidia.recoveries_failed",
    "crc errors": "link.receive_errors",
    "crc flit errors": "link.receive_errors",
    "crc data errors": "link.receive_errors",
    "rx errors": "link.receive_errors",
    "tx discards": "link.discards",
    "effective errors": "link.effective_errors",
    "symbol errors": "link.symbol_errors",
}
RATES = {"effective ber": "link.ber.post_fec", "symbol ber": "x.nvidia.symbol_ber"}

_CARD = re.compile(r"GPU\s+(?P<number>\d{1,4})\s*:(?:.*\(UUID:\s*(?P<uuid>[^)\s]{1,80})\s*\))?.*", re.ASCII | re.IGNORECASE)
_LINK = re.compile(r"Link\s+(?P<link>\d{1,4})\s*:\s*(?P<rest>.*)", re.ASCII | re.IGNORECASE)
_COUNTER = re.compile(r"(?P<name>[^:]{1,60}?)\s*:\s*(?P<value>[^:]*)")
_OFF = frozenset({"inactive", "down", "off"})


def _list_lines(text: str, card: Card) -> Iterator[tuple[str, int | None, str]]:
    """Each line of a card: the card, the link if it is a link's, and the rest."""
    subject = ""
    for line in text.splitlines():
        header, link = _CARD.fullmatch(line.strip()), _LINK.fullmatch(line.strip())
        if header is not None:
            subject = card(int(header["number"]), header["uuid"] or "")
            yield subject, None, ""
        elif subject and link is not None:
            yield subject, int(link["link"]), link["rest"].strip()
        elif subject:
            yield subject, None, line.strip()


def parse_status(text: str, card: Card, at: float) -> Iterator[Reading]:
    """State and speed of each link that the tool lists. Where it lists none there is none, or none in use: that is no link that is down."""
    up: dict[str, int] = {}
    for subject, link, rest in _list_lines(text, card):
        if link is None:
            if NO_LINKS in rest.casefold():
                up.setdefault(subject, 0)
            continue
        readings = list(_read_status(f"{subject}/nvlink{link}", rest, at))
        up[subject] = up.get(subject, 0) + (readings[0].value == 1.0)
        yield from readings
    yield from (make_reading(subject, LINKS_UP, float(count), "1", at) for subject, count in up.items())


def _read_status(subject: str, text: str, at: float) -> Iterator[Reading]:
    gigabytes, word = measure(text, "GB/s"), text.strip("<>[] ").casefold()
    if gigabytes is not None and gigabytes > 0:
        yield make_reading(subject, "link.state", 1.0, "1", at)
        yield make_reading(subject, "link.speed", gigabytes * BITS, "Gb/s", at)
    elif word in _OFF:
        yield make_reading(subject, "link.state", 0.0, "1", at, word)
        yield make_reading(subject, "link.speed", None, "Gb/s", at, f"the link is {word}")
    else:
        yield make_reading(subject, "link.state", None, "1", at, say_missing(text))


def parse_errors(text: str, card: Card, at: float) -> Iterator[Reading]:
    """Totals and error rates of each link. Counts of corrected code words (`FEC Errors - 0`) are no errors, and are not read."""
    links: dict[str, dict[str, list[str]]] = {}
    for subject, link, rest in _list_lines(text, card):
        told = _COUNTER.fullmatch(rest) if link is not None else None
        quantity = _find_quantity(told["name"]) if told is not None else ""
        if told is not None and quantity:
            links.setdefault(f"{subject}/nvlink{link}", {}).setdefault(quantity, []).append(told["value"])
    for subject, counters in links.items():
        yield from _read_counters(subject, counters, at)


def _find_quantity(name: str) -> str:
    return COUNTERS.get(name.strip().casefold()) or RATES.get(name.strip().casefold(), "")


def _read_counters(subject: str, counters: Mapping[str, list[str]], at: float) -> Iterator[Reading]:
    for quantity, texts in counters.items():
        if quantity in RATES.values():
            rate = measure(texts[0], "")
            value = None if rate is None or rate < 0 or is_no_value(texts[0]) else 0.0 if rate < IMMEASURABLE else rate
            yield make_reading(subject, quantity, value, "1", at, "" if value is not None else say_missing(texts[0]))
        else:
            total, note = add_up(texts)
            yield make_reading(subject, quantity, total, "1", at, note)

"""`hccn_tool -optical`: the module in a port, and each of its lanes. It judges nothing: what contradicts itself is given twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Reading, make_reading, quote
from supernoded_ascend.making import NOTHING, list_lines, read_number, split_rows

MOST_LANES = 16

_LIMITS = (".low", ".high")  # stand in a page of a module that is not there as well
_LANE = re.compile(r"(?P<name>tx power|rx power|tx bias|host snr lane|media snr lane)\s?(?P<lane>\d{1,2})", re.ASCII)
_MASK = re.compile(r"0x[0-9a-f]{1,8}|\d{1,8}", re.ASCII)


class Lanes(msgspec.Struct, frozen=True):
    """A quantity of lanes, and which of them the whole module has."""

    quantity: str
    unit: str
    whole: Callable[[list[float]], float] | None = min


class Fact(msgspec.Struct, frozen=True):
    """A row of the module."""

    quantity: str
    unit: str
    printed: str  # the unit it is printed in
    divisor: float = 1.0


LANES: Mapping[str, Lanes] = {
    "tx power": Lanes("link.tx_power", "mW"),
    "rx power": Lanes("link.rx_power", "mW"),
    "tx bias": Lanes("link.bias", "mA", max),
    "media snr lane": Lanes("link.snr", "dB"),
    "host snr lane": Lanes("x.ascend.host_snr", "dB", None),
}
FACTS: Mapping[str, Fact] = {
    "temperature": Fact("link.temperature", "C", "C"),
    "temp high thres": Fact("link.temperature.high", "C", "C"),
    "temp low thres": Fact("link.temperature.low", "C", "C"),
    "vcc": Fact("link.voltage", "V", "mV", 1000.0),
    "vcc high thres": Fact("link.voltage.high", "V", "mV", 1000.0),
    "vcc low thres": Fact("link.voltage.low", "V", "mV", 1000.0),
    "txpower high thres": Fact("link.tx_power.high", "mW", "mW"),
    "txpower low thres": Fact("link.tx_power.low", "mW", "mW"),
    "rxpower high thres": Fact("link.rx_power.high", "mW", "mW"),
    "rxpower low thres": Fact("link.rx_power.low", "mW", "mW"),
    "txbias high thres": Fact("link.bias.high", "mA", "mA"),
    "txbias low thres": Fact("link.bias.low", "mA", "mA"),
}
MASKS = ("tx los", "rx los", "tx lol", "rx lol")  # bit n is lane n


def parse_optical(text: str, at: float, subject: str) -> list[Reading]:
    """The module's page."""
    rows = split_rows(list_lines(text))
    told = _list_told(rows)
    lanes = [reading for name, place in LANES.items() for reading in _read_lanes(told.get(name, ()), place, at, subject)]
    facts = [_read_fact(rows[name], fact, at, subject) for name, fact in FACTS.items() if name in rows]
    live = sum(reading.value is not None and not reading.quantity.endswith(_LIMITS) for reading in (*lanes, *facts))
    return [_read_presence(rows, live, at, subject), *facts, *lanes, *_read_masks(rows, _count_lanes(told), at, subject)]


def _read_presence(rows: Mapping[str, str], live: int, at: float, subject: str) -> Reading:
    word = rows.get("present")
    value = {"present": 1.0, "not present": 0.0}.get((word or "").lower())
    note = NOTHING if word is None else f"not understood: {quote(word)}" if value is None else ""
    if value == 0.0 and live:
        note = f"it says `not present`, yet {live} of its readings are live"
    return make_reading(subject, "link.present", value, "1", at, note)


def _read_fact(text: str, fact: Fact, at: float, subject: str) -> Reading:
    number, note = read_number(text, fact.printed)
    return make_reading(subject, fact.quantity, None if number is None else number / fact.divisor, fact.unit, at, note)


def _list_told(rows: Mapping[str, str]) -> Mapping[str, Sequence[tuple[int, str]]]:
    """Of each thing that lanes have: which lane, and what is told of it."""
    told: dict[str, list[tuple[int, str]]] = {}
    for row, text in rows.items():
        found = _LANE.fullmatch(row)
        if found is not None and int(found["lane"]) < MOST_LANES:
            told.setdefault(found["name"], []).append((int(found["lane"]), text))
    return told


def _count_lanes(told: Mapping[str, Sequence[tuple[int, str]]]) -> int:
    return 1 + max((lane for lanes in told.values() for lane, _ in lanes), default=-1)


def _read_lanes(told: Sequence[tuple[int, str]], lanes: Lanes, at: float, subject: str) -> Iterator[Reading]:
    """Each lane, then the port by the lanes that can be read."""
    known: list[float] = []
    blind: list[str] = []
    for lane, text in told:
        value, note = read_number(text, lanes.unit)
        yield make_reading(f"{subject}/lane{lane}", lanes.quantity, value, lanes.unit, at, note)
        if value is None:
            blind.append(f"lane {lane}: {note}")
        else:
            known.append(value)
    if lanes.whole is not None and (known or blind):
        yield make_reading(subject, lanes.quantity, lanes.whole(known) if known else None, lanes.unit, at, "; ".join(blind))


def _read_masks(rows: Mapping[str, str], lanes: int, at: float, subject: str) -> Iterator[Reading]:
    """The flags of the port and of each lane. One mask that cannot be read leaves no set of flags that is surely empty."""
    masks = {name.replace(" ", "-"): _read_mask(rows[row]) for name in MASKS if (row := f"{name} flag") in rows}
    blind = [f"{name} cannot be read" for name, mask in masks.items() if mask is None]
    for place, bits in ((subject, -1), *((f"{subject}/lane{lane}", 1 << lane) for lane in range(lanes))):
        raised = frozenset(name for name, mask in masks.items() if mask is not None and mask & bits)
        if masks:
            yield make_reading(place, "link.los", None if blind and not raised else raised, "flags", at, "; ".join(blind))


def _read_mask(text: str) -> int | None:
    return int(text, 0) if _MASK.fullmatch(text.lower()) and not re.fullmatch("0[0-9]+", text) else None

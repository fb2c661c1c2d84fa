"""`mlxlink`: the rows of one port to readings. A row that a firmware does not have is not missed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from supernoded.plugin import Reading, make_reading
from supernoded_fabric.counters import Counter, read_counter
from supernoded_fabric.making import explain, read_list, read_number, to_milliwatts
from supernoded_fabric.mlxlink_rates import list_rates
from supernoded_fabric.mlxlink_rows import Rows
from supernoded_fabric.optics import Lanes, Optics, list_optics

COUNTERS: Mapping[str, str] = {
    "symbol errors": "link.symbol_errors",
    "effective physical errors": "link.effective_errors",
    "link down counter": "link.downed",
    "link error recovery counter": "link.recoveries",
}
# Gb/s of a lane by the names of InfiniBand (IBTA; as the kernel's ib_rate_to_mbps rounds them).
LANE_SPEEDS: Mapping[str, float] = {
    "sdr": 2.5,
    "ddr": 5.0,
    "qdr": 10.0,
    "fdr10": 10.0,
    "fdr": 14.0,
    "edr": 25.0,
    "hdr": 50.0,
    "ndr": 100.0,
    "xdr": 200.0,
}
LOSS_ROWS: Mapping[str, tuple[str, ...]] = {
    "rx-los": ("rx los [per lane]", "rx loss of signal"),
    "tx-los": ("tx los [per lane]", "tx loss of signal"),
    "rx-lol": ("rx cdr lol [per lane]", "rx loss of lock"),
    "tx-lol": ("tx cdr lol [per lane]", "tx loss of lock"),
}
# How the states of a port begin that is not up, in words or by the name of a step of its training.
DOWN = re.compile(r"(?:rx |tx |port |phy )?(?:disable|polling|sleep|down|init|armed|closed?\b|training|(?:eth_|ib_)?an_)", re.ASCII)
ABSENT = re.compile(r"unplugged|no cable|no module|not (?:present|plugged)", re.IGNORECASE)
MOST_LANES = 16

_SPEED = re.compile(r"(?P<speed>\d{1,5}(?:\.\d{1,2})?)\s*G(?:b/?s|bE|E)?(?:_\d{1,2}x)?", re.ASCII | re.IGNORECASE)
_WIDTH = re.compile(r"(?P<width>\d{1,2})x", re.ASCII | re.IGNORECASE)
_RANGE = re.compile(r"(?P<low>[-+\d.eE]{1,20}?)\.\.(?P<high>[-+\d.eE]{1,20})\]", re.ASCII)


def read_port(rows: Rows, at: float, subject: str) -> list[Reading]:
    """Every reading of one port."""
    found = [*_list_link(rows, at, subject), *list_rates(rows, find_speed(rows), at, subject)]
    found += [read_counter(subject, Counter(quantity), rows[name], at) for name, quantity in COUNTERS.items() if name in rows]
    return [*found, *_list_module(rows, at, subject)]


def _list_link(rows: Rows, at: float, subject: str) -> Iterator[Reading]:
    state = rows.get("state", "").lower()
    if "state" in rows:
        known = state == "active" or DOWN.match(state) is not None
        why = f"{state}, {rows.get('recommendation', '')}".rstrip(", ") if known else explain(state, "state of a link")
        yield make_reading(subject, "link.state", float(state == "active") if known else None, "1", at, "" if state == "active" else why)
        if known:
            yield make_reading(subject, "link.enabled", float(not state.startswith("disable")), "1", at)
    if "physical state" in rows:
        physical = rows["physical state"].lower()[:100]
        told = physical not in {"", "n/a"}
        yield make_reading(subject, "link.phys_state", physical if told else None, "text", at, "" if told else explain(physical, "state"))
    if "speed" in rows:
        yield make_reading(subject, "link.speed", speed := find_speed(rows), "Gb/s", at, "" if speed else explain(rows["speed"], "speed"))
    if "width" in rows:
        yield make_reading(subject, "link.width", width := _find_width(rows), "1", at, "" if width else explain(rows["width"], "width"))
    if "fec" in rows:
        code = " ".join(rows["fec"].lower().split())[:100]
        value = "none" if code in {"no fec", "none"} else code
        yield make_reading(
            subject, "link.fec", None if code in {"", "n/a"} else value, "text", at, explain(code, "code") if code in {"", "n/a"} else ""
        )


def find_speed(rows: Rows) -> float | None:
    """Gb/s of all lanes: `200G`, or `IB-HDR` by the lanes in use."""
    text = rows.get("speed", "").strip()
    found = _SPEED.fullmatch(text)
    if found is not None:
        return float(found["speed"]) or None
    lane, width = LANE_SPEEDS.get(text.lower().removeprefix("ib-")), _find_width(rows)
    return lane * width if lane and width else None


def _find_width(rows: Rows) -> float | None:
    found = _WIDTH.fullmatch(rows.get("width", "").strip())
    return float(found["width"]) or None if found is not None else None


def _list_module(rows: Rows, at: float, subject: str) -> Iterator[Reading]:
    """The module, when it was asked for; the tool's advice tells that none is plugged in."""
    if ABSENT.search(rows.get("recommendation", "")):
        yield make_reading(subject, "link.present", 0.0, "1", at, rows["recommendation"])
        return
    if "identifier" not in rows:
        return
    named = rows["identifier"].strip().lower() not in {"", "n/a", "unknown"}
    yield make_reading(subject, "link.present", 1.0 if named else None, "1", at, "" if named else explain(rows["identifier"], "module"))
    if named:
        yield from list_optics(_gather(rows), subject, at)


def _gather(rows: Rows) -> Optics:
    lanes: dict[str, Lanes] = {}
    whole: dict[str, float | None] = {}
    limits: dict[str, tuple[float, float]] = {}
    for name, row in (("rx_power", "rx power current [dbm]"), ("tx_power", "tx power current [dbm]"), ("bias", "bias current [ma]")):
        values = _take(rows.get(row), name, limits)
        if values:
            lanes[name] = values if name == "bias" else tuple(None if value is None else to_milliwatts(value) for value in values)
    for name, row in (("temperature", "temperature [c]"), ("voltage", "voltage [mv]")):
        values = _take(rows.get(row), name, limits)
        if values:
            whole[name] = values[0] / 1000.0 if name == "voltage" and values[0] is not None else values[0]
    snr = _take(rows.get("snr media lanes [db]"), "snr", {})
    lanes |= {"snr": snr} if any(snr) else {}
    limits = {name: _convert(name, low, high) for name, (low, high) in limits.items()}
    if not any(low < high for low, high in limits.values()) and not any(any(of) for of in (whole.values(), lanes.get("bias", ()))):
        return Optics()  # passive copper: all zero, which would be 1 mW on the scale of light
    losses = {name: lost for name, names in LOSS_ROWS.items() if (lost := _read_losses(rows, names))}
    return Optics(lanes=lanes, whole=whole, limits=limits, losses=losses)


def _take(text: str | None, name: str, limits: dict[str, tuple[float, float]]) -> Lanes:
    """The values of `1.8,1.9 [-10.4..6]`, and its limits into `limits`."""
    if text is None:
        return ()
    values, bracket, behind = text.partition("[")
    found = _RANGE.fullmatch(behind.strip())
    if bracket and found is None:
        return ()
    low, high = (read_number(found[side]) if found is not None else None for side in ("low", "high"))
    if low is not None and high is not None and low < high:
        limits[name] = low, high
    return read_list(values)[:MOST_LANES]


def _convert(name: str, low: float, high: float) -> tuple[float, float]:
    if name.endswith("power"):
        return to_milliwatts(low), to_milliwatts(high)
    return (low / 1000.0, high / 1000.0) if name == "voltage" else (low, high)


def _read_losses(rows: Rows, names: tuple[str, ...]) -> tuple[bool, ...]:
    words = next((rows[name] for name in names if name in rows), "").lower().split(",")[:MOST_LANES]
    told = {"0": False, "no": False, "1": True, "yes": True}
    return tuple(told[word.strip()] for word in words) if all(word.strip() in told for word in words) else ()

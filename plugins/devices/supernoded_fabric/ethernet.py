"""Pairs of path and text, as /sys/class/net holds them, to readings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from supernoded.plugin import Reading, State, WireError
from supernoded_fabric.counters import Counter, clip, measure, read_counter

Text = str | WireError

COUNTERS: dict[str, Counter] = {
    "statistics/rx_bytes": Counter("link.bits", 64, "bit", 8),  # errors are counted on what was received
    "statistics/tx_bytes": Counter("x.ethernet.sent_bits", 64, "bit", 8),
    "statistics/rx_errors": Counter("link.receive_errors"),
    "statistics/rx_crc_errors": Counter("x.ethernet.rx_crc_errors"),
    "statistics/rx_missed_errors": Counter("x.ethernet.rx_missed_errors"),
    "statistics/rx_dropped": Counter("x.ethernet.rx_dropped"),
    "statistics/tx_dropped": Counter("link.discards"),
    "statistics/tx_errors": Counter("x.ethernet.tx_errors"),
    "carrier_down_count": Counter("link.downed"),
}
FACTS = ("operstate", "carrier", "speed")
_SPEED = Counter("link.speed")
_DOWN = frozenset({"down", "lowerlayerdown", "dormant", "notpresent", "testing"})  # IF_OPER_* of the kernel but up and unknown


def parse_interface(files: Mapping[str, Text], at: float, subject: str) -> list[Reading]:
    """Every reading of one interface, from its files by name."""
    return [*_read_facts(files, at, subject), *_read_counters(files.items(), at, subject)]


def _read_counters(files: Iterable[tuple[str, Text]], at: float, subject: str) -> Iterator[Reading]:
    for name, text in files:
        counter = COUNTERS.get(name)
        if counter is not None:
            yield read_counter(subject, counter, text, at)


def _read_facts(files: Mapping[str, Text], at: float, subject: str) -> Iterator[Reading]:
    up, why = read_state(files)
    yield Reading(subject=subject, quantity="link.state", value=up, unit="1", at=at, state=_worth(up), note=why)
    if "speed" in files:
        speed, why = read_speed(files["speed"], up)
        yield Reading(subject=subject, quantity="link.speed", value=speed, unit="Gb/s", at=at, state=_worth(speed), note=why)


def read_state(files: Mapping[str, Text]) -> tuple[float | None, str]:
    """1 up, 0 down, and the kernel's word for what is not up; a driver that keeps no state is asked for its carrier."""
    operstate, carrier = files.get("operstate", ""), files.get("carrier", "")
    if operstate == "up":
        return 1.0, ""
    if operstate in _DOWN:
        return 0.0, str(operstate)
    if carrier in {"0", "1"}:
        return float(carrier == "1"), "" if carrier == "1" else "no carrier"
    return None, f"state {clip(str(operstate))}, carrier {clip(str(carrier))}"


def read_speed(text: Text, up: float | None) -> tuple[float | None, str]:
    """Gb/s of a link that is up; -1 and an error stand for `not known`."""
    megabits, why = measure(_SPEED, text)
    if up == 0.0:
        return None, "the link is down"
    if not isinstance(megabits, float) or megabits <= 0:
        return None, why or "no speed is known"
    return megabits / 1000.0, ""


def _worth(value: float | None) -> State:
    return State.UNKNOWN if value is None else State.GOOD

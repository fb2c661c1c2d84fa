"""Pairs of path and text, as /sys/class/net holds them, to readings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from supernoded.plugin import Reading, WireError, make_reading, quote
from supernoded_fabric.counters import Counter, measure, read_counter

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
    "carrier_changes": Counter("x.ethernet.carrier_changes"),  # ups and downs
    "mtu": Counter("link.mtu", 64, "B"),
}
FACTS = ("operstate", "carrier", "speed", "flags")
IFF_UP = 0x1  # linux/if.h: an administrator has switched the interface on
SPEED_UNKNOWN = 2**32 - 1  # linux/ethtool.h: -1, as older kernels print it
_SPEED = Counter("link.speed")
_FLAGS = re.compile(r"0x[0-9a-fA-F]{1,8}", re.ASCII)
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
    enabled, up, why = read_enabled(files.get("flags", "")), *read_state(files)
    if enabled == 0.0 and up == 0.0:
        why = f"{why}, switched off"
    yield make_reading(subject, "link.state", up, "1", at, why)
    if enabled is not None:
        yield make_reading(subject, "link.enabled", enabled, "1", at, "" if enabled else "switched off")
    if "speed" in files:
        speed, why = read_speed(files["speed"], up)
        yield make_reading(subject, "link.speed", speed, "Gb/s", at, why)


def read_enabled(flags: Text) -> float | None:
    """Whether an administrator has switched it on; None when the kernel does not tell."""
    if isinstance(flags, WireError) or not _FLAGS.fullmatch(flags):
        return None
    return float(bool(int(flags, 16) & IFF_UP))


def read_state(files: Mapping[str, Text]) -> tuple[float | None, str]:
    """1 up, 0 down, and the kernel's word for what is not up; a driver that keeps no state is asked for its carrier."""
    operstate, carrier = files.get("operstate", ""), files.get("carrier", "")
    if operstate == "up":
        return 1.0, ""
    if operstate in _DOWN:
        return 0.0, str(operstate)
    if carrier in {"0", "1"}:
        return float(carrier == "1"), "" if carrier == "1" else "no carrier"
    return None, f"state {quote(str(operstate))}, carrier {quote(str(carrier))}"


def read_speed(text: Text, up: float | None) -> tuple[float | None, str]:
    """Gb/s of a link that is up; -1 and an error stand for `not known`."""
    megabits, why = measure(_SPEED, text)
    if up == 0.0:
        return None, "the link is down"
    if not isinstance(megabits, float) or not 0 < megabits < SPEED_UNKNOWN:
        return None, why or "no speed is known"
    return megabits / 1000.0, ""

"""Where a shared line is, and how it is spoken on: what its URL says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from supernoded.errors import WireError
from supernoded.wire.stream import spell_host

T = TypeVar("T")

HOW = "write serial:///dev/ttyUSB0?baud=19200, tcp://host:port or reflex://name"

BAUD = 19200  # the default of Modbus over Serial Line V1.02, §2.5.1
SLOWEST, FASTEST = 300, 4_000_000  # baud, as Linux's own terminals
FAST = 19200  # baud above which the silence that ends a frame is fixed (same manual, §2.5.1.1)
FAST_SILENCE = 0.00175  # s (same place)
CHARACTER = 11  # bits: start, eight, parity or a second stop bit, stop (same manual, §2.5.1)
MOST_ADAPTER = 1000  # ms; ours, FTDI's latency timer has 255 at most


class LineAddress(msgspec.Struct, frozen=True):
    """A device path, a host and port, or the name of a line that is lent. `baud` 0 = not known, which only TCP may say."""

    name: str  # one per device, however the URL spelt it
    scheme: str
    place: str  # a device path as it was spelt, a host, or a lent line's name
    port: int = 0
    baud: int = 0
    parity: str = "N"  # N, E, O
    stop: int = 1
    echo: bool = False
    adapter: float = 0.0  # s that an adapter may keep bytes

    @property
    def silence(self) -> float:
        """Seconds of silence that end a frame (t3.5). Where the speed is not known, that of fast lines."""
        return FAST_SILENCE if self.baud > FAST or not self.baud else self.time_of(1) * 3.5

    def time_of(self, count: int) -> float:
        """Seconds that so many characters take on the wire; 0 where the speed is not known."""
        return count * CHARACTER / self.baud if self.baud else 0.0


def parse_line(url: str) -> LineAddress:
    """Read a URL of `Wires.line`. Keys that are not a line's own are passed over. Raises WireError saying what is wrong."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 0
        query = parse_qs(parts.query, keep_blank_values=True)
    except ValueError as error:
        raise WireError(f"{url}: {error}; {HOW}") from error
    if parts.scheme == "serial" and not parts.netloc and parts.path.strip("/"):
        path = os.path.normpath(parts.path)
        address = LineAddress(name=f"serial://{Path(path).resolve()}", scheme="serial", place=path, baud=BAUD)
    elif parts.scheme == "tcp" and host and port:
        place = spell_host(host)
        address = LineAddress(name=f"tcp://{place}:{port}", scheme="tcp", place=place, port=port)
    elif parts.scheme == "reflex" and parts.netloc and not parts.path.strip("/"):
        address = LineAddress(name=f"reflex://{parts.netloc}", scheme="reflex", place=parts.netloc)
    else:
        raise WireError(f"{url}: no line; {HOW}")
    return _read_query(url, address, query)


def _read_query(url: str, address: LineAddress, query: Mapping[str, list[str]]) -> LineAddress:
    milliseconds = {str(count): count for count in range(MOST_ADAPTER + 1)}
    adapter = _choose(url, query, "adapter_ms", milliseconds, 0, f"whole milliseconds from 0 to {MOST_ADAPTER}")
    return msgspec.structs.replace(
        address,
        baud=_read_baud(url, query, address.baud),
        parity=_choose(url, query, "parity", {"N": "N", "E": "E", "O": "O"}, "N", "N, E or O"),
        stop=_choose(url, query, "stop", {"1": 1, "2": 2}, 1, "1 or 2"),
        echo=_choose(url, query, "echo", {"yes": True, "no": False}, False, "yes or no"),
        adapter=adapter / 1000.0,
    )


def _read_baud(url: str, query: Mapping[str, list[str]], default: int) -> int:
    text = _read_one(url, query, "baud")
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(FASTEST)) and SLOWEST <= int(text) <= FASTEST):
        raise WireError(f"{url}: baud={text}; write a number from {SLOWEST} to {FASTEST}, such as 19200")
    return int(text)


def _choose(url: str, query: Mapping[str, list[str]], key: str, choices: Mapping[str, T], default: T, words: str) -> T:
    text = _read_one(url, query, key)
    if text is None:
        return default
    if text not in choices:
        raise WireError(f"{url}: {key}={text}; write {words}")
    return choices[text]


def _read_one(url: str, query: Mapping[str, list[str]], key: str) -> str | None:
    values = query.get(key)
    if values is not None and len(values) > 1:
        raise WireError(f"{url}: {key} is said {len(values)} times; say it once")
    return values[0] if values else None

"""The reflex process's own record of its firings: JSON lines, written after the firing, bounded, and readable whatever befell it."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from queue import Empty, Full, Queue

import msgspec

MOST_WAITING = 256  # firings that wait for a disk that hangs
STOP_WITHIN = 2.0  # seconds for the last of them to get there at a stop
FORMER = ".1"  # suffix of the record before


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """One firing: a line of the record."""

    number: int  # counts through every life of the process
    at: float  # seconds since the Unix epoch, by the machine's clock at that moment
    feeds: tuple[str, ...]
    lines: tuple[str, ...]  # on which the frame went out
    delay_ms: float  # from the bytes that completed the trigger to the last frame's hand-over
    age_ms: float  # since the last moment at which one of the feeds was surely well


_decode = msgspec.json.Decoder(Firing).decode
_encode = msgspec.json.Encoder().encode


def parse_firings(data: bytes) -> list[Firing]:
    """What a record says; lines that were torn or spoilt are passed over."""
    firings = []
    for line in data.split(b"\n"):
        try:
            firings.append(_decode(line))
        except msgspec.DecodeError:  # the parent of ValidationError
            continue
        except UnicodeDecodeError:
            continue
    return firings


def read_firings(path: Path) -> list[Firing]:
    """The firings of a record and of the one before it, oldest first; none when there is no record. Raises OSError."""
    firings: list[Firing] = []
    for place in (path.with_name(path.name + FORMER), path):
        try:
            firings += parse_firings(place.read_bytes())
        except FileNotFoundError:
            continue
    return firings


def append_firing(path: Path, firing: Firing, most: int) -> None:
    """Write one firing and flush it to the disk. A record that has reached `most` bytes is put aside first. Raises OSError."""
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123 - one write, unbuffered
        size = file.tell()
        if size < most:
            _write(file.fileno(), _tail_end(path, size) + _encode(firing) + b"\n")
            return
    path.replace(path.with_name(path.name + FORMER))
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123
        _write(file.fileno(), _encode(firing) + b"\n")


def _write(fd: int, line: bytes) -> None:
    os.write(fd, line)
    os.fsync(fd)


def _tail_end(path: Path, size: int) -> bytes:
    """What ends a line that a death tore, so that it takes no other with it."""
    if size == 0:
        return b""
    with path.open("rb") as file:
        file.seek(size - 1)
        return b"" if file.read(1) == b"\n" else b"\n"


class Recorder:
    """Writes in a thread of its own, after the firing: a disk may hang in the very moment in which mains fail."""

    def __init__(self, path: Path, most: int, log: logging.Logger) -> None:
        self._path, self._most, self._log = path, most, log
        self._waiting: Queue[Firing | None] = Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)
        self._failing = False
        self.lost = 0  # firings that no disk took

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def take(self, firing: Firing) -> None:
        """Have it written; never waits."""
        try:
            self._waiting.put_nowait(firing)
        except Full:
            self.lost += 1

    def stop(self) -> None:
        """Write what waits, within bounds."""
        try:
            self._waiting.put_nowait(None)
        except Full:
            self.lost += 1
        self._thread.join(STOP_WITHIN)

    def _run(self) -> None:
        while True:
            try:
                firing = self._waiting.get(timeout=60.0)
            except Empty:
                continue
            if firing is None:
                return
            self._append(firing)

    def _append(self, firing: Firing) -> None:
        try:
            append_firing(self._path, firing, self._most)
        except OSError as error:
            self.lost += 1
            if not self._failing:
                self._log.error("firing %d is not in %s: %s; it goes on firing", firing.number, self._path, error)
            self._failing = True
        else:
            if self._failing:
                self._log.info("%s takes firings again", self._path)
            self._failing = False
            said = (firing.number, ", ".join(firing.feeds), ", ".join(firing.lines), firing.delay_ms, firing.age_ms)
            self._log.warning(
                "firing %d: feeds %s flagged, shed sent on %s, %.2f ms from bytes in to bytes out, %.1f ms after all was well", *said
            )

"""What has passed over a line, for tests and for probes that ask whether a fault really shows."""

from __future__ import annotations

from collections import Counter, deque
from typing import NamedTuple

KEPT = 4000  # pieces; the oldest are forgotten


class Passed(NamedTuple):
    """Bytes that were heard on the wire from `start` to `end` seconds."""

    start: float
    end: float
    talker: str
    data: bytes  # as heard
    said: bytes  # as meant


class Record:
    """The newest pieces, and counts by kind since the line was made.

    Kinds: bytes, bytes.dropped, bytes.flipped, bytes.collided, bytes.held, frames, frames.broken, frames.bad, broadcasts, answers,
    answers.dropped, answers.split, answers.duplicated, answers.late, answers.wrong_unit, answers.twinned, answers.no_crc,
    answers.garbled, answers.silenced, bursts.usb, overruns.
    """

    def __init__(self) -> None:
        self.pieces: deque[Passed] = deque(maxlen=KEPT)
        self.counts: Counter[str] = Counter()

    def said_by(self, talker: str) -> bytes:
        """All that this talker said and that is still kept, as heard."""
        return b"".join(piece.data for piece in self.pieces if piece.talker == talker)

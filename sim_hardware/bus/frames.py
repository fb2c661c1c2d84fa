"""Where a frame begins and ends: by silences alone, as RTU has it."""

from __future__ import annotations

from collections.abc import Iterable

from sim_hardware.bus.pace import Pace
from sim_hardware.bus.record import Passed

_TOLERANCE = 1e-9  # s


class Run:
    """What passes between two silences of t3.5. Each hearer makes a frame of it without what it said itself: its receiver is off then.

    Of two units of one id neither hears the other, else each would take the other's answers for requests for ever.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._pieces: list[Passed] = []
        self.too_long = False

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def end(self) -> float:
        """When the last byte ended, s."""
        return self._pieces[-1].end

    @property
    def silent_at(self) -> float:
        """When the silence is long enough, s."""
        return self.end + self._pace.t35

    def hear(self, piece: Passed) -> None:
        """Take what has passed. After 1,000 pieces nothing more is kept: no frame is as long."""
        if len(self._pieces) < 1000:
            self._pieces.append(piece)
        else:
            self.too_long = True
            self._pieces[-1] = piece

    def list_talkers(self) -> frozenset[str]:
        """Who has talked; what stands behind a # tells units of one id apart."""
        return frozenset(piece.talker.partition("#")[0] for piece in self._pieces)

    def make_frame(self, hearer: str = "") -> bytes | None:
        """The frame as this one heard it; None when a silence of more than t1.5 broke it, or the line never came to rest."""
        heard = [piece for piece in self._pieces if piece.talker.partition("#")[0] != hearer]
        if self.too_long or self._is_broken(heard):
            return None
        return b"".join(piece.data for piece in heard)

    def _is_broken(self, heard: Iterable[Passed]) -> bool:
        end: float | None = None
        for piece in heard:
            if end is not None and piece.start - end > self._pace.t15 + _TOLERANCE:
                return True
            end = piece.end if end is None else max(end, piece.end)
        return False

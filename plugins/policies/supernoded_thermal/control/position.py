"""Where the valve is, by its feedback; whether that can be so; and the play between what it is told and where it goes."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from supernoded_thermal.control.sensing import Gauge

MOVED = 0.3  # % that a feedback must move to have moved
STANDS_FOR = 10.0  # s for which it may stand although it was told to move
RESTED = 3.0  # s that it must have stood, to tell its play
ROUNDING = 0.6  # % between command and feedback that is the steps of their registers, which have 1 % at most, and no play
MOST_PLAY = 5.0  # % either way; with more it is worn out
PLAY_LEARNS, PLAY_FADES = 0.5, 0.001  # shares of a larger and of a smaller play, by which the known one follows


class Position(msgspec.Struct, frozen=True):
    """The valve as of the last look. %; `at_rest` = it is where it should be."""

    play: float = 0.0  # either way, between command and stem
    shown: float | None = None  # when it last moved
    moved_at: float = 0.0
    told: float | None = None
    told_at: float = 0.0  # since when it is told this
    read_at: float = 0.0
    agreed_at: float = 0.0  # when it was last where it should be
    at_rest: bool = True
    note: str = ""


def follow_position(position: Position, told: float | None, gauge: Gauge | None, now: float, follow: float) -> Position:
    """The position after a look; `follow` % is what may be between command and feedback."""
    shown = None if gauge is None else gauge.value
    position = position if gauge is None else replace(position, read_at=gauge.at)
    if told != position.told:
        position = replace(position, told=told, told_at=now)
    if shown is None:
        return replace(position, shown=None, at_rest=True, note="by its command: the valve's feedback is unknown")
    if position.shown is None or abs(shown - position.shown) > MOVED:
        position = replace(position, shown=shown, moved_at=now)
    if told is None or abs(told - shown) <= follow:
        return replace(_learn_play(position), agreed_at=now, at_rest=True, note="")
    stands = now - max(position.moved_at, position.agreed_at) > STANDS_FOR
    note = "without its integral: the valve's feedback does not follow" if stands else ""
    return replace(position, at_rest=False, note=note)


def _learn_play(position: Position) -> Position:
    """From a valve that stands, and has been told nothing new."""
    if position.told is None or position.shown is None or position.read_at - max(position.moved_at, position.told_at) < RESTED:
        return position
    gap = min(MOST_PLAY, abs(position.told - position.shown))
    gap = gap if gap > ROUNDING else 0.0
    return replace(position, play=position.play + (gap - position.play) * (PLAY_LEARNS if gap > position.play else PLAY_FADES))

"""When to fire: pure, in plain numbers, and nothing is made on the way. Times are seconds on one monotonic clock.

The other feed unknown means no shed (safety rule 5). How old a flag is, is counted from the last moment at which the feed was surely
well: a feed that was flagged before anybody looked, or while nobody could look, is as old as can be, and refused as late.
"""

from __future__ import annotations

from collections.abc import Sequence

WAIT, FIRE, LATE, HELD = range(4)  # nothing to do; fire; both feeds are flagged, but it is too late; or too soon after the last firing
WORDS = ("wait", "fire", "late", "held")

NEVER = float("-inf")


class Flag:
    """One feed: what its looks have shown."""

    __slots__ = ("debounce", "first", "frames", "fresh", "onset", "run", "seen")

    def __init__(self, frames: int, debounce: float, fresh: float) -> None:
        """`frames` looks beyond the threshold and `debounce` s from the first of them make a flag; a look is good for `fresh` s."""
        self.frames, self.debounce, self.fresh = frames, debounce, fresh
        self.seen = self.onset = self.first = NEVER
        self.run = 0  # looks beyond the threshold since the last one that was not

    def note(self, flagged: bool, asked: float, now: float) -> None:
        """A good look, asked at one time and there at another. What is no good look is not noted at all."""
        self.seen = now
        if not flagged:
            self.run, self.onset = 0, asked
            return
        if self.run == 0:
            self.first = now
        self.run += 1

    def is_known(self, now: float) -> bool:
        """Whether the newest look is fresh."""
        return now - self.seen <= self.fresh

    def is_flagged(self, now: float) -> bool:
        """Whether it is known to be flagged."""
        return self.run >= self.frames and now - self.seen <= self.fresh and self.seen - self.first >= self.debounce

    def is_pending(self, now: float) -> bool:
        """Whether it may soon be flagged: its next look must not wait."""
        return self.run > 0 and self.is_known(now) and not self.is_flagged(now)


class Trip:
    """All feeds together. Each time that all of them come to be flagged is judged once."""

    __slots__ = ("deadline", "fired", "flags", "former", "judged", "newest", "refractory", "spent")

    def __init__(self, flags: Sequence[Flag], deadline: float, refractory: float) -> None:
        self.flags, self.deadline, self.refractory = tuple(flags), deadline, refractory
        self.fired = self.former = self.judged = NEVER
        self.spent = False  # this one has been judged
        self.newest = WAIT  # what the newest one came to

    def find_onset(self) -> float:
        """The last moment at which one of the feeds was surely well."""
        onset = NEVER
        for flag in self.flags:
            onset = max(onset, flag.onset)
        return onset

    def judge(self, now: float) -> int:
        """One of WAIT, FIRE, LATE, HELD."""
        flagged = True
        for flag in self.flags:
            if flag.run == 0:
                self.spent = False  # a feed was seen well again; that it cannot be seen is not enough
            if not flag.is_flagged(now):
                flagged = False
        if self.spent or not flagged or not self.flags:
            return WAIT
        self.spent, self.judged = True, now
        if now - self.find_onset() > self.deadline:
            self.newest = LATE
        elif now - self.fired < self.refractory:
            self.newest = HELD
        else:
            self.newest, self.former, self.fired = FIRE, self.fired, now
        return self.newest

    def take_back(self) -> None:
        """What was to be fired was not: the next trigger need not wait."""
        self.fired = self.former

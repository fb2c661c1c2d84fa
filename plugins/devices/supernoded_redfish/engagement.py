"""What this daemon remembers of a unit that it steers: what it wrote, and what stood before. It survives the daemon."""

from __future__ import annotations

import msgspec

from supernoded.plugin import StateFile, Tree

NEAR = 0.06  # K: units show tenths (ours)
ROUNDS = 0.5  # K by which a unit may round what is written: half of a whole degree (ours)


class Record(msgspec.Struct, frozen=True):
    """`written` is our newest setpoint, `last` the one before it: after an answer that was lost either may stand. None = not ours."""

    written: float | None = None
    last: float | None = None
    before: float | None = None
    made: float | None = None  # what the unit has made of `written`, in whole steps of its own; None = it shows just that

    def fits(self, set_point: float | None) -> bool:
        """Whether what stands is ours."""
        return any(is_near(ours, set_point) for ours in (self.written, self.last, self.made))

    def stands(self, set_point: float | None, value: float) -> bool:
        """Whether it was written, and is there."""
        return is_near(self.written, value) and (is_near(value, set_point) or is_near(self.made, set_point))

    def follow(self, set_point: float | None, value: float) -> Record:
        """The record before a new setpoint goes; what stood before the first one stays, as long as what stands is ours."""
        before = self.before if self.fits(set_point) else set_point
        return Record(value, set_point if self.fits(set_point) else self.written, before)

    def round_off(self, set_point: float | None) -> Record:
        """With what the unit has made of our newest setpoint, where that is near enough to be its own rounding."""
        near = set_point is not None and self.written is not None and abs(set_point - self.written) <= ROUNDS
        return msgspec.structs.replace(self, made=set_point) if near and not self.fits(set_point) else self


def open_record(cdu: str, state: Tree) -> StateFile[Record]:
    """That of one unit. It is written before the frame that it tells of."""
    return StateFile(state, f"cdus/{cdu.replace('/', '-')}.json", Record, "a setpoint", "look at the unit and remove it")


def is_near(one: float | None, other: float | None) -> bool:
    """Whether they are the same setpoint."""
    return one is not None and other is not None and abs(one - other) <= NEAR

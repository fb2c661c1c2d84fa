"""The variables that a client may write: the UPS's own settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from sim_hardware.devices.nut.words import RefusalError


class Setting(msgspec.Struct, frozen=True):
    """A writable variable: one of `choices`, a number from `low` to `high`, or a text of at most `most` letters."""

    default: str
    text: str
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    most: int | None = None

    def check(self, value: str) -> None:
        """Raises RefusalError with TOO-LONG or INVALID-VALUE."""
        if self.most is not None:
            if len(value) > self.most:
                raise RefusalError("TOO-LONG")
        elif self.choices:
            if value not in self.choices:
                raise RefusalError("INVALID-VALUE")
        elif not re.fullmatch(r"[0-9]{1,9}", value, re.ASCII) or not (self.low or 0) <= int(value) <= (self.high or 0):
            raise RefusalError("INVALID-VALUE")

    def describe(self) -> str:
        """The words of GET TYPE."""
        if self.most is not None:
            return f"RW STRING:{self.most}"
        return "RW ENUM NUMBER" if self.choices else "RW RANGE NUMBER"


# Names and units are NUT's (its variable list); defaults and ranges are those of common line-interactive units.
SETTINGS: Mapping[str, Setting] = {
    "battery.charge.low": Setting("20", "Charge below which the battery counts as low, in percent", low=0, high=90),
    "battery.runtime.low": Setting("120", "Runtime below which the battery counts as low, in seconds", low=0, high=3600),
    "ups.beeper.status": Setting("enabled", "What the beeper does", choices=("enabled", "disabled", "muted")),
    "ups.delay.shutdown": Setting("20", "Seconds from a shutdown command to output off", low=0, high=32767),
    "ups.delay.start": Setting("30", "Seconds from the return of the mains to output on", low=0, high=32767),
    "ups.id": Setting("", "Name that its owner has given it", most=32),
}

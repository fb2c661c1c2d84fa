"""How a feed is looked at: a register of its UPS, or a contact."""

from __future__ import annotations

from supernoded.reflex.arithmetic import LOOK_ANSWER
from supernoded.reflex.deciding import Flag
from supernoded.reflex.frames import build_look, read_look
from supernoded.reflex.line import OwnedLine
from supernoded.settings.reflex import Contact, Trigger
from supernoded.wire.reflex import Came


class Look:
    """What both kinds share: whose it is, and when the next one is due."""

    def __init__(self, trigger: Trigger, line: OwnedLine, flag: Flag) -> None:
        self.trigger, self.line, self.flag = trigger, line, flag
        self.interval = trigger.interval_s
        self.due = float("-inf")
        self.refused = 0  # answers that were late, corrupt or of no meaning: never a trigger

    def put_off(self, now: float) -> None:
        """The next one is an interval after this one was due, and never in the past."""
        self.due = max(self.due + self.interval, now)


class RegisterLook(Look):
    """Polls one register. It is the `Asker` of its line."""

    longest = LOOK_ANSWER

    def __init__(self, trigger: Trigger, line: OwnedLine, flag: Flag) -> None:
        super().__init__(trigger, line, flag)
        self.request = build_look(trigger)
        self._mask, self._unknown = trigger.mask, frozenset(trigger.unknown)
        self._below = trigger.below if trigger.below is not None else -1
        self._above = trigger.above if trigger.above is not None else 65_536

    def ask(self, now: float) -> None:
        """Send the request."""
        self.put_off(now)
        self.line.ask(self, now)

    def take(self, came: bytearray, count: int, now: float) -> bool:
        """See `Asker.take`."""
        if count < LOOK_ANSWER:
            return False
        value = read_look(self.request, came, count)
        if value is None:
            return False  # the line waits till its patience ends, drains, and says corrupt
        if value in self._unknown:
            self.refused += 1
            return True
        masked = value & self._mask
        self.flag.note(masked < self._below or masked > self._above, self.line.asked, now)
        return True

    def give_up(self, came: Came, now: float) -> None:
        """See `Asker.give_up`."""
        del came, now
        self.refused += 1


class ContactLook(Look):
    """Samples one modem input."""

    def __init__(self, trigger: Trigger, line: OwnedLine, flag: Flag) -> None:
        super().__init__(trigger, line, flag)
        self._contact = trigger.contact or Contact.CTS
        self._released = trigger.released

    def ask(self, now: float) -> None:
        """Sample it."""
        self.put_off(now)
        if self.line.port is None:
            return
        try:
            closed = self.line.port.is_closed(self._contact)
        except OSError as error:
            self.refused += 1
            self.line.lose(f"its contact cannot be read, {error}", now)
            return
        self.flag.note(closed is not self._released, now, now)

"""The daemon's polls on lines of the reflex: let in when they fit, refused with the arithmetic when they do not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from supernoded.reflex.arithmetic import find_refusal
from supernoded.reflex.frames import MOST, is_whole, measure_answer
from supernoded.reflex.line import OwnedLine
from supernoded.wire.reflex import Came, Loan, Returned

MOST_WAITING = 8  # requests that wait for one line; ours
LONGEST_WAIT = 10.0  # seconds; ours

Tell = Callable[[Returned], None]


class Borrower:
    """One request of the daemon, from the queue to its reply. It is the `Asker` of its line."""

    def __init__(self, loan: Loan, line: OwnedLine, tell: Tell, until: float) -> None:
        self.request, self.longest = loan.request, 0 if loan.rest_s else measure_answer(loan.request)
        self.latest = min(loan.rest_s or loan.latest_s, LONGEST_WAIT)
        self.until = until
        self._line, self._tell = line, tell

    def take(self, came: bytearray, count: int, now: float) -> bool:
        """See `Asker.take`."""
        del now
        if self.longest == 0:
            self._tell(Returned(came="sent"))
            return True
        if not self._line.is_ended and not is_whole(self.request, came, count, self.longest):
            return False
        self._tell(Returned(came="answer", answer=bytes(came[:count])))
        return True

    def give_up(self, came: Came, now: float) -> None:
        """See `Asker.give_up`."""
        waited = 1e3 * (now - self._line.asked)
        self._tell(Returned(came=came, text=f"no answer after {waited:.1f} ms ({came}); the line is drained"))

    def refuse(self, why: str) -> None:
        """It was never sent."""
        self._tell(Returned(came="refused", text=why))


class Lending:
    """What waits for one line."""

    def __init__(self, line: OwnedLine, shed: bytes | None) -> None:
        """`shed` is the only broadcast that is let in (safety rule 24)."""
        self.line, self.shed = line, shed
        self.waiting: deque[Borrower] = deque()

    def take(self, loan: Loan, tell: Tell, now: float) -> None:
        """Queue a request, or refuse it; either way `tell` is called once, sooner or later."""
        refusal = self._find_refusal(loan)
        borrower = Borrower(loan, self.line, tell, now + min(max(loan.within_s, 0.0), LONGEST_WAIT))
        if refusal is not None:
            self.line.counts["refused"] += 1
            borrower.refuse(refusal)
        else:
            self.waiting.append(borrower)

    def expire(self, now: float) -> None:
        """Refuse what has waited too long."""
        while self.waiting and now > self.waiting[0].until:
            self.line.counts["refused"] += 1
            reason = self.line.trouble if self.line.port is None else "the reflex has the line"
            self.waiting.popleft().refuse(f"its turn did not come in time, {reason}")

    def lend(self, now: float) -> None:
        """Put the next one onto the line, which is calm."""
        borrower = self.waiting.popleft()
        self.line.counts["lent"] += 1
        self.line.ask(borrower, now, borrower.latest)

    def _find_refusal(self, loan: Loan) -> str | None:
        name = self.line.settings.name
        if self.line.port is None:
            return f"{name} is lost: {self.line.trouble}"
        if len(self.waiting) >= MOST_WAITING:
            return f"{MOST_WAITING} requests wait for {name} already"
        if not 1 <= len(loan.request) <= MOST:
            return f"a request has 1 to {MOST} bytes, this one has {len(loan.request)}"
        if loan.rest_s or loan.request[0] == 0:
            return None if loan.rest_s and loan.request == self.shed else f"the only broadcast on {name} is its own shed (safety rule 24)"
        return find_refusal(self.line.settings, len(loan.request), measure_answer(loan.request))

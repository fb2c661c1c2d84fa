"""One line with all its units: one exchange at a time, orders before polls, dead units seldom (safety rules 21 to 25)."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from supernoded.plugin import Clock, Line, NotHeldError, WireError
from supernoded_modbus.frames import BROADCAST, Finder, FrameError, Question, RtuFinder, TcpFinder
from supernoded_modbus.member import Member
from supernoded_modbus.turns import Turns

TURNAROUND_S = 0.2  # after a broadcast (safety rule 24)
BITS = 11  # of a character, at most
ACCEPTED = 5  # "acknowledged": it has the request and is at work on it; an order is then not sent again
BUSY = (ACCEPTED, 6)  # the device lives and wants to be asked later
BUSY_WAIT_S, BUSY_TRIES = 0.1, 3  # ours
UNREACHED = (0x0A, 0x0B)  # a gateway's word on a unit behind it: that unit has failed, the line has not
_WORDS = {1: "illegal function", 2: "illegal data address", 3: "illegal data value", 4: "device failure", 5: "acknowledged", 6: "busy"}


class RefusedError(WireError):
    """The device answers with an exception."""

    def __init__(self, where: str, code: int) -> None:
        super().__init__(f"{where}: exception {code} ({_WORDS.get(code, 'see its manual')})")
        self.code = code


class Pace(NamedTuple):
    """How fast the wire is."""

    baud: int = 0  # 0 = bytes take no time worth counting
    tcp: bool = False  # Modbus TCP, not serial frames

    def time_of(self, count: int) -> float:
        """Seconds that so many bytes take."""
        return BITS * count / self.baud if self.baud else 0.0


class Bus:
    """The owner of one line."""

    def __init__(self, line: Line, pace: Pace, clock: Clock) -> None:
        self.line, self.members = line, list[Member]()
        self.counts: Counter[str] = Counter()
        self.pace, self._clock = pace, clock
        self._turns = Turns()
        self._transaction = 0
        self._losses = 0

    def join(self, member: Member) -> None:
        """Be on this line. Raises WireError where another has the number already."""
        for other in self.members:
            if other.number == member.number and other.subject != member.subject:
                raise WireError(f"{self.line.name}: {other.subject} and {member.subject} are both unit {member.number}")
        self.members.append(member)

    async def ask(self, member: Member, question: Question, scope: str | None = None, *, urgent: bool = False) -> bytes:
        """The PDU that answers. With a scope it is an order, which asks the pen; orders and what is urgent go before polls.

        Busy devices are asked again a few times; what they have accepted they are not told twice. Raises WireError; RefusedError for an
        exception; NotHeldError.
        """
        for _ in range(BUSY_TRIES - 1):
            try:
                return await self._ask(member, question, scope, urgent=urgent)
            except RefusedError as error:
                if error.code not in BUSY or (scope is not None and error.code == ACCEPTED):
                    raise
            await self._clock.sleep(BUSY_WAIT_S)
        return await self._ask(member, question, scope, urgent=urgent)

    async def broadcast(self, scope: str, question: Question) -> None:
        """Tell all units at once; none answers. Raises WireError, NotHeldError."""
        async with self._turns.take(urgent=True):
            await self.line.broadcast(scope, self._make_finder(BROADCAST, question).frame, TURNAROUND_S)

    async def _ask(self, member: Member, question: Question, scope: str | None, *, urgent: bool) -> bytes:
        if member.dormant and scope is None and not urgent and self._clock.now() < member.probe_at:
            raise WireError(f"{self._name(member)}: silent {member.failures} times in a row; left alone but for a probe now and then")
        async with self._turns.take(urgent=urgent or scope is not None):
            answer = await self._exchange(member, question, self._make_finder(member.number, question), scope)
        return self._read(member, answer)

    async def _exchange(self, member: Member, question: Question, finder: Finder, scope: str | None) -> bytes:
        wire_s = self.pace.time_of(len(finder.frame) + question.length + 3)
        within, latest = wire_s + member.answer_s, wire_s + max(member.latest_s, member.answer_s)
        echo_errors = self.line.counts.get("echo_errors", 0)
        try:
            if scope is None:
                frame = await self.line.exchange(finder.frame, finder, within, latest)
            else:
                frame = await self.line.order(scope, finder.frame, finder, within, latest)
        except NotHeldError:
            raise
        except WireError as error:
            self._note_failure(member, self._name_fault(error, finder, echo_errors), latest)
            raise
        self._note_losses()
        return finder.cut(frame)

    def _read(self, member: Member, pdu: bytes) -> bytes:
        self._count(member, "exchanges")
        if not pdu[0] & 0x80:
            member.answered()
            return pdu
        self._count(member, "exceptions")
        if pdu[1] in UNREACHED:
            member.failed(self._clock.now(), member.answer_s, self._count_dead())
        else:
            member.answered()
        raise RefusedError(self._name(member), pdu[1])

    def _note_failure(self, member: Member, kind: str, cost: float) -> None:
        self._count(member, "exchanges")
        self._count(member, kind)
        member.failed(self._clock.now(), cost, self._count_dead())
        self._note_losses()

    def _name_fault(self, error: WireError, finder: Finder, echo_errors: int) -> str:
        if isinstance(error, FrameError):
            return error.kind
        return "echo_errors" if self.line.counts.get("echo_errors", 0) > echo_errors else finder.name_fault()

    def _note_losses(self) -> None:
        """A line that was opened anew may lead to other devices."""
        losses = self.line.counts.get("losses", 0)
        if losses != self._losses:
            self._losses = losses
            for member in self.members:
                member.come_back()

    def _make_finder(self, unit: int, question: Question) -> Finder:
        if not self.pace.tcp:
            return RtuFinder(unit, question)
        self._transaction = self._transaction % 0xFFFF + 1
        return TcpFinder(unit, question, self._transaction)

    def _count(self, member: Member, kind: str) -> None:
        self.counts[kind] += 1
        member.counts[kind] += 1

    def _count_dead(self) -> int:
        return sum(member.dormant for member in self.members)

    def _name(self, member: Member) -> str:
        return f"{member.subject} (unit {member.number} on {self.line.name})"

    @property
    def state(self) -> str:
        """As `line.state` has it: lost when no unit answers any more."""
        return "lost" if self.members and all(member.state in ("lost", "dormant") for member in self.members) else "ok"

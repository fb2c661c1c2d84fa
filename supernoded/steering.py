"""One task per loop: steer, clamp to the handle's word, put; setpoints expire, and leaving `act` hands the device back.

A person may hold a device by hand for a while; the loop then follows, and goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from supernoded.clock import Clock
from supernoded.errors import AdminError, LapsedError, WireError, YieldedError
from supernoded.giving_back import GivingBack
from supernoded.history import History, View
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.model import Mode, Setpoint
from supernoded.modes import Modes
from supernoded.parts import Handle, Loop
from supernoded.supervisor import BUGS, Health, bounded, describe
from supernoded.vetting import vet_setpoint

ASK_AGAIN = 2.0  # seconds until a loop that put nothing is asked again, where its own period is longer (ours)
HEARD_WITHIN = 1.0  # seconds in which a word against it is heard, however long its period is (ours)
LIVES = 3.0  # periods a setpoint stands without being renewed
SUMMARY = 60.0  # seconds between two rows about an engaged loop (design section 8)
TAKE_WITHIN = 5.0  # seconds in which a device says where it stands, and what its own fallback is (ours)


@dataclass(frozen=True)
class Helm:
    """What the loops of one scope work with."""

    scope: str
    history: History
    journal: Journal
    clock: Clock
    modes: Modes
    health: Health
    held: Callable[[str], str | None]


@dataclass(frozen=True)
class Hand:
    """A person's hand on a device, until it is renewed or taken off."""

    value: float | None  # None = nothing is put, as if this daemon had died: the device must fall back by itself
    until: float
    by: str
    reason: str = ""


class Steering:
    """Drives one loop and its handle."""

    def __init__(self, helm: Helm, loop: Loop[Any], handle: Handle, policy: str) -> None:
        self._h, self._loop, self._handle, self.policy = helm, loop, handle, policy
        self._name = f"loop {loop.name}"
        self._memory: Any = None
        self._hand: Hand | None = None
        self._moved = asyncio.Event()  # a hand was laid on, or taken off
        self.last: Setpoint | None = None  # that was put while engaged
        self.put_at: float | None = None  # when it was
        self._seeing_at = 0.0  # when its loop last had something to put
        self.idle_because = "not yet started"
        self._giving_back = GivingBack(handle, helm.scope)
        self._yields = False  # another hand is on it: it is not taken anew before it has been handed back
        self.disengaged = asyncio.Event()
        self.disengaged.set()
        self._summary: list[float] = []
        self._summary_due = 0.0

    async def run(self) -> None:
        """Steer every period; a loop that is not heard remembers nothing, so that it starts from what the device shows."""
        try:
            while True:
                put = await self._turn()
                await self._rest(self._loop.period if put else min(self._loop.period, ASK_AGAIN))
        finally:
            await self._disengage("the loop ends")

    async def _rest(self, seconds: float) -> None:
        """Until the next turn; one who is waiting for the device to be handed back does not wait out a long period."""
        due = self._h.clock.now() + seconds
        while (left := due - self._h.clock.now()) > 0.0:
            await self._h.clock.sleep(min(left, HEARD_WITHIN))
            if (self.engaged and self._refusal() is not None) or self._moved.is_set():
                self._moved.clear()
                return

    async def _turn(self) -> bool:
        """Whether a setpoint was put: a loop that had none to give is asked again soon, as it may only have seen too little yet."""
        refusal = self._refusal()
        if refusal is not None:
            self.idle_because = refusal
            await self._disengage(refusal)
            return False
        if self._hand is not None and self._hand.value is None:
            if self.hand is not None:
                return False
            self._begin_anew("the silence is over")
        if not self.engaged and not await self._take():
            return False
        setpoint = self._steer()
        if setpoint is not None and self._has_lapsed():
            self._begin_anew("it had nothing to put for too long")
            setpoint = self._steer() if await self._take() else None
        if setpoint is not None:
            self._seeing_at = self._h.clock.now()
        return setpoint is not None and await self._put(setpoint)

    def _has_lapsed(self) -> bool:
        """Whether its loop was blind for longer than a setpoint lives: the device may have fallen back by itself and moved since."""
        return not self._yields and self._h.clock.now() - self._seeing_at > LIVES * self._loop.period

    async def _take(self) -> bool:
        """Whether it is ours now."""
        try:
            now_at = await bounded(_ask(self._handle), max(self._loop.period, TAKE_WITHIN), f"reading {self.target}")
        except WireError as error:
            self.idle_because = str(error)
            self._h.health.report(self._name, f"does not steer {self.target}: {error}")
            return False
        if self._refusal() is not None:
            return False  # somebody spoke while the device was read: nothing was written, and nothing will be
        self._engage(now_at)
        return True

    def _refusal(self) -> str | None:
        """Why it may not steer now."""
        refusal = self._h.held(self._h.scope)
        return refusal if refusal is not None or self._h.modes.of(self.policy) is Mode.ACT else "the policy no longer acts"

    def _engage(self, now_at: Setpoint | None) -> None:
        self._memory, self.last, self.put_at = self._loop.start(now_at), now_at, None
        self._yields, self._giving_back.owed = False, False
        self._seeing_at = self._h.clock.now()
        self._summary, self._summary_due = [], self._h.clock.now() + SUMMARY
        self.disengaged.clear()
        self._note("engaged", f"from {now_at.value:g} {now_at.unit}" if now_at is not None else "from an unknown position")

    def _steer(self) -> Setpoint | None:
        try:
            self._memory, wanted = self._ask_loop(self._h.history.view(self._h.clock.now(), self._loop.watches))
            setpoint = None if wanted is None else vet_setpoint(wanted)
        except BUGS as error:  # a plugin's bug costs its own loop: the setpoint expires and the device falls back
            self._h.health.report(self._name, f"cannot steer, its last setpoint expires: {describe(error)}")
            return None
        if setpoint is None:
            return None
        return msgspec.structs.replace(setpoint, until=self._h.clock.now() + LIVES * self._loop.period)

    def _ask_loop(self, seen: View) -> tuple[Any, Setpoint | None]:
        hand = self.hand
        if hand is None or hand.value is None:
            answer: tuple[Any, Setpoint | None] = self._loop.steer(seen, self._memory)
        else:
            answer = self._loop.hold(seen, self._memory, hand.value)  # type: ignore[attr-defined]  # `lay_hand` has looked
        return answer

    @property
    def hand(self) -> Hand | None:
        """Who holds it by hand now."""
        return self._hand if self._hand is not None and self._h.clock.now() < self._hand.until else None

    @property
    def can_be_held(self) -> bool:
        """Whether its loop knows what to do while a person holds the device."""
        return hasattr(self._loop, "hold")

    def lay_hand(self, value: float | None, seconds: float, by: str, reason: str = "") -> None:
        """Hold it at a value for so long, or with None put nothing at all. Raises AdminError when it cannot be held, or is not ours now.

        Silence is not handing back: it is how a person sees that the device falls back by itself when it hears nothing (safety 15).
        """
        if value is not None and not self.can_be_held:
            raise AdminError(f"{self.target} cannot be held by hand: its loop {self._loop.name} has no way to")
        if not self.engaged:
            raise AdminError(f"{self.target} is not steered now: {self.idle_because}")
        before = self.hand
        if before is None or (before.value, before.by) != (value, by):
            self._note("held", f"{'silent' if value is None else f'at {value:g}'} by {by}{reason and f': {reason}'}")
        self._end_silence(value)
        self._hand = Hand(value, self._h.clock.now() + seconds, by, reason)
        self._moved.set()

    def take_hand_off(self, by: str) -> None:
        """Give it back to its loop, without a bump."""
        if self.hand is not None:
            self._note("let go", f"by {by}")
        self._end_silence(0.0)
        self._hand = None
        self._moved.set()

    def _end_silence(self, value: float | None) -> None:
        if value is not None and self._hand is not None and self._hand.value is None:
            self._begin_anew("the silence is over")

    def _begin_anew(self, why: str) -> None:
        """Nobody knows where the device stands now, so it is taken as at the first time; what is yielded is not."""
        self._hand = None
        if self._yields:
            return
        self.idle_because = f"{why}, it is taken anew"
        self._note("disengaged", self.idle_because)
        self.disengaged.set()

    async def _put(self, setpoint: Setpoint) -> bool:
        try:
            await bounded(_put(self._handle, setpoint, self._h.scope), self._loop.period, f"writing {setpoint.target}")
        except LapsedError as error:
            self._begin_anew(str(error))
            return False
        except WireError as error:
            self._yields = self._yields or isinstance(error, YieldedError)
            self._h.health.report(self._name, f"{setpoint.target} was not put: {error}")
            return False
        self._h.health.report(self._name, setpoint.note and f"steers {self.target} {setpoint.note}")
        self.last, self.put_at = setpoint, self._h.clock.now()
        self._summary.append(setpoint.value)
        if self._h.clock.now() >= self._summary_due:
            self._note(
                "summary", f"{len(self._summary)} outputs, {min(self._summary):g} to {max(self._summary):g} {setpoint.unit}".rstrip()
            )
            self._summary, self._summary_due = [], self._h.clock.now() + SUMMARY
        return True

    async def _disengage(self, why: str) -> None:
        """Hand it back, also what an earlier life has left: undoing is allowed in every mode (safety rule 2), where the scope is ours."""
        self._hand = None
        was_engaged = self.engaged
        if not was_engaged and (self._h.held(self._h.scope) is not None or not await self._giving_back.look()):
            return
        try:
            await self._giving_back.give()
        finally:
            self.disengaged.set()
        owed = bool(self._giving_back.owed)
        self._h.health.report(self._name, f"{self.target} was {self.last_word}" if owed else "")
        if was_engaged or not owed:
            self._note("disengaged", f"{why}; {self.last_word}")

    @property
    def last_word(self) -> str:
        """How the last engagement ended."""
        return self._giving_back.last_word

    @property
    def engaged(self) -> bool:
        """Whether its setpoints go out."""
        return not self.disengaged.is_set()

    @property
    def target(self) -> str:
        """What it turns."""
        return self._handle.target

    @property
    def aim(self) -> float | None:
        """What it holds by turning its device, such as a supply temperature in C; None where its loop does not tell, or does not steer."""
        tell: Callable[[Any], float | None] | None = getattr(self._loop, "aim", None)
        if tell is None or not self.engaged:
            return None
        try:
            return tell(self._memory)
        except BUGS as error:
            self._h.health.report(f"aim of {self._name}", f"cannot be told: {describe(error)}")
            return None

    @property
    def quantity(self) -> str:
        """That its setpoints are in."""
        return self._handle.quantity

    @property
    def name(self) -> str:
        """Its loop's."""
        return self._loop.name

    @property
    def scope(self) -> str:
        """`NODE` or the role it works for."""
        return self._h.scope

    def _note(self, what: str, text: str) -> None:
        self._h.journal.post(entries.record_engagement(self._loop.name, self._h.scope, self._h.clock.now(), what, text))
        if what != "summary":
            self._h.health.tell(self._name, f"{what}, {text}")


async def _ask(handle: Handle) -> Setpoint | None:
    return await handle.now_at()


async def _put(handle: Handle, setpoint: Setpoint, scope: str) -> None:
    await handle.put(setpoint, scope)

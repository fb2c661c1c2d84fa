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
from supernoded.errors import AdminError, WireError
from supernoded.history import History, View
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.model import Effect, Mode, Setpoint, Sight
from supernoded.modes import Modes
from supernoded.parts import Handle, Loop
from supernoded.supervisor import BUGS, Health, bounded, describe
from supernoded.vetting import vet_setpoint

ASK_AGAIN = 2.0  # seconds until a loop that put nothing is asked again, where its own period is longer (ours)
HEARD_WITHIN = 1.0  # seconds in which a word against it is heard, however long its period is (ours)
LIVES = 3.0  # periods a setpoint stands without being renewed
SUMMARY = 60.0  # seconds between two rows about an engaged loop (design section 8)
TAKE_WITHIN = 5.0  # seconds in which a device says where it stands, and what its own fallback is (ours)
HAND_BACK_TIMEOUT = 4.0  # seconds; a clean stop has 5


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

    value: float
    until: float
    by: str


class Steering:
    """Drives one loop and its handle."""

    def __init__(self, helm: Helm, loop: Loop[Any], handle: Handle, policy: str) -> None:
        self._h, self._loop, self._handle, self.policy = helm, loop, handle, policy
        self._name = f"loop {loop.name}"
        self._memory: Any = None
        self._hand: Hand | None = None
        self._moved = asyncio.Event()  # a hand was laid on, or taken off
        self.last: Setpoint | None = None  # that was put while engaged
        self.idle_because = "not yet started"
        self.last_word = ""  # how the last engagement ended
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
        if not self.engaged and not await self._take():
            return False
        setpoint = self._steer()
        return setpoint is not None and await self._put(setpoint)

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
        self._memory, self.last = self._loop.start(now_at), now_at
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
        if hand is None:
            answer: tuple[Any, Setpoint | None] = self._loop.steer(seen, self._memory)
        else:
            answer = self._loop.hold(seen, self._memory, hand.value)  # type: ignore[attr-defined]  # `lay_hand` has looked
        return answer

    @property
    def hand(self) -> Hand | None:
        """Who holds it by hand now."""
        return self._hand if self._hand is not None and self._h.clock.now() < self._hand.until else None

    def lay_hand(self, value: float, seconds: float, by: str) -> None:
        """Hold it at a value for so long. Raises AdminError when it cannot be held, or is not ours now."""
        if not hasattr(self._loop, "hold"):
            raise AdminError(f"{self.target} cannot be held by hand: its loop {self._loop.name} has no way to")
        if not self.engaged:
            raise AdminError(f"{self.target} is not steered now: {self.idle_because}")
        if self.hand is None:
            self._note("held", f"at {value:g} by {by}")
        self._hand = Hand(value, self._h.clock.now() + seconds, by)
        self._moved.set()

    def take_hand_off(self, by: str) -> None:
        """Give it back to its loop, without a bump."""
        if self.hand is not None:
            self._note("let go", f"by {by}")
        self._hand = None
        self._moved.set()

    async def _put(self, setpoint: Setpoint) -> bool:
        try:
            await bounded(_put(self._handle, setpoint, self._h.scope), self._loop.period, f"writing {setpoint.target}")
        except WireError as error:
            self._h.health.report(self._name, f"{setpoint.target} was not put: {error}")
            return False
        self._h.health.report(self._name, setpoint.note and f"steers {self.target} {setpoint.note}")
        self.last = setpoint
        self._summary.append(setpoint.value)
        if self._h.clock.now() >= self._summary_due:
            self._note(
                "summary", f"{len(self._summary)} outputs, {min(self._summary):g} to {max(self._summary):g} {setpoint.unit}".rstrip()
            )
            self._summary, self._summary_due = [], self._h.clock.now() + SUMMARY
        return True

    async def _disengage(self, why: str) -> None:
        if not self.engaged:
            return
        self._hand = None
        try:
            self.last_word = await self._hand_back()
            self._h.health.report(self._name, "")
        except WireError as error:
            self.last_word = f"not handed back, it falls back by itself when its last setpoint expires: {error}"
            self._h.health.report(self._name, f"{self.target} was {self.last_word}")
        finally:
            self.disengaged.set()
        self._note("disengaged", f"{why}; {self.last_word}")

    async def _hand_back(self) -> str:
        sight = await bounded(_hand_back(self._handle, self._h.scope), HAND_BACK_TIMEOUT, f"handing back {self.target}")
        if sight.effect is Effect.PRESENT:
            return f"handed back, and the device shows it: {sight.text}".removesuffix(": ")
        return f"handed back, but the device does not show it ({sight.effect.value}): {sight.text}"

    @property
    def engaged(self) -> bool:
        """Whether its setpoints go out."""
        return not self.disengaged.is_set()

    @property
    def target(self) -> str:
        """What it turns."""
        return self._handle.target

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


async def _ask(handle: Handle) -> Setpoint | None:
    return await handle.now_at()


async def _put(handle: Handle, setpoint: Setpoint, scope: str) -> None:
    await handle.put(setpoint, scope)


async def _hand_back(handle: Handle, scope: str) -> Sight:
    return await handle.hand_back(scope)

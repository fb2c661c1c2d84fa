"""Who has a CDU: taken only when nobody else has it, kept by heartbeats, given back with a look (safety rules 1, 15, 16).

A CDU cannot fence. What can be read of it says whose it is: its control, what its watchdog has left, and the heartbeat that was written
last, whose upper byte is a token of the engagement. The token stands in this daemon's record, so that it knows its own again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from msgspec.structs import replace

from supernoded.plugin import Effect, LapsedError, Sight, WireError, YieldedError
from supernoded_modbus.coolant.coolant import AUTO, DIRECT, NO_BEAT, Coolant, Look
from supernoded_modbus.coolant.record import Kept

LONGEST_WATCHDOG = 15.0  # s, under which `direct` is allowed (safety rule 15)
PLAUSIBLE = (5.0, 60.0)  # C of a setpoint that it falls back to (facility row 27)
STALE_S = 15.0  # s after which nobody knows any more where it stood when it was looked at; the longest watchdog's time
SOON = 2.0  # s before the end of the watchdog's time from which its bite may be the end of ours; ours
TOKENS = 254  # an upper byte of 255 could read as no value


class Engagement:
    """See above; one for each CDU, shared by all that turns it."""

    def __init__(self, coolant: Coolant) -> None:
        self.coolant = coolant
        self.kept = Kept()
        self.engaged = False
        self.yielded = ""  # to whom, and why; until it is handed back or taken anew
        self.number = 0  # of the engagement: another one for each time that it is taken
        self._looked_at = -math.inf  # when it was inspected, until it is taken, given back or lost
        self._recalled = False
        self._keeping = asyncio.Lock()  # handle and action write one record
        self._life = -1  # of the unit, when it was taken
        self._beats = 0
        self._before: float | None = None  # the heartbeat that stood before our first, until that is confirmed
        self._beaten_at = -math.inf

    @property
    def control(self) -> str:
        """The control under which we turn it."""
        return self.coolant.authority

    # before it is taken

    async def recall(self) -> None:
        """Read the record, once in a life. Raises WireError."""
        async with self._keeping:
            if not self._recalled:
                self.kept, self._recalled = await self.coolant.record.read(), True

    async def keep(self, scope: str, change: Callable[[Kept], Kept]) -> None:
        """Write the record as it is changed, and go by it from then on. Raises WireError, NotHeldError."""
        async with self._keeping:
            kept = change(self.kept)
            await self.coolant.record.write(scope, kept)
            self.kept = kept

    async def inspect(self, row: str) -> Look:
        """Whether it may be taken, which device it is, and where it stands. Raises WireError saying why it must not be."""
        cdu = self.coolant
        await cdu.unit.prove()
        await cdu.unit.probe()
        await self.recall()
        self.engaged, self.yielded, self._before = False, "", None
        look = await cdu.look(row)
        self.refuse_stranger(look)
        await self._learn_fallback(look)
        if self.control == DIRECT:
            self._refuse_unguarded(look)
        self._looked_at = cdu.clock.now()
        return look

    def refuse_stranger(self, look: Look) -> None:
        """Raises WireError when another hand is on it; when its watchdog has run out nobody's is.

        Under direct control without a watchdog that runs it is a person's: ours would have its own control again.
        """
        kept = self.kept
        run_out = look.control != DIRECT and (look.left_s == 0.0 or (math.isnan(look.left_s) and not kept.yielded))
        if look.control == AUTO or self.is_ours(look) or run_out:
            return
        why = f"it was yielded: {kept.yielded}" if kept.yielded else "and it was not this daemon that engaged it"
        raise WireError(
            f"{self.coolant.subject}: another hand is on it: {look}, {why}; it is left alone until it has its own control again"
        )

    def is_ours(self, look: Look) -> bool:
        """Whether what it shows is an engagement of this daemon, of this life or of one before."""
        if self.kept.yielded or look.control != self.kept.control:
            return False
        if math.isnan(look.beat) or look.beat == self._before:
            return True
        return self.kept.token > 0 and int(look.beat) >> 8 == self.kept.token

    async def _learn_fallback(self, look: Look) -> None:
        if look.control == AUTO:
            celsius = await self.coolant.see("setpoint")
            async with self._keeping:
                self.kept = replace(self.kept, fallback=None if math.isnan(celsius) else celsius)

    def _refuse_unguarded(self, look: Look) -> None:
        """Direct control needs a watchdog that bites in time, and a setpoint that it then holds."""
        subject, fallback = self.coolant.subject, self.kept.fallback
        if not 0.0 < look.watchdog_s <= LONGEST_WATCHDOG:
            raise WireError(
                f"{subject}: its watchdog reads {look.watchdog_s:g} s, and direct control needs at most {LONGEST_WATCHDOG:g} s; "
                "set it at the CDU, or write authority = setpoint"
            )
        if fallback is None or not PLAUSIBLE[0] <= fallback <= PLAUSIBLE[1]:
            told = "could not be read" if fallback is None else f"reads {fallback:g} C"
            raise WireError(
                f"{subject}: the setpoint that it falls back to {told}, {PLAUSIBLE[0]:g} to {PLAUSIBLE[1]:g} C is due; "
                "look at it under its own control, or write authority = setpoint"
            )

    # taking, keeping, giving back

    def refuse_lapsed(self, look: Look) -> None:
        """Raises LapsedError when it has its own control again, or may have moved since it was looked at."""
        subject, now = self.coolant.subject, self.coolant.clock.now()
        if self.engaged and self._has_lapsed(look):
            self._drop()
            raise LapsedError(f"{subject}: it has its own control again, {now - self._beaten_at:.0f} s after our last heartbeat")
        if not self.engaged and now - self._looked_at > STALE_S:
            raise LapsedError(f"{subject}: it was not looked at within the last {STALE_S:g} s, and may have moved")

    def _has_lapsed(self, look: Look) -> bool:
        """Whether it has its own control without another hand: its watchdog has bitten, or it was away and has started anew."""
        silent = self.coolant.clock.now() - self._beaten_at >= look.watchdog_s - SOON
        return look.control == AUTO and (silent or self._life != self.coolant.unit.member.life)

    def _drop(self) -> None:
        self.engaged, self._looked_at = False, -math.inf

    async def take(self, scope: str, look: Look) -> None:
        """Turn it under our control: written down first, read back, and its watchdog must run. Raises WireError, NotHeldError."""
        cdu = self.coolant
        if not self.is_ours(look) or not self.kept.token or self.kept.control != self.control:
            token = self._choose_token(look)
            await self.keep(scope, lambda kept: replace(kept, token=token, control=self.control, yielded=""))
            self._before = look.beat
        if look.control != self.control:
            await cdu.unit.write(scope, ("control", -1), self.control, cyclic=True)
        if self.control == DIRECT:
            await self.refuse_unwatched(scope, await cdu.look())
        self.engaged, self._beaten_at, self._life = True, cdu.clock.now(), cdu.unit.member.life
        self.number += 1

    def _choose_token(self, look: Look) -> int:
        """Another one than it shows."""
        token = self.coolant.clock.stream(f"modbus {self.coolant.subject}").randrange(1, TOKENS)
        shown = -1 if math.isnan(look.beat) else int(look.beat) >> 8
        return token + 1 if token == shown else token

    async def refuse_unwatched(self, scope: str, look: Look) -> None:
        """Raises WireError when it is under direct control and its watchdog does not run, or bites too late: it gets its own control."""
        if 0.0 < look.left_s <= look.watchdog_s <= LONGEST_WATCHDOG:
            return
        self._drop()
        await self.coolant.unit.write(scope, ("control", -1), AUTO, cyclic=True)
        raise WireError(
            f"{self.coolant.subject}: under direct control its watchdog does not run, or takes longer than {LONGEST_WATCHDOG:g} s "
            f"(it is set to {look.watchdog_s:g} s): {look}; it has its own control again"
        )

    async def beat(self, scope: str) -> None:
        """The heartbeat, read back; only after a value that was confirmed, and not where it was yielded or given back meanwhile.

        Raises WireError, NotHeldError.
        """
        if self.yielded:
            raise YieldedError(self.yielded)
        if not self.engaged:
            raise LapsedError(f"{self.coolant.subject}: it was given back while it was turned")
        if self.coolant.unit.has("heartbeat"):
            self._beats = self._beats % 255 + 1
            await self.coolant.unit.write(scope, ("heartbeat", -1), float(self.kept.token << 8 | self._beats), cyclic=True)
        self._beaten_at, self._before = self.coolant.clock.now(), None

    async def give_up(self, scope: str, why: str) -> None:
        """Yield to another hand, also over a restart: no more heartbeats of ours. Raises YieldedError, with `why`."""
        self._drop()
        self.yielded = why
        try:
            await self.keep(scope, lambda kept: replace(kept, yielded=why))
        except WireError as error:
            raise YieldedError(f"{why} (and that could not be written down: {error})") from error
        raise YieldedError(why)

    async def give_back(self, scope: str) -> Sight:
        """Its own control, with a look; what another hand has is left to him. Raises WireError, NotHeldError."""
        await self.recall()
        self._drop()
        cdu, self.yielded = self.coolant, ""
        look = await cdu.look()
        if look.control != AUTO:
            if not self.is_ours(look):
                if look.beat == NO_BEAT and look.control == self.kept.control and not self.kept.yielded:
                    raise WireError(f"{cdu.subject}: {look}, and its heartbeat cannot be read now: whose it is is not known")
                return Sight(effect=Effect.UNKNOWN, text=f"{look}, which is not our hand; it is left to whoever has it")
            await cdu.unit.write(scope, ("control", -1), AUTO, cyclic=True)
            look = await cdu.look()
        if look.control != AUTO:
            return Sight(effect=Effect.ABSENT, text=f"it was told auto, and {look}")
        celsius = await cdu.see("setpoint")
        told = f"it has its own control{'' if math.isnan(celsius) else f', at {celsius:g} C'}"
        return Sight(effect=Effect.PRESENT, text=f"{told}{await self._strike_out(scope)}")

    async def _strike_out(self, scope: str) -> str:
        """That it was ours; why it could not be, which does not change that it has been given back."""
        if not self.kept.token:
            return ""
        try:
            await self.keep(scope, lambda kept: replace(kept, token=0, control="", yielded=""))
        except WireError as error:
            return f"; that it was ours could not be struck out: {error}"
        return ""

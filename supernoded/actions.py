"""One action: durable intent, look, ask the guards, apply, look again, outcome. Fresh and reopened ones take the same path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from supernoded.clock import Clock
from supernoded.errors import FencedError, JournalError, NotHeldError, RefusedError, WireError
from supernoded.guards import Guard, Tally, is_from_the_future
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.model import CAME_TO_NOTHING, COULD_NOT, Action, Effect, Outcome, Result, Sight, is_protective
from supernoded.parts import Actuator
from supernoded.supervisor import HungError, bounded
from supernoded.vetting import vet_sight

PAUSE = 0.5  # seconds between two looks
RESEND = 3.0  # seconds for an order to show before it is sent again (a PDU may take 2 s until a SET shows)
WIRE_TIMEOUT = 3.0  # seconds for one look or one order; a plugin's own time-outs should be shorter


Route = Callable[[Action], Actuator | None]  # who performs an action: an actuator of this node, or the way to another's


class Performer:
    """Performs the actions of one scope against one journal."""

    def __init__(self, route: Route, guards: Sequence[Guard], tally: Tally, journal: Journal, clock: Clock) -> None:
        self._route, self._guards, self._tally, self._journal, self._clock = route, guards, tally, journal, clock
        self._hung: dict[str, asyncio.Task[Any]] = {}  # orders that gave no answer in time and have not ended

    async def perform(self, action: Action, stored: Action | None = None) -> Outcome:
        """From intent to outcome; `stored` = the intent, where it is durable already. Raises FencedError when another has the role now."""
        while stored is None:
            try:
                stored = await self._journal.intend(action, self._clock.now())
            except FencedError:
                raise
            except JournalError as error:
                if is_protective(action.step.kind) or self._clock.now() >= action.deadline:
                    return await self._perform_unrecorded(action, str(error))
                await self._clock.sleep(PAUSE)  # a journal that is only slow or locked is given the action's own time
        return await self._conclude(stored, await self._settle(stored, reopened=stored.issued != action.issued))

    async def resume(self, action: Action) -> Outcome:
        """Bring an action to its outcome that an earlier life has left open: its order may be out already."""
        return await self._conclude(action, await self._settle(action, reopened=True))

    async def _perform_unrecorded(self, action: Action, why: str) -> Outcome:
        """Without a durable intent only what protects goes on (safety rule 2), and says so."""
        if not is_protective(action.step.kind):
            return await self._conclude(action, self._end(action, Result.REFUSED, f"the intent could not be recorded: {why}"))
        outcome = await self._settle(action, reopened=False)
        return await self._conclude(action, msgspec.structs.replace(outcome, text=f"{outcome.text} (intent unrecorded: {why})"))

    async def _conclude(self, action: Action, outcome: Outcome) -> Outcome:
        work = entries.conclude(action, outcome)
        try:
            await self._journal.commit(work)
        except FencedError:
            raise
        except JournalError:
            self._journal.post(work)  # the action is over; its outcome is written as soon as the journal can
        return outcome

    async def _settle(self, action: Action, *, reopened: bool) -> Outcome:
        actuator = self._route(action)
        if actuator is None:
            text = f"no actuator performs {action.step.kind} on {action.step.target}; `supernodectl plugins` shows what is installed"
            return self._end(action, Result.REFUSED, text)
        sent, refusal = reopened, ""
        sent_at = self._clock.now() if reopened else -RESEND  # the order of an earlier life may still be on its way
        while True:
            actuator = self._route(action) or actuator  # asked each time: where a job's launcher is may be heard only now
            sight = await self._look(actuator, action)
            now = self._clock.now()
            if sight.effect is Effect.PRESENT:
                return self._end(action, Result.DONE, sight.text or "the effect is seen")
            if sight.final and sent:
                return self._end(action, Result.UNCONFIRMED, f"{CAME_TO_NOTHING}{sight.text or sight.effect.value}")
            if sight.refused and sent:
                return self._end(action, Result.REFUSED, f"{COULD_NOT}{sight.text or sight.effect.value}")
            if now >= action.deadline or is_from_the_future(action, now):
                return self._give_up(action, sent=sent, refusal=refusal, sight=sight)
            if sight.effect is Effect.ABSENT and now - sent_at >= RESEND and not self._is_hanging(action):
                refusal = self._refusal(action)
                try:
                    if not refusal and await self._apply(actuator, action):
                        sent, sent_at = True, self._clock.now()
                        continue  # look at once: most devices show the effect by now
                except RefusedError as error:  # by whoever performs it, on another node
                    refusal = str(error)
            await self._clock.sleep(min(PAUSE, max(action.deadline - now, 0.0)))

    def _is_hanging(self, action: Action) -> bool:
        """Whether an order of it is still under way somewhere, so that another one would be the second."""
        return action.id in self._hung

    def _refusal(self, action: Action) -> str:
        now = self._clock.now()
        return next((refusal for guard in self._guards if (refusal := guard(action, now))), "")

    async def _apply(self, actuator: Actuator, action: Action) -> bool:
        """Send the order; whether a byte of it may be out. Raises RefusedError when whoever should do it said no."""
        self._tally.count(action, self._clock.now())
        try:
            await bounded(_apply(actuator, action), self._time_left(action), f"{action.step.kind} on {action.step.target}")
        except NotHeldError:
            return False
        except RefusedError:
            raise
        except HungError as error:
            self._hung[action.id] = error.task
            error.task.add_done_callback(lambda _: self._hung.pop(action.id, None))
        except WireError:
            return True  # it may have arrived all the same: only looking tells
        return True

    async def _look(self, actuator: Actuator, action: Action) -> Sight:
        try:
            return await bounded(_observe(actuator, action), WIRE_TIMEOUT, f"looking at {action.step.target}")
        except WireError as error:
            return Sight(effect=Effect.UNKNOWN, text=str(error))

    def _time_left(self, action: Action) -> float:
        return min(WIRE_TIMEOUT, max(action.deadline - self._clock.now(), 0.1))

    def _give_up(self, action: Action, *, sent: bool, refusal: str, sight: Sight) -> Outcome:
        if sent:
            refused = f"; asked again, it was refused: {refusal}" if refusal else ""
            text = f"the effect was not seen by the deadline: {sight.text or sight.effect.value}{refused}"
            return self._end(action, Result.UNCONFIRMED, text)
        if refusal:
            return self._end(action, Result.REFUSED, refusal)
        return self._end(action, Result.EXPIRED, f"nothing was sent by the deadline: {sight.text or sight.effect.value}")

    def _end(self, action: Action, result: Result, text: str) -> Outcome:
        if result in (Result.REFUSED, Result.EXPIRED):
            self._tally.withdraw(action)
        return Outcome(action=action.id, result=result, text=text, at=self._clock.now())


async def _apply(actuator: Actuator, action: Action) -> None:
    await actuator.apply(action)


async def _observe(actuator: Actuator, action: Action) -> Sight:
    return vet_sight(await actuator.observe(action))

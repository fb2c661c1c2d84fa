"""Leave to take something out: each daemon asks the fleet's holder for it, and without it does only what protects (safety rule 29)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from supernoded.clock import Clock
from supernoded.cluster.fleet.breakers import Want
from supernoded.errors import SupernodedError
from supernoded.model import TAKE_OUTS, Action, Hold

ASK_WITHIN = 4.0  # seconds for one question (ours)
AGAIN = 2.0  # seconds from an answer to the next question about the same, as long as somebody wants it (ours)
WANTED = 3.0  # seconds without anybody wanting it after which it is not asked for any more
MOST = 256  # wants at a time; an incident has a handful
AT_ONCE = 8  # questions under way
PROTECTIVE_ONLY = "until then only protective actions are performed"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the fleet's holder says. `seconds` = for how long, counted from before it was asked."""

    granted: bool
    text: str  # a sentence
    seconds: float = 0.0


Ask = Callable[[Want], Awaitable[Answer]]  # raises SupernodedError when nobody can be asked


@dataclass
class _Wanted:
    """One want, and what came of it."""

    want: Want
    noted: float  # when somebody last wanted it
    asked: float = -math.inf
    until: float = -math.inf  # the grant stands
    text: str = "the fleet's holder is asked for leave to take it out; it has not answered yet"


class Grants:
    """The guard of all take-outs, and the task that asks. `holds` are those that stand."""

    def __init__(self, clock: Clock, ask: Ask, holds: Callable[[], Sequence[Hold]]) -> None:
        self._clock, self._ask, self._holds = clock, ask, holds
        self._wanted: dict[tuple[str, str], _Wanted] = {}  # by subject and incident
        self._noted = asyncio.Event()

    def guard(self, action: Action, now: float) -> str | None:
        """None for what is no take-out, for what is granted, and for what its own policy holds already: that was granted once."""
        step = action.step
        if step.kind not in TAKE_OUTS:
            return None
        if any(hold.subject == step.target and hold.owner == action.policy and hold.stands(now) for hold in self._holds()):
            return None
        wanted = self._note(action, now)
        return None if wanted.until > now else f"{step.kind} on {step.target} is not granted: {wanted.text}"

    def _note(self, action: Action, now: float) -> _Wanted:
        key = action.step.target, action.incident
        wanted = self._wanted.get(key)
        if wanted is None:
            cause = action.step.details.get("cause", "") or action.policy
            want = Want(subject=action.step.target, cause=cause, incident=action.incident, owner=action.policy, kind=action.step.kind)
            wanted = _Wanted(want, now)
            if len(self._wanted) < MOST:
                self._wanted[key] = wanted
            else:
                wanted.text = f"{MOST} other grants are being asked for"
        wanted.noted = now
        if self._is_due(wanted, now):
            self._noted.set()
        return wanted

    def _is_due(self, wanted: _Wanted, now: float) -> bool:
        return wanted.until <= now and not 0.0 <= now - wanted.asked < AGAIN and now - wanted.noted < WANTED

    async def run(self) -> None:
        """Ask for what is wanted, for ever."""
        while True:
            await self._noted.wait()
            self._noted.clear()
            now = self._clock.now()
            due = [wanted for wanted in self._wanted.values() if self._is_due(wanted, now)]
            for begin in range(0, len(due), AT_ONCE):
                await asyncio.gather(*(self._ask_for(wanted) for wanted in due[begin : begin + AT_ONCE]))
            self._forget(self._clock.now())

    async def _ask_for(self, wanted: _Wanted) -> None:
        began = self._clock.now()
        try:
            answer = await asyncio.wait_for(self._ask(wanted.want), ASK_WITHIN)
        except TimeoutError:
            answer = Answer(granted=False, text=f"the fleet's holder did not answer within {ASK_WITHIN:g} s: {PROTECTIVE_ONLY}")
        except SupernodedError as error:
            answer = Answer(granted=False, text=f"{error}: {PROTECTIVE_ONLY}")
        wanted.asked, wanted.text = self._clock.now(), answer.text
        if answer.granted:
            wanted.until = began + answer.seconds

    def _forget(self, now: float) -> None:
        """What nobody wants any more, and what was noted by a clock that has been set back."""
        stale = [key for key, one in self._wanted.items() if one.until <= now and not -1.0 <= now - one.noted < 2 * WANTED]
        for key in stale:
            del self._wanted[key]

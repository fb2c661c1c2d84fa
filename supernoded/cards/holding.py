"""`card.hold` and `card.unhold` as actions: cards and nodes kept out of service, and let go."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.clock import Clock
from supernoded.errors import JournalError, WireError
from supernoded.holds import HoldError, Holds
from supernoded.model import Action, Effect, Hold, Sight, hold_id

MOST_ROUNDS = 100  # of one incident whose holds are looked for when it lets go (ours)


def read_round(step: str) -> int:
    """The round of a remedy's step, whose name begins with it: `2-hold-n0/card3`; 0 where it names none."""
    number = step.partition("-")[0]
    return min(int(number), MOST_ROUNDS) if number.isascii() and number.isdecimal() and len(number) < 6 else 0


def name_hold(action: Action, number: int | None = None) -> str:
    """The identity of the hold that an action places: one for each round of its incident."""
    number = read_round(action.step.name) if number is None else number
    return hold_id(action.policy, action.step.target, f"{action.incident}/{number}")


class HoldActuator:
    """`card.hold` and `card.unhold` on any card or node of the site: a word that all daemons hear, whoever says it."""

    kinds = frozenset({"card.hold", "card.unhold"})

    def __init__(self, holds: Holds, subjects: Sequence[str], clock: Clock) -> None:
        self.targets, self._holds, self._clock = subjects, holds, clock

    async def apply(self, action: Action) -> None:
        """See `Actuator.apply`."""
        try:
            if action.step.kind == "card.unhold":
                for hold in self._list_own(action):
                    await self._holds.lift(hold.id, action.policy)
            else:
                await self._holds.place(self._make(action))
        except (JournalError, HoldError) as error:
            raise WireError(str(error)) from error

    async def observe(self, action: Action) -> Sight:
        """See `Actuator.observe`."""
        if action.step.kind == "card.unhold":
            if self._holds.trouble:
                return Sight(effect=Effect.UNKNOWN, text=f"whether {action.step.target} is held is not known: {self._holds.trouble}")
            own = self._list_own(action)
            others = [hold for hold in self._holds.of(action.step.target) if hold not in own]
            still = f"; {', '.join(sorted({hold.owner for hold in others}))} holds it still" if others else ""
            return Sight(effect=Effect.ABSENT if own else Effect.PRESENT, text=f"{len(own)} of its own stand" if own else f"let go{still}")
        return self._see_hold(action)

    def _see_hold(self, action: Action) -> Sight:
        hold = self._holds.find(name_hold(action))
        if hold is None:
            return Sight(effect=Effect.ABSENT, text=f"{action.step.target} is not held")
        if hold.stands(self._clock.now()):
            return Sight(effect=Effect.PRESENT, text=f"held as {hold.id}")
        how = f"was lifted by {hold.lifted_by}" if hold.lifted is not None else "has expired"
        return Sight(effect=Effect.ABSENT, text=f"hold {hold.id} {how}, and is not placed again")

    def _list_own(self, action: Action) -> list[Hold]:
        """Those of this incident that stand, of every round so far."""
        now = self._clock.now()
        ids = [name_hold(action, number) for number in range(read_round(action.step.name) + 1)]
        found = [self._holds.find(id_) for id_ in ids]
        return [hold for hold in found if hold is not None and hold.stands(now)]

    def _make(self, action: Action) -> Hold:
        step, now = action.step, self._clock.now()
        return Hold(
            id=name_hold(action),
            subject=step.target,
            serial=step.details.get("serial", ""),
            reason=step.reason,
            owner=action.policy,
            placed=now,
            expires=_read_end(step.details.get("expires_s", ""), now),
            cause=step.details.get("cause", ""),
            node=self._holds.node,
        )


def _read_end(seconds: str, now: float) -> float | None:
    """Raises WireError for what is no time."""
    if not seconds:
        return None
    try:
        last = float(seconds)
    except ValueError:
        last = -1.0
    if not 0.0 < last < 1e9:
        raise WireError(f"expires_s = {seconds[:40]!r} is no number of seconds: a hold that ends at once holds nothing")
    return now + last

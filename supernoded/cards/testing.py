"""`card.test` as an action."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.cards.errands import Errand
from supernoded.cards.trial import Trial
from supernoded.clock import Clock
from supernoded.model import Action, Effect, Sight


class TrialActuator:
    """`card.test` on this node's cards. An action tests once: a card that has failed has failed."""

    kinds = frozenset({"card.test"})

    def __init__(self, trial: Trial, cards: Sequence[str], clock: Clock) -> None:
        self.targets, self._trial, self._clock = cards, trial, clock

    async def apply(self, action: Action) -> None:
        """See `Actuator.apply`."""
        self._trial.begin(action.id, action.step.target, action.step.details.get("serial", ""), action.step.reason)

    async def observe(self, action: Action) -> Sight:
        """See `Actuator.observe`."""
        return see_test(self._trial.find(action.id), self._clock.now(), self._trial.test_s)


def see_test(errand: Errand | None, now: float, test_s: float) -> Sight:
    """How a test stands. Only one that came to its end has failed; what kept it from that says nothing of the card, and is to be mended."""
    if errand is None:
        return Sight(effect=Effect.ABSENT, text="it is not under test")
    if errand.running:
        return Sight(effect=Effect.UNKNOWN, text=f"under test, {now - errand.began:.0f} of {test_s:g} s")
    if errand.trouble:
        return Sight(effect=Effect.ABSENT, text=errand.trouble, final=errand.failed, refused=not errand.failed)
    return Sight(effect=Effect.PRESENT, text=errand.text)

"""`card.isolate` and `card.release` as actions."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.cards.errands import SOON, Errands
from supernoded.cards.fence import Fence
from supernoded.clock import Clock
from supernoded.errors import RefusedError, WireError
from supernoded.holds import Holds
from supernoded.model import NODE, Action, Effect, Reading, Sight
from supernoded.reading import make_reading


class FenceSensor:
    """Reads which cards of this node are fenced, and which of these have passed a test since, for people and for other nodes."""

    scope, period, timeout = NODE, 5.0, 1.0

    def __init__(self, fence: Fence, clock: Clock) -> None:
        self.name = f"cards@{fence.node}"
        self._fence, self._clock = fence, clock

    async def read(self) -> Sequence[Reading]:
        """All cards, by what was written down last; none before that was looked at."""
        now, known = self._clock.now(), self._fence.known
        if known is None:
            return []
        isolated = [make_reading(card, "card.isolated", float(card in known), "1", now) for card in self._fence.cards]
        return isolated + [make_reading(card, "card.proven", float(self._fence.is_proven(card)), "1", now) for card in known]


class FenceActuator:
    """`card.isolate` and `card.release` on this node's cards."""

    kinds = frozenset({"card.isolate", "card.release"})

    def __init__(self, fence: Fence, holds: Holds, clock: Clock) -> None:
        self.targets, self._fence, self._holds = fence.cards, fence, holds
        self._errands = Errands(clock)

    async def apply(self, action: Action) -> None:
        """Begin; the site's program may take longer than an order may. Raises RefusedError when it may not be done."""
        card, isolating = action.step.target, action.step.kind == "card.isolate"
        refusal = self._fence.find_refusal(card, action.policy) if isolating else self._fence.find_hindrance(card)
        if refusal:
            raise RefusedError(refusal)
        before = self._errands.find(self._other(action))
        if before is not None and before.running:
            raise WireError(f"{card}: the other way is still under way; it is waited for")
        work = self._fence.isolate(card, action.policy, action.step.reason) if isolating else self._fence.release(card, action.step.reason)
        self._errands.begin(self._key(action), work)
        await self._errands.wait(self._key(action), SOON)

    async def observe(self, action: Action) -> Sight:
        """See `Actuator.observe`: what is written down, which is so after the site's program has said that it is done."""
        card, isolating = action.step.target, action.step.kind == "card.isolate"
        errand = self._errands.find(self._key(action))
        if errand is not None and errand.running:
            return Sight(effect=Effect.UNKNOWN, text=f"[hooks] {action.step.kind.removeprefix('card.')} is under way on {card}")
        fenced = await self._fence.find(card)
        if (fenced is not None) is isolating:
            return Sight(effect=Effect.PRESENT, text=self._say(card, fenced.said if fenced is not None else ""))
        refusal = self._fence.find_refusal(card, action.policy) if isolating else self._fence.find_hindrance(card)
        text = refusal or (errand.trouble if errand is not None else "") or f"{card} is {'not ' if isolating else ''}isolated"
        return Sight(effect=Effect.ABSENT, text=text)

    def stop(self) -> None:
        """Give up what is under way: its program is killed, and a later life begins it anew."""
        self._errands.stop()

    def _say(self, card: str, said: str) -> str:
        holds = len(self._holds.of(card))
        return f"{card}: {f'{holds} hold stands' if holds == 1 else f'{holds} holds stand'}{f', {said}' if said else ''}"

    def _key(self, action: Action) -> str:
        return f"{action.step.kind} {action.step.target}"

    def _other(self, action: Action) -> str:
        kind = "card.release" if action.step.kind == "card.isolate" else "card.isolate"
        return f"{kind} {action.step.target}"

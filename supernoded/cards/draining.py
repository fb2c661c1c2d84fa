"""`node.drain` and `node.release` as actions, by the site's own programs."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.cards.errands import SOON, Errands
from supernoded.cards.hooks import Occasion, SiteHooks, Verb
from supernoded.clock import Clock
from supernoded.model import Action, Effect, Sight


class DrainActuator:
    """`node.drain` and `node.release` by the site's own programs, on every node of the site."""

    kinds = frozenset({"node.drain", "node.release"})

    def __init__(self, hooks: SiteHooks, nodes: Sequence[str], clock: Clock) -> None:
        self.targets, self._hooks = nodes, hooks
        self._errands = Errands(clock)

    async def apply(self, action: Action) -> None:
        """Begin; once it has succeeded it is not asked again for this action. Raises WireError."""
        verb: Verb = "drain" if action.step.kind == "node.drain" else "undrain"
        errand = self._errands.find(action.id)
        if errand is None or errand.trouble:
            self._errands.begin(action.id, self._hooks.call(verb, Occasion(action.step.target, reason=action.step.reason)))
        await self._errands.wait(action.id, SOON)

    async def observe(self, action: Action) -> Sight:
        """What the program has said to this life; the scheduler itself is asked by its own plugin."""
        errand = self._errands.find(action.id)
        if errand is None:
            return Sight(effect=Effect.ABSENT, text=f"[hooks] has not been asked to {action.step.kind.removeprefix('node.')} it")
        if errand.running:
            return Sight(effect=Effect.UNKNOWN, text="[hooks] is under way")
        if errand.trouble:
            return Sight(effect=Effect.ABSENT, text=errand.trouble)
        return Sight(effect=Effect.PRESENT, text=errand.text or "[hooks] ended with code 0")

    def stop(self) -> None:
        """Give up what is under way."""
        self._errands.stop()

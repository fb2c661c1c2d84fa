"""A handle that can never be taken, so that the loop that wants it is told why."""

from __future__ import annotations

from dataclasses import dataclass

from supernoded.errors import WireError
from supernoded.model import Effect, Setpoint, Sight


@dataclass(frozen=True)
class ClosedHandle:
    """See `supernoded.plugin.Handle`."""

    target: str
    quantity: str
    why: str  # and what to do

    async def now_at(self) -> Setpoint | None:
        """Raises WireError, always."""
        raise WireError(f"{self.target}: {self.why}")

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Raises WireError, always."""
        del setpoint, scope
        await self.now_at()

    async def hand_back(self, scope: str) -> Sight:
        """It was never taken."""
        del scope
        return Sight(effect=Effect.PRESENT, text="it was never taken")

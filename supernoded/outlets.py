"""Outlets that are switched one by one, and what counts as switched.

A device plugin brings its `Outlets`: how they are looked at and switched. What shows the effect of an order is decided here alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from supernoded.errors import WireError
from supernoded.model import Action, Effect, Sight

SWITCH_KINDS = frozenset({"power.off", "power.on", "outlet.off", "outlet.on"})
LEAST_W = 2.0  # below this nothing is drawn: meters of outlets resolve one watt (ours)
LEAST_A = 0.05  # the same of current: they resolve a tenth of an ampere (PowerNet-MIB) or a hundredth (Sentry3-MIB)


class OutletSight(msgspec.Struct, frozen=True, kw_only=True):
    """What a PDU shows of one outlet."""

    state: str | None = None  # on, off; None = it does not tell
    drawing: bool | None = None  # whether current flows; None = it cannot be told now
    metered: bool = True  # False = this PDU does not meter its outlets, so that its word on the state is all there is
    note: str = ""


class Outlets(Protocol):
    """The outlets of one PDU."""

    @property
    def pdu(self) -> str:
        """Subject of the PDU, such as `pdu/A1`."""
        ...

    async def look(self, numbers: Sequence[int]) -> Mapping[int, OutletSight]:
        """What these outlets show; one that the PDU does not have is left out. Raises WireError."""
        ...

    async def switch(self, scope: str, number: int, *, on: bool) -> None:
        """Give the order, asking the pen for `scope`. Raises WireError; returning proves nothing."""
        ...


def judge_drawing(watts: float | None, amperes: float | None) -> bool | None:
    """Whether an outlet feeds anything, by either meter: a wattmeter that is not there often reads 0. None when neither is known."""
    told = [value >= least for value, least in ((watts, LEAST_W), (amperes, LEAST_A)) if value is not None and value >= 0.0]
    return any(told) if told else None


def judge_outlet(sight: OutletSight | None, *, on: bool) -> Sight:
    """What an outlet shows of having been switched: by its state, and by current that flows or does not (safety rule 23)."""
    wanted = "on" if on else "off"
    if sight is None:
        return Sight(effect=Effect.UNKNOWN, text="the PDU shows no such outlet")
    if sight.state is None:
        return Sight(effect=Effect.UNKNOWN, text=sight.note or "its state is not told")
    if sight.state != wanted:
        return Sight(effect=Effect.ABSENT, text=f"it is {sight.state}")
    if not sight.metered:
        return Sight(effect=Effect.PRESENT, text=f"{wanted} by the PDU's word; it does not meter outlets")
    if sight.drawing is on:
        return Sight(effect=Effect.PRESENT, text=f"{wanted}, and {'current flows' if on else 'no current flows'}")
    if sight.drawing is None:
        return Sight(
            effect=Effect.UNKNOWN, text=f"{wanted} by the PDU's word; whether current flows is not known: {sight.note or 'no value'}"
        )
    return Sight(effect=Effect.UNKNOWN, text=f"{wanted} by the PDU's word, but {'no current flows yet' if on else 'current still flows'}")


@dataclass(frozen=True)
class OutletSwitch:
    """Performs `power.off`, `power.on`, `outlet.off` and `outlet.on` on the outlets of one PDU."""

    outlets: Outlets
    kinds: frozenset[str] = SWITCH_KINDS

    @property
    def targets(self) -> Sequence[str]:
        """Every outlet of the PDU."""
        return (f"{self.outlets.pdu}/outlet*",)

    async def apply(self, action: Action) -> None:
        """Switch it. Raises WireError."""
        await self.outlets.switch(action.scope, self._number(action), on=action.step.kind.endswith(".on"))

    async def observe(self, action: Action) -> Sight:
        """State and current. Raises WireError."""
        number = self._number(action)
        return judge_outlet((await self.outlets.look((number,))).get(number), on=action.step.kind.endswith(".on"))

    def _number(self, action: Action) -> int:
        number = action.step.target.removeprefix(f"{self.outlets.pdu}/outlet")
        if not number.isdecimal():
            raise WireError(f"{action.step.target}: no outlet; write {self.outlets.pdu}/outlet7")
        return int(number)

"""The outlets of a PDU behind a NUT server, where its driver has `outlet.N.load.off` and `.on`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import OutletSight, WireError, judge_drawing
from supernoded_nut.numbers import Variables
from supernoded_nut.pdu import read_outlet
from supernoded_nut.server import NutServer
from supernoded_nut.told import Told
from supernoded_nut.ups import is_waiting

METERS = ("outlet.power", "outlet.current")


class NutOutlets:
    """See `supernoded.plugin.Outlets`."""

    def __init__(self, pdu: str, server: NutServer, device: str) -> None:
        self.pdu, self._server, self._device = pdu, server, device

    async def look(self, numbers: Sequence[int]) -> Mapping[int, OutletSight]:
        """See `Outlets.look`."""
        variables = await self._server.list_variables(self._device)
        if is_waiting(variables):
            raise WireError(f"{self.pdu}: the driver of {self._device} has only just started, and knows no outlet")
        seen = {number: _look_at(variables, number) for number in numbers}
        return {number: sight for number, sight in seen.items() if sight is not None}

    async def switch(self, scope: str, number: int, *, on: bool) -> None:
        """See `Outlets.switch`; the driver's own word on the order is waited for."""
        await self._server.command(scope, self._device, f"outlet.{number}.load.{'on' if on else 'off'}")


def _look_at(variables: Variables, number: int) -> OutletSight | None:
    told: dict[str, Told] = {one.quantity: one for one in read_outlet(variables, number)}
    state = told.get("outlet.state")
    watts, amperes = (_take(told.get(quantity)) for quantity in METERS)
    return (
        OutletSight(
            state=state.value if state is not None and isinstance(state.value, str) else None,
            drawing=judge_drawing(watts, amperes),
            metered=any(quantity in told for quantity in METERS),
            note="; ".join(one.note for one in told.values() if one.value is None),
        )
        if told
        else None
    )


def _take(told: Told | None) -> float | None:
    return told.value if told is not None and isinstance(told.value, float) else None

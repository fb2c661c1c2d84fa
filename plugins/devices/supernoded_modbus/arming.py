"""Arming as a setpoint: the lease is renewed or runs out (safety rule 7)."""

from __future__ import annotations

from supernoded.plugin import Effect, Setpoint, Sight, WireError
from supernoded_modbus.pdu import ShedPdu, list_outlets


class ShedHandle:
    """See `supernoded.plugin.Handle`; the value is the lease in seconds."""

    quantity = "pdu.lease_left"

    def __init__(self, pdu: ShedPdu) -> None:
        self.target = f"{pdu.subject}/shed"
        self._pdu = pdu

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Arm for so many seconds, from now."""
        await self._pdu.arm(scope, setpoint.value)

    async def now_at(self) -> Setpoint | None:
        """The lease that is left, 0 where nothing is armed; None when it cannot be read."""
        try:
            armed = await self._pdu.look_armed()
        except WireError:
            return None
        return Setpoint(target=self.target, quantity=self.quantity, value=armed.lease_left if armed.armed else 0.0, unit="s")

    async def hand_back(self, scope: str) -> Sight:
        """Disarm, and look; what somebody else has armed is left to him (safety rule 1). Raises WireError."""
        before = await self._pdu.look_armed()
        if before.armed and before.group != self._pdu.sheddable:
            return Sight(effect=Effect.UNKNOWN, text=f"somebody else has armed {list_outlets(before.group)} and it is left to him")
        if before.armed:
            await self._pdu.disarm(scope)
        armed = await self._pdu.look_armed()
        if armed.armed:
            return Sight(effect=Effect.ABSENT, text=f"it is still armed, for {armed.lease_left:g} s")
        return Sight(effect=Effect.PRESENT, text="it is disarmed")

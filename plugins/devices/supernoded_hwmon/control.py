"""Who turns a node's fans; and the watchdog that the hardware does not have."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import NODE, Clock, Effect, Reading, WireError, make_reading
from supernoded_hwmon.drivers import MANUAL
from supernoded_hwmon.grip import Grip
from supernoded_hwmon.outputs import Output, join_controls
from supernoded_hwmon.sensor import TIMEOUT


class FanControlSensor:
    """See `supernoded.plugin.Sensor`. It reads `fan.control`, and gives back what a dead or silent loop has left in manual.

    Giving back is undoing, which every mode allows (safety rule 2); it takes nothing.
    """

    name, scope, timeout = "hwmon.control", NODE, TIMEOUT

    def __init__(self, node: str, grip: Grip, clock: Clock) -> None:
        self.period = grip.settings.period_s
        self._node, self._grip, self._clock = node, grip, clock

    async def read(self) -> Sequence[Reading]:
        """None where no output has a switch. Raises WireError."""
        async with self._grip.free:
            note = await self._give_back_overdue()
            held = (await self._grip.read_held()).found
            outputs = await self._grip.look()
        told = [output for output in outputs if output.driver.tells or output.key in held]
        if not told:
            return []
        control = MANUAL if any(not output.driver.tells for output in told) else join_controls(told)
        note = note or _explain(told, control, held)
        return [make_reading(self._node, "fan.control", control, "text", self._clock.now(), note)]

    async def _give_back_overdue(self) -> str:
        """What came of it; empty when there was nothing to give back."""
        if not await self._grip.is_overdue():
            return ""
        try:
            sight = await self._grip.give_back(self.scope)
        except WireError as error:
            return f"held by this daemon, not renewed, and not given back: {error}"
        what = "given back" if sight.effect is Effect.PRESENT else "not given back"
        return f"held by this daemon, not renewed, and {what}: {sight.text}"


def _explain(outputs: Sequence[Output], control: str | None, held: object) -> str:
    """Why it is not known, or who else may have set it."""
    if control is None:
        unknown = next(output for output in outputs if output.control is None)
        return f"{unknown.key}: {unknown.trouble or f'{unknown.switch} is {unknown.enable}, which says nothing known'}"
    if control == MANUAL and not held:
        return "manual, and not by this daemon: another program turns the fans, or one has left them so"
    return ""

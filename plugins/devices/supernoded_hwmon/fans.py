"""What a loop turns: the duty of a node's fans.

A control that was changed behind our back is yielded (safety rule 1), with one exception: a kernel that wakes from sleep puts it back to
automatic, and nobody meant that. So it is taken again from automatic, once in `AGAIN` seconds; from full speed or anything else never.
"""

from __future__ import annotations

from supernoded.plugin import Clock, NotHeldError, Setpoint, Sight, WireError
from supernoded_hwmon.drivers import AUTO, FULL, MANUAL, NONE, can_be_given_back
from supernoded_hwmon.grip import Grip
from supernoded_hwmon.outputs import Output
from supernoded_hwmon.values import to_percent, to_pwm

AGAIN = 600.0  # seconds (ours)
COARSE = 64  # of 255: drivers with three steps round so far (dell_smm: 85, 170, 255; or 0, 128, 255)
STRAYS = 3  # setpoints in a row that an output does not follow, until it is told (ours)


class FanHandle:
    """See `supernoded.plugin.Handle`; every output of the chips in `steer` gets the same duty, in %."""

    quantity = "fan.duty"

    def __init__(self, node: str, grip: Grip, clock: Clock) -> None:
        self.target = f"{node}/fans"
        self._grip, self._clock = grip, clock
        self._again: dict[str, float] = {}  # when each was last taken again
        self._asked: dict[str, int] = {}
        self._strays: dict[str, int] = {}

    async def now_at(self) -> Setpoint | None:
        """The highest duty of its outputs; None when none can be read. Raises WireError when they must not be taken."""
        async with self._grip.free:
            await self._grip.read_held()
            outputs = await self._look()
        for output in outputs:
            why = _find_hindrance(output)
            if why:
                raise WireError(f"{self.target} is not taken: {output.key} {why}")
        self._grip.taken, self._asked, self._strays = set(), {}, {}
        shown = [output.pwm for output in outputs if output.pwm is not None]
        if not shown:
            return None
        return Setpoint(target=self.target, quantity=self.quantity, value=to_percent(max(shown)), unit="%")

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Every output; one that cannot be turned does not keep the others. Raises WireError, at the end."""
        async with self._grip.free:
            outputs, troubles = await self._look(), list[str]()
            for output in outputs:
                try:
                    await self._turn(scope, output, to_pwm(setpoint.value))
                except NotHeldError:
                    raise
                except WireError as error:
                    troubles.append(str(error))
            if len(troubles) < len(outputs):
                self._grip.renew(setpoint.until)
        if troubles:
            raise WireError(f"{len(troubles)} of {len(outputs)} outputs were not put: {'; '.join(troubles)}")

    async def hand_back(self, scope: str) -> Sight:
        """What was taken goes back to the control that was found, or to automatic, or to full speed. Raises WireError."""
        async with self._grip.free:
            self._grip.renew(0.0)
            return await self._grip.give_back(scope)

    async def _look(self) -> list[Output]:
        if not self._grip.settings.steer:
            raise WireError(f"{self.target}: name the chips whose fans may be turned in `steer` of [plugins.hwmon]")
        outputs = await self._grip.look()
        if not outputs:
            chips, root = ", ".join(self._grip.settings.steer), self._grip.settings.root
            raise WireError(f"{self.target}: no output with a pwm*_enable on a chip that fits {chips} below {root}")
        return outputs

    async def _turn(self, scope: str, output: Output, pwm: int) -> None:
        fresh = await self._ensure_manual(scope, output)
        key, trouble = output.key, self._follow(output)
        if fresh or output.pwm != pwm:
            await output.set_pwm(scope, pwm)
        self._asked[key] = pwm
        if trouble:
            raise WireError(trouble)

    async def _ensure_manual(self, scope: str, output: Output) -> bool:
        """Whether it was set to manual just now. Raises WireError when it is another's."""
        key, held = output.key, (await self._grip.read_held()).found
        if key in held and (output.control == MANUAL or not output.driver.tells):
            self._grip.taken.add(key)
            return False
        if key in held and output.enable is None:
            raise WireError(f"{key}: whether {output.switch} is still manual cannot be told: {output.trouble}")
        if key in self._grip.taken and output.control != AUTO:
            await self._grip.let_go(scope, key)
            raise WireError(f"{key}: somebody has set it to {output.control or output.enable}, and it is left to him until it is automatic")
        why = _find_hindrance(output)
        if why:
            raise WireError(f"{key} {why}")
        if key in self._grip.taken and key in held:
            self._count_again(key)
        await self._grip.take(scope, output)
        return True

    def _count_again(self, key: str) -> None:
        """Raises WireError while it is too soon."""
        now = self._clock.now()
        left = self._again.get(key, -AGAIN) + AGAIN - now
        if key in self._again and left > 0.0:
            raise WireError(f"{key}: it went back to automatic once more, and is not taken again for {left:.0f} s")
        self._again[key] = now

    def _follow(self, output: Output) -> str:
        """What to say of one that is still far from what was asked of it some time ago; the nearest of a few steps is near enough."""
        asked = self._asked.get(output.key)
        far = asked is not None and output.pwm is not None and abs(output.pwm - asked) > COARSE
        strays = self._strays[output.key] = self._strays.get(output.key, 0) + 1 if far else 0
        return f"{output.key}: shows {output.pwm} of 255 where {asked} was written {strays} times" if strays >= STRAYS else ""


def _find_hindrance(output: Output) -> str:
    """Why it must not be taken; empty when it may."""
    if not can_be_given_back(output.driver):
        return "could not be given back: its driver has no word for automatic control or full speed"
    if not output.driver.tells or output.control in {AUTO, MANUAL}:
        return ""
    if output.control == FULL and output.driver.auto == NONE:
        return ""  # it is how we give it back ourselves
    if output.control is None:
        return f"has a {output.switch} that says nothing known: {output.trouble or output.enable}; describe it in [plugins.hwmon.drivers]"
    return "was set to full speed by somebody, and is left to him until it is automatic; or name it in `exclude` of [plugins.hwmon]"

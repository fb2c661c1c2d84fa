"""The daemon's grip on the outputs: taken with a record first, and given back with a look.

The hardware has no watchdog that would take the fans back from a silent daemon, so `is_overdue` stands in for it: what nobody has
renewed in time is given back, whoever left it (safety rules 3 and 15).
"""

from __future__ import annotations

import asyncio

import msgspec

from supernoded.plugin import Clock, Effect, NotHeldError, Sight, StateFile, WireError
from supernoded_hwmon.chips import Chips
from supernoded_hwmon.drivers import FULL, MANUAL, list_ways_back, name_control
from supernoded_hwmon.outputs import Output, join_controls, look_at_outputs, may_be_turned
from supernoded_hwmon.record import Held
from supernoded_hwmon.settings import HwmonSettings

GRACE = 10.0  # seconds after the start in which a loop may go on with what an earlier life held (ours)
SLACK = 2.0  # seconds beyond a setpoint's life (ours)


class Grip:
    """What is held of the outputs of the chips in `steer`. One thing at a time: whoever uses it waits for `free`."""

    def __init__(self, chips: Chips, record: StateFile[Held], clock: Clock, settings: HwmonSettings) -> None:
        self.settings = settings
        self.free = asyncio.Lock()
        self._chips, self._record, self._clock = chips, record, clock
        self._held: Held | None = None  # None: not yet read
        self._begun: float | None = None
        self._until = 0.0
        self.taken: set[str] = set()  # what was set to manual since a loop began, and not given back since

    async def look(self) -> list[Output]:
        """The outputs that may be turned, as they are; all outputs, where none may be. Raises WireError."""
        return [output for output in await look_at_outputs(self._chips, self.settings) if may_be_turned(output, self.settings)]

    async def read_held(self) -> Held:
        """What is held. Raises WireError."""
        if self._held is None:
            self._held = await self._record.read()
        return self._held

    async def take(self, scope: str, output: Output) -> None:
        """Write down what it shows, then set it to manual and look. Raises WireError."""
        held = await self.read_held()
        if output.key not in held.found:
            await self._keep(scope, Held({**held.found, output.key: output.enable}))
        shown = await output.set_control(scope, output.driver.manual)
        if name_control(output.driver, shown) != MANUAL:
            raise WireError(f"{output.key}: {output.switch} was set to {output.driver.manual} for manual, and shows {shown}")
        self.taken.add(output.key)

    async def let_go(self, scope: str, key: str) -> None:
        """Another has taken it: it is his, and nothing is given back."""
        held = await self.read_held()
        if key in held.found:
            await self._keep(scope, Held({one: found for one, found in held.found.items() if one != key}))

    def renew(self, until: float) -> None:
        """Somebody steers, and what he has put lives so long."""
        self._until = until

    async def is_overdue(self) -> bool:
        """Whether something is held that nobody has renewed in time. Raises WireError."""
        now = self._clock.now()
        self._begun = now if self._begun is None else self._begun
        return bool((await self.read_held()).found) and now > max(self._until + SLACK, self._begun + GRACE)

    async def give_back(self, scope: str) -> Sight:
        """Every output that is held, also one that the settings no longer name. Raises WireError when nothing can be seen at all."""
        self.taken = set()
        held = await self.read_held()
        outputs = {output.key: output for output in await look_at_outputs(self._chips, self.settings)}
        kept, told = dict[str, int | None](), list[str]()
        for key, found in held.found.items():
            why = await self._return(scope, outputs[key], found) if key in outputs else "it is not there"
            if why:
                kept[key] = found
                told.append(f"{key}: {why}")
        if kept != held.found:
            await self._keep(scope, Held(kept))
        if told:
            return Sight(effect=Effect.ABSENT if any(key in outputs for key in kept) else Effect.UNKNOWN, text="; ".join(told))
        mine = [output for key, output in outputs.items() if key in held.found or may_be_turned(output, self.settings)]
        return _tell_given(mine, len(held.found))

    async def _return(self, scope: str, output: Output, found: int | None) -> str:
        """Why it could not be given back; empty when it was, or when another has done so."""
        if output.chip.trouble is not None:
            return str(output.chip.trouble)
        if output.driver.tells and output.control not in {MANUAL, None}:
            return ""
        tried = list[str]()
        for word in list_ways_back(output.driver, found):
            try:
                shown = await output.set_control(scope, word)
            except NotHeldError:
                raise
            except WireError as error:
                tried.append(f"{word} was refused: {error}")
                continue
            if name_control(output.driver, shown) not in {MANUAL, None}:
                return ""
            tried.append(f"{word} was written, and it shows {shown}")
        return f"still {output.control or 'in a state that is not known'}; {', '.join(tried)}"

    async def _keep(self, scope: str, held: Held) -> None:
        await self._record.write(scope, held)
        self._held = msgspec.structs.replace(held)


def _tell_given(outputs: list[Output], count: int) -> Sight:
    """Nothing of ours is left: what the outputs show."""
    foreign = [output.key for output in outputs if output.driver.tells and output.control == MANUAL]
    if not count and foreign:
        return Sight(effect=Effect.UNKNOWN, text=f"{', '.join(foreign)}: manual, not by this daemon, and left to whoever set it")
    if count and any(not output.driver.tells for output in outputs):
        return Sight(effect=Effect.PRESENT, text="automatic control was written; its driver does not show it")
    full = join_controls([output for output in outputs if output.driver.tells]) == FULL
    return Sight(effect=Effect.PRESENT, text="its fans are at full speed" if full else "its own control has it")

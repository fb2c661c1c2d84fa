"""`cdu/<id>/setpoint` over Redfish: the unit's own controller holds what we ask for.

Redfish has no heartbeat. A unit whose own watchdog hears another protocol falls back while we steer, and is engaged again by the next
setpoint, as long as nobody else has touched it; one without a watchdog holds our last setpoint when we fall silent.
"""

from __future__ import annotations

from supernoded.plugin import Effect, LapsedError, NotHeldError, Setpoint, Sight, Tree, WireError, YieldedError
from supernoded_redfish.control_page import read_control, write_control
from supernoded_redfish.controls import AUTOMATIC, OVERRIDE
from supernoded_redfish.engagement import Record, is_near, open_record
from supernoded_redfish.plausible import find_doubt
from supernoded_redfish.settings import CduSettings
from supernoded_redfish.steered import Steered, find_steered
from supernoded_redfish.unit import CoolingUnit
from supernoded_redfish.unit_reading import UnitReading

QUANTITY = "coolant.setpoint"
SOONER = 0.5  # of the time after which it fell back before: then it was no watchdog but a hand (ours)
LOOKS, LOOK_S = 3, 0.3  # at what was handed back, and seconds between them (ours)
AWAY = 2  # looks in a row that failed, after which the unit may have started anew (ours)
FOLLOWING = ("", AUTOMATIC, OVERRIDE)  # modes of a setpoint that is followed


class SetpointHandle:
    """See `supernoded.plugin.Handle`."""

    quantity = QUANTITY

    def __init__(self, unit: CoolingUnit, door: CduSettings, state: Tree) -> None:
        self.target = f"{unit.cdu}/setpoint"
        self._unit, self._door, self._record = unit, door, open_record(unit.cdu, state)
        self._reading = UnitReading(unit)
        self._steered: Steered | None = None
        self._since: float | None = None  # when it was engaged; None = it is not
        self._lasted: float | None = None  # how long an engagement stood until the unit fell back
        self._yielded = ""
        self._unseen = False  # what the unit made of our newest setpoint
        self._misses = 0  # looks in a row that failed

    async def now_at(self) -> Setpoint | None:
        """See `Handle.now_at`. Raises WireError for another unit, one whose readings cannot be, and one in another's hand."""
        facts = await self._reading.read()
        doubt = find_doubt(self._unit.cdu, self._door.serial, facts)
        if doubt:
            raise WireError(f"{self._unit.cdu} is not taken: {doubt}")
        self._steered = _must_tell(self._unit.cdu, await find_steered(self._unit, self._door))
        self._since, self._yielded, self._misses = None, "", 0
        refusal = _refuse(self._steered, await self._record.read())
        if refusal:
            raise WireError(f"{self._unit.cdu} is not taken: {refusal}")
        held = facts.get((self._unit.cdu, QUANTITY))
        value = held.value if held is not None else None
        asked = self._steered.point.set_point if _is_followed(self._steered) else None
        now = value if isinstance(value, float) else asked
        return None if now is None else Setpoint(target=self.target, quantity=QUANTITY, value=now, unit="C")

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Write what is not yet so. What became of it is seen at the next put.

        Raises WireError; YieldedError when another has changed it (safety rule 1), LapsedError when the unit has started anew.
        """
        if self._yielded:
            raise YieldedError(f"{self._unit.cdu} is left to whoever took it: {self._yielded}")
        misses = self._misses
        steered = await self._see()
        record = await self._read(steered)
        self._refuse_restarted(steered, record, misses)
        self._yielded = self._find_hand(steered, record)
        if self._yielded:
            raise YieldedError(f"{self._unit.cdu} is not told: {self._yielded}")
        _check_range(self._unit.cdu, steered, setpoint.value)
        ignored = self._unseen and is_near(record.last, steered.point.set_point) and not is_near(record.written, record.last)
        if record.made is not None and self._unseen:
            await self._record.write(scope, record)
        self._unseen = False
        if not record.stands(steered.point.set_point, setpoint.value):
            await self._record.write(scope, record.follow(steered.point.set_point, setpoint.value))
            self._unseen = True
            await write_control(self._unit.http, scope, steered.point, SetPoint=setpoint.value)
        if not _is_followed(steered) and steered.authority is not None:
            await write_control(self._unit.http, scope, steered.authority, ControlMode=OVERRIDE)
            self._since = None
        if self._since is None:
            self._since = self._unit.clock.now()
        if ignored:
            raise WireError(f"{self._unit.cdu}: {record.written} C was written, and {_show(steered)}; it is told again")

    async def _read(self, steered: Steered) -> Record:
        """The record, with what the unit has made of our newest setpoint, once that is seen."""
        record = await self._record.read()
        return record.round_off(steered.point.set_point) if self._unseen else record

    def _refuse_restarted(self, steered: Steered, record: Record, misses: int) -> None:
        """Raises LapsedError for one that was away and no longer follows us: what it shows then is nobody's hand."""
        if self._since is not None and misses >= AWAY and not (_is_followed(steered) and record.fits(steered.point.set_point)):
            self._since = None
            raise LapsedError(f"{self._unit.cdu} was away, and {_show(steered)}")

    async def hand_back(self, scope: str) -> Sight:
        """See `Handle.hand_back`: back to its own setpoint, or to the one that stood before. What is not ours is left."""
        steered = await self._see()
        record = await self._read(steered)
        ours = record.fits(steered.point.set_point) and _is_followed(steered) and not self._yielded
        self._since, self._yielded, self._unseen = None, "", False
        if ours and steered.authority is not None:
            await write_control(self._unit.http, scope, steered.authority, ControlMode=AUTOMATIC)
        elif ours and record.before is not None:
            await write_control(self._unit.http, scope, steered.point, SetPoint=record.before)
        sight = await self._look_back(record, ours=ours)
        if sight.effect is not Effect.ABSENT and record != Record():
            return await self._forget(scope, sight)
        return sight

    async def _forget(self, scope: str, sight: Sight) -> Sight:
        """It is given back whether or not that can be written down."""
        try:
            await self._record.write(scope, Record())
        except NotHeldError:
            raise
        except WireError as error:
            return Sight(effect=sight.effect, text=f"{sight.text}; what was ours could not be struck out: {error}")
        return sight

    async def is_left(self) -> bool:
        """Whether a setpoint of this daemon's may stand. Raises WireError."""
        return (await self._record.read()).written is not None

    async def _look_back(self, record: Record, *, ours: bool) -> Sight:
        for look in range(LOOKS):
            await self._unit.clock.sleep(LOOK_S * (look > 0))
            steered = await self._see()
            if steered.authority is not None and steered.authority.mode == AUTOMATIC:
                return Sight(effect=Effect.PRESENT, text="it holds its own setpoint")
            if steered.authority is None and ours and is_near(steered.point.set_point, record.before):
                return Sight(effect=Effect.PRESENT, text=f"it holds {record.before:g} C, as before")
            if not ours:
                return Sight(effect=Effect.UNKNOWN, text=f"{_show(steered)}, which is not of this daemon, and was left")
        return Sight(effect=Effect.ABSENT if ours and record.before is not None else Effect.UNKNOWN, text=_show(steered))

    def _find_hand(self, steered: Steered, record: Record) -> str:
        """Why it is another's now; empty = it is ours, or nobody's."""
        refusal = _refuse(steered, record)
        if refusal or self._since is None:
            return refusal
        if not record.fits(steered.point.set_point):
            return f"{_show(steered)}, and {record.written} C was written by this daemon"
        if _is_followed(steered):
            return ""
        lasted, before = self._unit.clock.now() - self._since, self._lasted
        if before is not None and lasted < SOONER * before:
            return f"it was taken back after {lasted:.0f} s, where by itself it falls back after {before:.0f} s"
        self._lasted = lasted
        return ""

    async def _see(self) -> Steered:
        """As it is now. Raises WireError."""
        self._misses += 1
        seen = _must_tell(self._unit.cdu, await self._look())
        self._misses = 0
        return seen

    async def _look(self) -> Steered:
        known, self._steered = self._steered, None  # looked for anew after it was not there
        if known is None:
            self._unit.pages.begin()
            await self._unit.find()
            known = await find_steered(self._unit, self._door)
        else:
            point = await read_control(self._unit.http, known.point)
            known = Steered(point, None if known.authority is None else await read_control(self._unit.http, known.authority))
        self._steered = known
        return known


def _must_tell(cdu: str, steered: Steered) -> Steered:
    """Raises WireError for one that does not say where it stands: that is no sign of another hand."""
    if steered.point.set_point is None:
        raise WireError(f"{cdu}: {steered.point.path} shows no setpoint now")
    if steered.authority is not None and not steered.authority.mode:
        raise WireError(f"{cdu}: {steered.authority.path} does not say now who controls it")
    return steered


def _is_followed(steered: Steered) -> bool:
    """Whether the unit holds the setpoint that is written."""
    mode = steered.point.mode if steered.authority is None else steered.authority.mode
    return mode in FOLLOWING if steered.authority is None else mode == OVERRIDE


def _refuse(steered: Steered, record: Record) -> str:
    """Why it may not be taken as it stands: another hand is on it (safety rule 16)."""
    point, authority = steered
    if authority is None:
        return "" if point.mode in FOLLOWING else f"its setpoint is {point.mode}, and is not followed; set it to {AUTOMATIC} at the unit"
    if authority.mode == AUTOMATIC:
        return "" if authority.takes(OVERRIDE) else f"its mode takes {', '.join(authority.modes)[:80]}, and not {OVERRIDE}"
    if authority.mode != OVERRIDE:
        return f"its mode is {authority.mode[:40]}: another hand is on it, or its own fallback is off"
    return (
        "" if record.fits(point.set_point) else f"{_show(steered)}, written by another; wait until it is {AUTOMATIC} again, or put it there"
    )


def _check_range(cdu: str, steered: Steered, value: float) -> None:
    low, high = steered.point.low, steered.point.high
    if (low is not None and value < low) or (high is not None and value > high):
        raise WireError(f"{cdu}: its setpoint takes {low} to {high} C, not {value:g}; nothing was sent")


def _show(steered: Steered) -> str:
    mode = steered.point.mode if steered.authority is None else steered.authority.mode
    point = steered.point.set_point
    return f"it stands at {'no number' if point is None else f'{point:g} C'} in mode {mode[:40] or 'not told'}"

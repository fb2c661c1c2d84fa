"""A PDU with an armed shed group: what it shows, and what it can be told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from supernoded.plugin import Pdu, WireError
from supernoded_modbus.frames import tell_coil
from supernoded_modbus.sensors import gather, tell_age
from supernoded_modbus.unit import Key, Unit, Written
from supernoded_modbus.values import Told

SHED_ROWS = ("group", "restore", "lease", "arm", "armed", "armed_group", "armed_restore", "lease_left", "fire", "sheddable")
RECORD_ROWS = ("clock", "event", "event_count", "event_at", "opened", "shed_delay")
OUTLET_ROWS = ("outlet", "lock", "outlet_power")
IDLE_W = 5.0  # what a meter may show of an open outlet; ours
LEASE = (1.0, 600.0)  # s; 120 is usual (safety rule 7)
UNQUALIFIED_S = 10.0  # longest restore time of a PDU that is not qualified (safety rule 7)


class Armed(NamedTuple):
    """What is armed now."""

    armed: bool
    group: frozenset[str]
    restore_s: float
    lease_left: float


class Record(NamedTuple):
    """The PDU's own event record: its newest event, and what its newest firing opened and when, on our clock (NaN = never)."""

    event: str
    events: float
    fired_at: float
    opened: frozenset[str]
    delay_ms: float = math.nan  # from trigger to open contacts, by its own clock; NaN = it does not say


class Outlet(NamedTuple):
    """What an outlet shows."""

    on: bool
    watts: float  # NaN = not measured


class ShedPdu:
    """The PDU `spec` of the topology behind one unit."""

    def __init__(self, unit: Unit, spec: Pdu) -> None:
        self.unit, self.spec, self.subject = unit, spec, unit.subject
        self.sheddable = frozenset(str(outlet.number) for outlet in spec.outlets if outlet.sheddable)

    @property
    def can_shed(self) -> bool:
        """Whether its map has what arming needs, and the topology something to shed."""
        return bool(self.sheddable) and self.unit.has(*SHED_ROWS, *RECORD_ROWS, *OUTLET_ROWS)

    @property
    def can_switch(self) -> bool:
        """Whether its outlets can be switched one by one."""
        return self.unit.has(*OUTLET_ROWS)

    # what it shows; all raise WireError, also for what is there and stands for no value

    async def look_armed(self) -> Armed:
        """What is armed."""
        seen = await self._see("armed", "armed_group", "armed_restore", "lease_left")
        armed = seen["armed"] == 1.0
        return Armed(armed, _as_names(seen["armed_group"]), _as_number(seen["armed_restore"]), _as_number(seen["lease_left"]))

    async def look_record(self) -> Record:
        """Its newest event, and its newest firing."""
        values = await self.unit.read([(name, -1) for name in RECORD_ROWS], urgent=True)
        event, count = values["event", -1], values["event_count", -1]
        if event.value is None or count.value is None:
            raise WireError(f"{self.subject}: its event record cannot be read: {event.note or count.note}")
        age = tell_age(values["event_at", -1], values["clock", -1]).number  # NaN too where its clock has begun anew since
        opened, delay = values["opened", -1].names, values["shed_delay", -1].number
        fired_at = math.nan if event.value == "none" else self.unit.clock.now() - age  # the moment of nothing may well read 0
        return Record(str(event.value), count.number, fired_at, opened, delay)

    async def look_outlets(self) -> Mapping[str, Outlet]:
        """All its outlets, by their numbers: in one go, as answers of one shape must be kept apart."""
        seen = await self._read_all("outlet")
        power = await self._read_all("outlet_power")
        self._refuse_blind(seen)
        return {str(number): Outlet(told.value == "on", power[number].number) for number, told in seen.items()}

    async def look_locks(self) -> frozenset[str]:
        """The outlets that are locked out."""
        seen = await self._read_all("lock")
        self._refuse_blind(seen)
        return gather(seen).names

    async def look_sheddable(self) -> frozenset[str]:
        """Which outlets the PDU itself lets be armed."""
        seen = await self._read_all("sheddable")
        self._refuse_blind(seen)
        return gather(seen).names

    async def _read_all(self, row: str) -> Mapping[int, Told]:
        """One row of every outlet."""
        seen = await self.unit.read([key for key in self.unit.places if key[0] == row], urgent=True)
        return {number: told for (_, number), told in seen.items()}

    def _refuse_blind(self, seen: Mapping[int, Told]) -> None:
        blind = next((f"outlet {number}: {told.note}" for number, told in seen.items() if told.value is None), "")
        if blind:
            raise WireError(f"{self.subject}: {blind}")

    async def _see(self, *names: str) -> Mapping[str, object]:
        seen = await self.unit.read([(name, -1) for name in names], urgent=True)
        blind = next((f"{name}: {told.note}" for (name, _), told in seen.items() if told.value is None), "")
        if blind:
            raise WireError(f"{self.subject}: {blind}")
        return {name: told.value for (name, _), told in seen.items()}

    # what it is told; all raise WireError, NotHeldError, and look at what they did

    async def arm(self, scope: str, lease_s: float) -> None:
        """Arm its sheddable outlets for so long, or renew that; refused where the PDU's membership is another one (safety rule 6)."""
        self._check(lease_s)
        theirs = await self.look_sheddable()
        if theirs != self.sheddable:
            raise WireError(
                f"{self.subject} is not armed: it lets {list_outlets(theirs)} be shed, the topology {list_outlets(self.sheddable)}"
            )
        before = await self.look_armed()
        if before.armed and before.group != self.sheddable:
            raise WireError(f"{self.subject} is not armed: somebody has armed {list_outlets(before.group)} for {before.lease_left:g} s")
        values: dict[Key, Written] = {("group", -1): self.sheddable, ("restore", -1): self.spec.restore_s, ("lease", -1): lease_s}
        await self.unit.write_together(scope, values, cyclic=True)
        await self.unit.write(scope, ("arm", -1), "arm", cyclic=True)
        now = await self.look_armed()
        if not self.is_as_meant(now) or not now.lease_left >= lease_s - max(self.unit.member.latest_s * 4, 2.0):
            raise WireError(f"{self.subject} was armed and shows {list_outlets(now.group)}, {now.restore_s:g} s, {now.lease_left:g} s left")

    def is_as_meant(self, armed: Armed) -> bool:
        """Whether what is armed is what the topology says."""
        return armed.armed and armed.group == self.sheddable and math.isclose(armed.restore_s, self.spec.restore_s, abs_tol=0.051)

    async def disarm(self, scope: str) -> None:
        """Disarm; what a shed has open closes again."""
        await self.unit.write(scope, ("arm", -1), "disarm")

    async def fire(self, scope: str) -> None:
        """Trigger the armed group of this PDU alone."""
        await self.unit.trigger(scope, ("fire", -1))

    async def switch(self, scope: str, number: str, *, on: bool) -> None:
        """Switch one outlet; refused where it is locked (safety rule 8)."""
        if number in await self.look_locks():
            raise WireError(f"{self.subject}/outlet{number} is locked out and stays as it is")
        await self.unit.write(scope, ("outlet", int(number)), "on" if on else "off")

    async def fire_all(self, scope: str) -> None:
        """Trigger the armed groups of all PDUs of the line at once, by a broadcast that nobody answers (safety rule 24)."""
        await self.unit.prove()
        await self.unit.bus.broadcast(scope, tell_coil(self.unit.places["fire", -1].address, on=True))

    def _check(self, lease_s: float) -> None:
        low, high = LEASE
        if not low <= lease_s <= high:
            raise WireError(f"{self.subject} is not armed: a lease of {lease_s:g} s where {low:g} to {high:g} s are taken")
        if self.spec.restore_s > UNQUALIFIED_S and not self.spec.qualified:
            raise WireError(
                f"{self.subject} is not armed: restore_s = {self.spec.restore_s:g}, and above {UNQUALIFIED_S:g} s it must be qualified"
            )


def _as_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _as_names(value: object) -> frozenset[str]:
    return value if isinstance(value, frozenset) else frozenset()


def list_outlets(numbers: frozenset[str]) -> str:
    """For people, in the order of their numbers."""
    return f"outlets {', '.join(sorted(numbers, key=lambda number: (len(number), number)))}" if numbers else "no outlet"

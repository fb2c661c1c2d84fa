"""Shed and restore: the armed group as a whole, judged by the PDU's own event record and by watts (safety rules 5 to 8, 23, 24)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from supernoded.plugin import Action, Effect, Sight, WireError
from supernoded_modbus.bus import Bus
from supernoded_modbus.pdu import IDLE_W, Outlet, Record, ShedPdu

SHED, RESTORE = "power.shed", "power.restore"
BEFORE_S = 30.0  # a firing so long before the action was issued is of this trouble: the PDU may have acted by itself
GAP_S = 0.02  # between the broadcast's turn-around and the first poll; ours


class Shedding:
    """Performs both on all PDUs that can be armed."""

    kinds = frozenset({SHED, RESTORE})

    def __init__(self, pdus: Sequence[ShedPdu], *, broadcast: bool) -> None:
        self.targets = tuple(pdu.subject for pdu in pdus)
        self._pdus = {pdu.subject: pdu for pdu in pdus}
        self._broadcast = broadcast
        self._firing: Mapping[Bus, asyncio.Lock] = {pdu.unit.bus: asyncio.Lock() for pdu in pdus}

    async def apply(self, action: Action) -> None:
        """Fire, or close again what the newest firing opened. Raises WireError, NotHeldError."""
        pdu = self._pdus[action.step.target]
        if action.step.kind == SHED:
            async with self._firing[pdu.unit.bus]:
                await self._fire(pdu, action)
        else:
            await self._restore(pdu, action)

    async def observe(self, action: Action) -> Sight:
        """By the event record, then by what the outlets show. Raises WireError."""
        pdu = self._pdus[action.step.target]
        record = await pdu.look_record()
        if action.step.kind == SHED:
            return judge_shed(record, await _look_at_opened(pdu, record) if is_of(record, action.issued) else {}, action.issued)
        outlets = await _look_at_opened(pdu, record)
        locked = await pdu.look_locks() if any(not one.on for one in outlets.values()) else frozenset[str]()
        return judge_restore(record, outlets, locked)

    async def _fire(self, pdu: ShedPdu, action: Action) -> None:
        if is_of(await pdu.look_record(), action.issued):
            return  # a broadcast for another PDU of the line has fired this one too
        if not pdu.is_as_meant(await pdu.look_armed()):
            raise WireError(f"{pdu.subject} is not fired: it is not armed as the topology says")
        together = await self._list_armed(pdu)
        if self._broadcast and len(together) > 1:
            await pdu.fire_all(action.scope)
            await pdu.unit.clock.sleep(GAP_S)
            await _poll(together, action.issued)
        else:
            await pdu.fire(action.scope)

    async def _list_armed(self, pdu: ShedPdu) -> list[ShedPdu]:
        """The armed PDUs of its line; itself alone where one of them is not armed as it should be, or is not known."""
        bus = pdu.unit.bus
        mine = [one for one in self._pdus.values() if one.unit.bus is bus]
        strangers = {member.subject for member in bus.members if member.subject.startswith("pdu/")} - {one.subject for one in mine}
        if strangers or len({one.unit.places["fire", -1].address for one in mine}) > 1:
            return [pdu]  # what is a trigger for one may be an outlet of another
        armed = []
        for one in mine:
            try:
                seen = await one.look_armed()
                await one.unit.prove()
            except WireError:
                return [pdu]  # who cannot be seen must not hear a broadcast
            if seen.armed and not one.is_as_meant(seen):
                return [pdu]
            armed += [one] if seen.armed else []
        return armed

    async def _restore(self, pdu: ShedPdu, action: Action) -> None:
        record = await pdu.look_record()
        for number, outlet in (await _look_at_opened(pdu, record)).items():
            if not outlet.on and number not in await pdu.look_locks():
                await pdu.switch(action.scope, number, on=True)


async def _look_at_opened(pdu: ShedPdu, record: Record) -> Mapping[str, Outlet]:
    """What the newest firing opened, as it is now; empty when the PDU has closed it itself."""
    if record.event != "fired" or not record.opened:
        return {}
    return {number: outlet for number, outlet in (await pdu.look_outlets()).items() if number in record.opened}


async def _poll(pdus: Sequence[ShedPdu], issued: float) -> None:
    """Nobody answers a broadcast, so each is asked. Raises WireError naming those that show no firing."""
    silent = []
    for pdu in pdus:
        try:
            fired = is_of(await pdu.look_record(), issued)
        except WireError:
            fired = False
        silent += [] if fired else [pdu.subject]
    if silent:
        raise WireError(f"the line was told to shed, and {', '.join(silent)} shows no firing")


def is_of(record: Record, issued: float) -> bool:
    """Whether the newest firing is of the trouble that an action issued then is about."""
    return record.fired_at >= issued - BEFORE_S  # NaN, which is never, is not


def judge_shed(record: Record, outlets: Mapping[str, Outlet], issued: float) -> Sight:
    """PRESENT: fired, and as long as the shed lasts, what it opened is open and draws nothing."""
    if not is_of(record, issued):
        return Sight(effect=Effect.ABSENT, text=f"its event record has no firing of this trouble; its newest event is {record.event!r}")
    told = _tell_firing(record)
    if record.event != "fired":
        return Sight(effect=Effect.PRESENT, text=f"{told}; its newest event is {record.event!r}")
    live = [number for number, one in outlets.items() if one.on or not one.watts <= IDLE_W]
    if live:
        return Sight(effect=Effect.UNKNOWN, text=f"{told}, but {', '.join(live)} of them still shows on or draws power")
    return Sight(effect=Effect.PRESENT, text=told)


def _tell_firing(record: Record) -> str:
    count = f"{len(record.opened)} outlet{'' if len(record.opened) == 1 else 's'}"
    delay = "" if math.isnan(record.delay_ms) else f", {record.delay_ms:g} ms after its trigger by its own clock"
    return f"it fired and opened {count}{delay}"


def judge_restore(record: Record, outlets: Mapping[str, Outlet], locked: frozenset[str]) -> Sight:
    """PRESENT: the PDU closed them itself, or each is on and draws, or is locked."""
    if record.event != "fired":
        return Sight(effect=Effect.PRESENT, text=f"nothing is shed: its newest event is {record.event!r}")
    off = [number for number, one in outlets.items() if not one.on and number not in locked]
    if off:
        return Sight(effect=Effect.ABSENT, text=f"outlets {', '.join(off)} are still open")
    closed = [one for one in outlets.values() if one.on]
    if closed and not sum(one.watts for one in closed) > 0.0:
        return Sight(effect=Effect.UNKNOWN, text="the outlets show on, but draw nothing")
    return Sight(effect=Effect.PRESENT, text=f"{len(closed)} of {len(outlets)} outlets are on again, the others are locked")

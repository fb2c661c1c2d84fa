"""The outlets of a PDU over SNMP: looked at by their own rows, switched by the command column of its profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Clock, OutletSight, Reading, WireError, judge_drawing
from supernoded_snmp.asn import Oid, parse_oid
from supernoded_snmp.cells import Table
from supernoded_snmp.device import Device
from supernoded_snmp.index import build_index
from supernoded_snmp.interpret import interpret
from supernoded_snmp.profile import Command, Profile

METERS = ("outlet.power", "outlet.current")


class SnmpOutlets:
    """See `supernoded.plugin.Outlets`."""

    def __init__(self, device: Device, clock: Clock) -> None:
        self.pdu, self._device, self._clock = device.subject, device, clock

    async def look(self, numbers: Sequence[int]) -> Mapping[int, OutletSight]:
        """See `Outlets.look`."""
        try:
            profile, speech = await self._device.meet()
            columns, place = profile.list_outlet_columns(), profile.find_place(self._device.address.place)
            rows = [(column, build_index(column.index, place, number)) for column in columns for number in numbers]
            table = await self._device.collect_rows(speech, columns, rows)
        except WireError:
            self._device.forget()
            raise
        readings = interpret(profile, columns, table, self.pdu, place, self._clock.now())
        told = {number: self._gather(readings, number) for number in numbers}
        return {number: _look_at(found, _is_metered(profile, table, place, number)) for number, found in told.items() if found}

    async def switch(self, scope: str, number: int, *, on: bool) -> None:
        """See `Outlets.switch`."""
        profile, _ = await self._device.meet()
        command = profile.command
        if command is None:
            raise WireError(f"{self.pdu}: profile {profile.name} has no command for outlets")
        name = _name_command(command, profile.find_place(self._device.address.place), number)
        await self._device.order(scope, name, command.on if on else command.off)

    def _gather(self, readings: Sequence[Reading], number: int) -> dict[str, Reading]:
        subject = f"{self.pdu}/outlet{number}"
        return {reading.quantity: reading for reading in readings if reading.subject == subject}


def _name_command(command: Command, place: Oid, number: int) -> Oid:
    return (*parse_oid(command.oid), *build_index(command.index, place, number))


def _is_metered(profile: Profile, table: Table, place: Oid, number: int) -> bool:
    """Whether this PDU has a meter at this outlet at all, whatever it says now."""
    meters = (column for column in profile.list_outlet_columns() if column.quantity in METERS)
    return any(build_index(column.index, place, number) in table[column.oid].rows for column in meters)


def _look_at(found: Mapping[str, Reading], metered: bool) -> OutletSight:
    watts, amperes = (_take(found.get(quantity)) for quantity in METERS)
    state = found.get("outlet.state")
    notes = [reading.note for reading in found.values() if reading.value is None]
    return OutletSight(
        state=state.value if state is not None and isinstance(state.value, str) else None,
        drawing=judge_drawing(watts, amperes),
        metered=metered,
        note="; ".join(notes),
    )


def _take(reading: Reading | None) -> float | None:
    return reading.value if reading is not None and isinstance(reading.value, float) else None

"""Writes to registers and coils: what is refused, what is kept, what wears out, and which orders follow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from sim_hardware.devices.modbus.actions import Written, build_order
from sim_hardware.devices.modbus.kinds import Raw, pack, quantise, unpack
from sim_hardware.devices.modbus.layout import Field, Layout, Point
from sim_hardware.devices.modbus.maps import Action
from sim_hardware.devices.modbus.requests import Code, RefusalError
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.plant.words import OrderError

WEAR = 100_000  # writes that a cell of an EEPROM stands, the usual figure of data sheets


class Writes:
    """What has been written to one device."""

    def __init__(self, panel: Panel, impairment: Impairment, layout: Layout, subject: str) -> None:
        self._panel, self._impairment, self._layout, self._subject = panel, impairment, layout, subject
        self._kept: dict[Field, Raw] = {}
        self._busy_until: dict[Field, float] = {}
        self.wear: dict[str, int] = {}  # writes to EEPROM, by the field's name; from WEAR on they are acknowledged and lost
        self.lost = 0  # writes that were

    def keep(self, field: Field) -> Raw:
        """What was written last, and taken; 0 before that."""
        spec = field.spec
        return self._kept.get(field, quantise(0.0, spec.kind, spec.scale, spec.offset, math.nan))

    def show(self, field: Field) -> tuple[int, ...]:
        """The same as words."""
        return pack(self.keep(field), field.spec.kind, field.spec.order)

    def take(self, field: Field, words: Sequence[int]) -> Raw:
        """The raw number to be written. Raises RefusalError when the field takes no such write now."""
        spec = field.spec
        if not spec.writable or len(words) != field.size:
            raise RefusalError(Code.ADDRESS)
        raw = unpack(words, spec.kind, spec.order)
        value = raw * spec.scale + spec.offset
        low, high = (-math.inf if spec.low is None else spec.low), (math.inf if spec.high is None else spec.high)
        if not math.isfinite(value) or not low <= value <= high:
            raise RefusalError(Code.VALUE)
        if spec.write and all(action.word is not None and action.word != raw for action in spec.write):
            raise RefusalError(Code.VALUE)
        if spec.fast_write == "busy" and self._panel.now() < self._busy_until.get(field, -math.inf):
            raise RefusalError(Code.BUSY)
        return raw

    def apply(self, field: Field, raw: Raw) -> bool:
        """Write; False when it was lost. Raises RefusalError when the plant refuses."""
        spec, now = field.spec, self._panel.now()
        too_fast = now < self._busy_until.get(field, -math.inf)
        self._busy_until[field] = now + spec.write_s
        if too_fast or (spec.storage == "eeprom" and self._is_worn(field)):
            self.lost += 1
            return False
        before, self._kept[field] = self.keep(field), raw
        value = self._tell(field)
        try:
            for action in spec.write:
                if action.word in (None, raw):
                    self._order(action, field.number, value, field.node)
        except RefusalError:
            self._kept[field] = before
            raise
        return True

    def apply_bit(self, point: Point, *, on: bool) -> None:
        """Write a coil; one whose actions all want the other state is acknowledged. Raises RefusalError when the plant refuses."""
        for action in point.spec.write:
            if action.word in (None, int(on)):
                self._order(action, point.number, on)

    def _is_worn(self, field: Field) -> bool:
        self.wear[field.name] = self.wear.get(field.name, 0) + 1
        return self.wear[field.name] > WEAR

    def _tell(self, field: Field) -> Written:
        """What was written, as an order takes it: outlet numbers, a text, or a number in the register's unit."""
        spec, raw = field.spec, self.keep(field)
        if spec.flags == ("numbers",):
            return tuple(bit + 1 for bit in range(16 * field.size) if int(raw) >> bit & 1)
        for word, number in spec.words.items():
            if number == raw:
                return word
        return raw * spec.scale + spec.offset

    def _look_up(self, name: str) -> Written:
        return self._tell(self._layout.names[name])

    def _order(self, action: Action, number: int, value: Written, node: str = "") -> None:
        try:
            order = build_order(action, self._subject, number, value, self._look_up, node)
        except msgspec.ValidationError as error:
            raise RefusalError(Code.VALUE) from error
        if self._impairment.idle_orders:
            return
        try:
            self._panel.order(order)
        except OrderError as error:
            raise RefusalError(Code.FAILURE) from error

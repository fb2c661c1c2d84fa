"""A Modbus unit: a register map over the plant. It turns a PDU into a PDU and knows neither frames nor time-outs."""

from __future__ import annotations

from collections.abc import Sequence

from sim_hardware.devices.modbus.kinds import pack, pack_text
from sim_hardware.devices.modbus.layout import Field, lay_out
from sim_hardware.devices.modbus.maps import RegisterMap
from sim_hardware.devices.modbus.requests import BitTable, Code, RefusalError, WordTable, respond
from sim_hardware.devices.modbus.samples import Samples, make_raw
from sim_hardware.devices.modbus.writes import Writes
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.reading import is_dark

BROADCAST = 0


class Unit:
    """One device (`cdu/0`, `pdu/A1`, `ups/A`) under one map."""

    def __init__(self, panel: Panel, register_map: RegisterMap, subject: str) -> None:
        outlets = [outlet.number for pdu in panel.rack.pdus if f"pdu/{pdu.name}" == subject for outlet in pdu.outlets]
        loop = next((loop.name for loop in panel.rack.loops if loop.subject == subject), "")
        branches = [node.name for node in panel.rack.nodes if loop and node.loop == loop]
        self.map, self.subject, self.impairment = register_map, subject, Impairment()
        self._panel = panel
        self.layout = lay_out(register_map, subject, outlets, branches)
        self._samples = Samples(panel, self.impairment, len(outlets), len(branches))
        self.writes = Writes(panel, self.impairment, self.layout, subject)

    def answer(self, unit: int, pdu: bytes) -> bytes | None:
        """The answer to a request; none to a broadcast (unit 0), and none at all without power.

        Impairments other than of values and orders are the server's.
        """
        if is_dark(self._panel, self.subject):
            return None
        answer = respond(self, pdu)
        return None if unit == BROADCAST else answer

    # what the requests ask for; see `requests.Bank`

    def read_bits(self, table: BitTable, address: int, count: int) -> list[bool]:
        """Coils or discrete inputs. Raises RefusalError where there is none."""
        points = [self.layout.points.get((table, place)) for place in range(address, address + count)]
        if any(point is None for point in points):
            raise RefusalError(Code.ADDRESS)
        return [self._samples.is_true(point) for point in points if point is not None]

    def read_words(self, table: WordTable, address: int, count: int) -> list[int]:
        """Registers; a value of several is of one moment within one request. Raises RefusalError where there is none."""
        if self.map.mirror:
            table = "holding"
        seen: dict[Field, tuple[int, ...]] = {}
        words = []
        for place in range(address, address + count):
            field = self.layout.fields.get((table, place))
            if field is None:
                if self.map.gaps == "refuse":
                    raise RefusalError(Code.ADDRESS)
                words.append(0)
                continue
            if field not in seen:
                seen[field] = self._show(field)
            words.append(seen[field][place - field.address])
        return words

    def write_bits(self, address: int, bits: Sequence[bool]) -> None:
        """Coils; none is written unless all can be. Raises RefusalError."""
        points = [self.layout.points.get(("coil", address + place)) for place in range(len(bits))]
        if any(point is None or not point.spec.write for point in points):
            raise RefusalError(Code.ADDRESS)
        for point, on in zip(points, bits, strict=True):
            if point is not None:
                self.writes.apply_bit(point, on=on)

    def write_words(self, address: int, words: Sequence[int]) -> None:
        """Registers; none is written unless all can be, and none in part. Raises RefusalError."""
        taken, place = [], 0
        while place < len(words):
            field = self.layout.fields.get(("holding", address + place))
            if field is None or field.address != address + place:
                raise RefusalError(Code.ADDRESS)
            taken.append((field, self.writes.take(field, words[place : place + field.size])))
            place += field.size
        for field, raw in taken:
            if self.writes.apply(field, raw) and field.spec.sticky and raw == 0:
                self._samples.unstick(field)

    def identify(self) -> dict[int, bytes]:
        """Vendor, product and revision (basic), product and model (regular), serial number (0x80, ours)."""
        serial = self._samples.sense(self.subject, self.map.serial)
        texts = {0: self.map.vendor, 1: self.map.product, 2: self.map.revision, 4: self.map.text, 5: self.map.product}
        texts[0x80] = serial if isinstance(serial, str) else ""
        return {number: text.encode("ascii", "replace")[:40] for number, text in texts.items()}

    def _show(self, field: Field) -> tuple[int, ...]:
        spec = field.spec
        if spec.quantity:
            return self._samples.show(field)
        if isinstance(spec.constant, str) and spec.kind == "text":
            return pack_text(spec.constant, spec.length)
        if spec.constant is not None:
            return pack(make_raw(spec.constant, spec), spec.kind, spec.order)
        return self.writes.show(field)

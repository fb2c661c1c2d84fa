"""A unit on a serial line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sim_hardware.bus import Line, Reply
from sim_hardware.bus.dice import Dice
from sim_hardware.devices.modbus.unit import Unit
from sim_hardware.devices.panel import Impairment


class SerialDevice:
    """See `sim_hardware.devices.panel.Device`. The path is where the line can be opened; who opens lines to the outside gives it.

    A silent or refusing one neither answers nor acts; one that acts and is not heard is a fault of its line.
    """

    def __init__(self, name: str, map_name: str, unit: Unit, line: Line, number: int, path: str, seed: int = 0) -> None:
        self._name, self.map_name, self.unit = name, map_name, unit
        self.line, self.number, self.path = line, number, path
        self._dice = Dice(seed, f"modbus/{name}")

    @property
    def name(self) -> str:
        """Its key among the endpoints."""
        return self._name

    @property
    def impairment(self) -> Impairment:
        """How its answering is impaired."""
        return self.unit.impairment

    @property
    def url(self) -> str:
        """Where it is; a format other than 8N1 is said."""
        pace = self.line.pace
        form = "" if pace.text == "8N1" else f"&parity={pace.text[1]}&stop={pace.text[2]}"
        return f"serial://{self.path}?baud={pace.baud}&unit={self.number}&map={self.map_name}{form}"

    @asynccontextmanager
    async def serve(self, host: str = "", port: int = 0) -> AsyncIterator[str]:
        """Be on the line, and give the URL; a line has neither host nor port."""
        del host, port
        detach = self.line.attach(self.number, self._hear)
        try:
            yield self.url
        finally:
            detach()

    def _hear(self, unit: int, pdu: bytes) -> Reply | None:
        impairment = self.impairment
        if impairment.silent or impairment.refusing:
            return None
        answer = self.unit.answer(unit, pdu)
        return None if answer is None else Reply(answer, impairment.delay_s, self._dice.hits(impairment.garbled))

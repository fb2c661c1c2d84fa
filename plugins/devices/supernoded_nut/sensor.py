"""One device behind a NUT server, asked every second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from supernoded.plugin import Clock, Reading, WireError, make_reading
from supernoded_nut.pdu import read_pdu
from supernoded_nut.server import WITHIN, NutServer
from supernoded_nut.told import to_readings
from supernoded_nut.ups import is_waiting, read_ups
from supernoded_nut.words import RefusalError

TIMEOUT = 2 * WITHIN + 0.5  # seconds: the list of variables, and that of devices when the server does not know ours
LINK = "ups.link"
STALE, NO_DRIVER, SILENT = "stale", "no-driver", "silent"
STATES = {"DATA-STALE": STALE, "DRIVER-NOT-CONNECTED": NO_DRIVER}  # what upsd says of its own line to the device


class Key(NamedTuple):
    """What a reading is of."""

    subject: str
    quantity: str
    unit: str


class DeviceSensor:
    """Everything that a device tells. While its driver tells nothing, all that is known of it is UNKNOWN, with the reason."""

    timeout = TIMEOUT

    def __init__(self, name: str, scope: str, period: float, clock: Clock, server: NutServer, device: str, known: Sequence[Key]) -> None:
        self.name, self.scope, self.period = name, scope, period
        self._clock, self._server, self._device = clock, server, device
        self._subject, self._always = known[0].subject, known
        self._is_ups = self._subject.startswith("ups/")
        self._known: Iterable[Key] = known

    async def read(self) -> Sequence[Reading]:
        """All its variables. Raises WireError when the server does not know the device or does not let us read.

        A server that does not answer is told of a UPS as silence, which may be the first sign of an outage, and raised for a PDU.
        """
        try:
            variables = await self._server.list_variables(self._device)
        except RefusalError as refusal:
            if refusal.code in STATES:
                return self._lose(STATES[refusal.code], str(refusal))
            raise await self._explain(refusal) from refusal
        except WireError as error:
            if not self._is_ups:
                raise
            return self._lose(SILENT, str(error))
        if is_waiting(variables):
            return self._lose(STALE, f"the driver of {self._device} has only just started: ups.status is WAIT")
        readings = to_readings(read_ups(variables) if self._is_ups else read_pdu(variables), self._subject, self._clock.now())
        self._known = dict.fromkeys((*self._always, *(Key(reading.subject, reading.quantity, reading.unit) for reading in readings)))
        return [*self._link("ok"), *readings]

    async def _explain(self, refusal: RefusalError) -> WireError:
        if refusal.code != "UNKNOWN-UPS":
            return refusal
        names = ", ".join(await self._server.list_devices()) or "none"
        return WireError(f"{refusal}; the server has {names}: correct the name in the device's wire")

    def _lose(self, link: str, why: str) -> list[Reading]:
        now = self._clock.now()
        return [*self._link(link, why), *(make_reading(key.subject, key.quantity, None, key.unit, now, why) for key in self._known)]

    def _link(self, word: str, why: str = "") -> list[Reading]:
        return [make_reading(self._subject, LINK, word, "text", self._clock.now(), why)] if self._is_ups else []

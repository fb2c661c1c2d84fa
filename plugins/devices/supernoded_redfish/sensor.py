"""The link monitor of one BMC, asked every few seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import NODE, Clock, Reading, State, WireError, make_reading
from supernoded_redfish.ageing import PERIODS, Ages
from supernoded_redfish.bmc import MOST_MANAGERS, WITHIN, Bmc
from supernoded_redfish.monitor import RATES, Monitor, Rate, parse_ports

TIMEOUT = WITHIN * (3 + MOST_MANAGERS) + 1.0  # seconds; all answers of a first read: managers, each of them, monitor, its readings
SWITCH = "bmc.link_monitor"
OFF = "the link monitor of this BMC is off; switch it on (L4)"


class LinkMonitorSensor:
    """Whether the monitor is on, and what it reads. What it cannot give is UNKNOWN, with the reason, for every port known so far."""

    scope, timeout = NODE, TIMEOUT

    def __init__(self, bmc: Bmc, clock: Clock, period: float) -> None:
        self.name, self.period = f"redfish.{bmc.name}", period
        self._bmc, self._clock, self._ages = bmc, clock, Ages()
        self._named = dict.fromkeys((port, rate) for port in bmc.settings.ports.values() for rate in RATES.values())
        self._known = self._named

    async def read(self) -> Sequence[Reading]:
        """First the monitor, then its readings when it is on."""
        try:
            monitor = await self._bmc.read_monitor()
        except WireError as error:
            return [self._unknown(self._bmc.node, SWITCH, str(error)), *self._lose(str(error))]
        switch = self._tell_switch(monitor)
        if not monitor.enabled:
            return [switch, *self._lose(monitor.note or OFF)]
        try:
            body = await self._bmc.read_ports(monitor)
        except WireError as error:
            return [switch, *self._lose(str(error))]
        return [switch, *self._read_ports(body, monitor)]

    def _tell_switch(self, monitor: Monitor) -> Reading:
        if monitor.enabled is None:
            return self._unknown(self._bmc.node, SWITCH, monitor.note)
        return make_reading(self._bmc.node, SWITCH, float(monitor.enabled), "1", self._clock.now())

    def _read_ports(self, body: Mapping[str, object], monitor: Monitor) -> Iterator[Reading]:
        seen = {(reading.subject, reading.quantity): reading for reading in (self._weigh(rate, monitor) for rate in parse_ports(body))}
        yield from seen.values()
        shown = {subject for subject, _ in seen}
        missing = [key for key in self._known if key not in seen]
        yield from self._lose("the monitor is on and does not show this port", [key for key in missing if key[0] not in shown])
        yield from self._lose("the monitor shows this port without this rate", [key for key in missing if key[0] in shown])
        self._known = self._named | dict.fromkeys(seen)  # not all that was ever seen: a confused BMC may call its ports anything
        self._ages.keep(seen)

    def _weigh(self, rate: Rate, monitor: Monitor) -> Reading:
        subject, now = self._name(rate.port), self._clock.now()
        if rate.value is None:
            return self._unknown(subject, rate.quantity, rate.note)
        if not rate.stamp:
            return self._unknown(subject, rate.quantity, "it has no ReadingTime: nobody can tell how old it is")
        age = self._ages.note(subject, rate.quantity, rate.stamp, now)
        old = age > PERIODS * monitor.interval
        note = f"the BMC's reading is still that of {rate.stamp[:40]}, {age:.0f} s after it was first seen" if old else ""
        state = State.STALE if old else State.GOOD
        return Reading(subject=subject, quantity=rate.quantity, value=rate.value, unit="1", at=now, state=state, note=note)

    def _name(self, port: str) -> str:
        adapter, _, number = port.rpartition("/")
        plain = f"{self._bmc.node}/nic/{adapter}/port{number}" if adapter else f"{self._bmc.node}/nic/{number}"
        return self._bmc.settings.ports.get(port, plain)

    def _lose(self, why: str, keys: Sequence[tuple[str, str]] | None = None) -> list[Reading]:
        return [self._unknown(subject, quantity, why) for subject, quantity in (self._known if keys is None else keys)]

    def _unknown(self, subject: str, quantity: str, why: str) -> Reading:
        return make_reading(subject, quantity, None, "1", self._clock.now(), why)

"""Whether this is a machine with such cards at all."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Reading, Sensor, Tree, WireError
from supernoded_ascend.asking import is_absent

DEVICE = "davinci"  # what the driver's device files are called: davinci0, davinci_manager


class DriverSensor:
    """A sensor of what comes with the driver. Where neither is, nor is said to be, nothing is read, and nothing is wrong."""

    def __init__(self, sensor: Sensor, devices: Tree, expected: bool) -> None:
        self.name, self.scope, self.period, self.timeout = sensor.name, sensor.scope, sensor.period, sensor.timeout
        self.sensor, self._devices, self._expected = sensor, devices, expected

    async def read(self) -> Sequence[Reading]:
        """Its readings. Raises WireError as it does, but for a program or file that is missing together with the driver."""
        try:
            return await self.sensor.read()
        except WireError as error:
            if not is_absent(error) or self._expected or await self._has_driver():
                raise
            return ()

    async def _has_driver(self) -> bool:
        return any(name.startswith(DEVICE) for name in await self._devices.names())

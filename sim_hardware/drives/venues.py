"""Where the devices of a rig listen."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from sim_hardware.devices.panel import Device
from sim_hardware.net import Net

LOOPBACK = "127.0.0.1"


class Loopback:
    """Free ports of this machine's loopback."""

    async def open(self, stack: AsyncExitStack, device: Device) -> str:
        """See `sim_hardware.rig.Venue`."""
        return await stack.enter_async_context(device.serve(LOOPBACK))


class SimNetwork:
    """Each device is a process on a host of its own, so that it can be cut off: `ups-A`, `pdu-A1-snmp`, `n0-bmc`."""

    def __init__(self, net: Net) -> None:
        self._net, self._loop = net, net.loop

    async def open(self, stack: AsyncExitStack, device: Device) -> str:
        """See `sim_hardware.rig.Venue`. The device ends when the loop does."""
        del stack
        host = device.name.replace("/", "-")
        up: asyncio.Future[str] = self._loop.create_future()

        async def live() -> None:
            async with device.serve(self._net.address(host)) as url:
                up.set_result(url)
                await self._loop.create_future()

        self._loop.spawn(host, live)
        return await up

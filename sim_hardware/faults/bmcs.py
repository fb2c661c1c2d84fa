"""Faults of what BMCs are set to."""

from __future__ import annotations

from typing import Any

from sim_hardware.devices.redfish import RedfishDevice, switch_monitor
from sim_hardware.faults.kind import WIRE, Act, Kind, Nothing
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import ReadingError, pick, read_page


def _switch(*, on: bool) -> Act[Any]:
    def act(place: Place, _: object) -> None:
        bmc = place.rig.devices.get(f"{place.target}/bmc")
        if isinstance(bmc, RedfishDevice):
            switch_monitor(bmc, on=on)

    return act


async def _see_off(place: Place, _: Nothing) -> bool:
    """The monitor itself says so."""
    device = f"{place.target}/bmc"
    path = pick(await read_page(place.rig, device, "Managers/1"), "Oem", "Sim", "LinkHealthMonitor", "@odata.id")
    if not isinstance(path, str):
        raise ReadingError(f"{device}: links to no monitor")
    return pick(await read_page(place.rig, device, path.removeprefix("/redfish/v1/")), "Enabled") is False


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="bmc.monitor_off",
        text="The link-health monitor of a node's BMC is switched off; ended, it is on.",
        parameters=Nothing,
        targets=("node",),
        inject=_switch(on=False),
        lift=_switch(on=True),
        probe=_see_off,
        takes_out=False,
        danger="device",
        layers=WIRE,
    ),
)

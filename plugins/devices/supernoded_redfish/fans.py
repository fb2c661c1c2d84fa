"""The fans of a node by its BMC: who controls them, and how fast they turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from supernoded.plugin import Clock, Http, WireError
from supernoded_redfish.chassis import MOST_CHASSIS
from supernoded_redfish.control_page import read_control, write_control
from supernoded_redfish.controls import MANUAL, OVERRIDE, Control, is_fans, parse_control
from supernoded_redfish.pages import Body, Pages
from supernoded_redfish.paths import ROOT, find_number, list_members, name_last, read_link, read_number

FULL_DUTY = 95.0  # %, and more, is full (ours)
FULL_SHARE = 0.9  # of a fan's highest speed, or of what it turned at full duty by its own ratio before (ours)
LEAST_DUTY = 15.0  # %: below it the ratio of speed and duty says nothing (ours)


class Fan(NamedTuple):
    """What one fan shows."""

    duty: float | None  # %
    rpm: float | None

    @property
    def at_full(self) -> float | None:
        """What it would turn at full duty, by its ratio now, rpm."""
        return None if self.duty is None or self.rpm is None or self.duty < LEAST_DUTY else self.rpm / self.duty * 100.0


class Fans:
    """Asks one BMC. Where things are is looked for once, and again after something was not there."""

    def __init__(self, http: Http, clock: Clock, node: str) -> None:
        self.node, self._http, self._pages = node, http, Pages(http, clock)
        self._control: Control | None = None
        self._collections: tuple[str, ...] = ()

    async def read_control(self) -> Control:
        """Who controls them. Raises WireError."""
        self._pages.begin()
        known, self._control = self._control, None
        self._control = await read_control(self._http, known or await self._find_control())
        return self._control

    async def read_speeds(self) -> Mapping[str, Fan]:
        """Every fan by the number in its Id. Raises WireError when none can be read."""
        self._pages.begin()
        if not self._collections:
            await self._find()
        found: dict[str, Fan] = {}
        for collection in self._collections:
            members = await self._pages.get_members(collection, lambda _: False)
            if isinstance(members, WireError):
                raise members
            for path, page in members.items():
                if page is not None and not isinstance(page, WireError):
                    found[str(find_number(name_last(path)) or name_last(path))] = _parse_fan(page)
        if not found:
            raise WireError(f"{self.node}: its BMC shows no fan below ThermalSubsystem")
        return found

    async def set_full(self, scope: str, control: Control) -> None:
        """To full speed, whatever the temperature. Raises WireError when this BMC has no word for it."""
        if control.takes(OVERRIDE):
            await write_control(self._http, scope, control, ControlMode=OVERRIDE)
        elif control.takes(MANUAL) and control.settable:
            await write_control(self._http, scope, control, ControlMode=MANUAL, SetPoint=control.high or 100.0)
        else:
            raise WireError(f"{self.node}: the mode of its fans takes {', '.join(control.modes)[:80] or 'nothing'}, and no full speed")

    async def set_mode(self, scope: str, control: Control, mode: str) -> None:
        """Raises WireError."""
        await write_control(self._http, scope, control, ControlMode=mode)

    async def _find_control(self) -> Control:
        await self._find()
        if self._control is None:
            raise WireError(f"{self.node}: no chassis of its BMC has one Control of its fans' mode")
        return self._control

    async def _find(self) -> None:
        chassis = await self._pages.get(f"{ROOT}/Chassis")
        if isinstance(chassis, WireError):
            raise chassis
        controls: list[Control] = []
        collections: list[str] = []
        for path in list_members(chassis)[:MOST_CHASSIS]:
            page = await self._pages.get(path)
            if not isinstance(page, WireError):
                controls += await self._list_controls(page)
                collections += await self._list_fans(page)
        modes = [control for control in controls if not control.settable] or controls
        self._control = modes[0] if len(modes) == 1 else None
        self._collections = tuple(collections)

    async def _list_controls(self, chassis: Body) -> list[Control]:
        path = read_link(chassis.get("Controls"))
        members = await self._pages.get_members(path, lambda _: False) if path else {}
        pages = {} if isinstance(members, WireError) else members
        controls = [parse_control(one, page) for one, page in pages.items() if page is not None and not isinstance(page, WireError)]
        return [control for control in controls if is_fans(control)]

    async def _list_fans(self, chassis: Body) -> list[str]:
        path = read_link(chassis.get("ThermalSubsystem"))
        page = await self._pages.get(path) if path else {}
        fans = "" if isinstance(page, WireError) else read_link(page.get("Fans"))
        return [fans] if fans else []


def _parse_fan(page: Body) -> Fan:
    excerpt = page.get("SpeedPercent")
    return Fan(read_number(excerpt), read_number(excerpt.get("SpeedRPM")) if isinstance(excerpt, Mapping) else None)

"""What can be set, as services show it (Control of DSP0268, v1.0 and later, and its excerpts). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from supernoded_redfish.gauges import name_words
from supernoded_redfish.paths import name_last, read_number, read_text

AUTOMATIC, OVERRIDE, MANUAL, DISABLED = "Automatic", "Override", "Manual", "Disabled"  # ControlMode
OTHER_SIDE = re.compile(r"primary|facility|fws|return|room|ambient|\bair\b")
NOT_HELD = re.compile(r"alarm|warning|limit|threshold|minimum|maximum|\b(min|max|high|low)\b")  # setpoints of alarms


class Control(NamedTuple):
    """One control. With `key` it is an excerpt, and that property of its page is written."""

    path: str
    key: str
    name: str
    kind: str  # ControlType
    settable: bool  # it shows a SetPoint
    set_point: float | None
    low: float | None
    high: float | None
    mode: str  # ControlMode; empty = it has none, or does not tell
    modes: tuple[str, ...]  # that it takes; empty = it does not tell

    def write(self, **properties: object) -> Mapping[str, object]:
        """The body of a PATCH."""
        return {self.key: properties} if self.key else properties

    def takes(self, mode: str) -> bool:
        """Whether it has such a mode."""
        return bool(self.mode) and (not self.modes or mode in self.modes)


def parse_control(path: str, body: Mapping[str, object], key: str = "", kind: str = "") -> Control:
    """A Control, or the excerpt of one that the page has under `key`; an excerpt that names its Control leads there."""
    allowed = body.get("ControlMode@Redfish.AllowableValues")
    return Control(
        path=path,
        key=key,
        name=name_words(name_last(path), key, body.get("Name")),
        kind=kind or read_text(body.get("ControlType")) or "",
        settable="SetPoint" in body,
        set_point=read_number(body.get("SetPoint")),
        low=read_number(body.get("AllowableMin")),
        high=read_number(body.get("AllowableMax")),
        mode=read_text(body.get("ControlMode")) or "",
        modes=tuple(one for one in allowed if isinstance(one, str)) if isinstance(allowed, list) else (),
    )


def is_supply(control: Control) -> bool:
    """Whether it sets the temperature of the coolant that is supplied."""
    return control.kind == "Temperature" and control.settable and not OTHER_SIDE.search(control.name) and not NOT_HELD.search(control.name)


def is_authority(control: Control) -> bool:
    """Whether it says who controls a cooling unit, and nothing else."""
    return control.kind in ("Temperature", "") and not control.settable and bool(control.mode or control.modes)


def is_fans(control: Control) -> bool:
    """Whether it says who controls the fans of a chassis."""
    fans = control.kind in ("DutyCycle", "FanSpeed", "Percent") or "fan" in control.name
    return fans and bool(control.mode or control.modes)

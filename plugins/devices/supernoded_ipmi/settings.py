"""The table `[plugins.ipmi]`."""

from __future__ import annotations

from typing import Annotated

import msgspec


class IpmiSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tools are asked. Neither is, as delivered; all numbers are ours."""

    ipmi_sensors: tuple[str, ...] = ()  # program and all arguments, with --comma-separated-output; empty = it is never run
    ipmitool_sel: tuple[str, ...] = ()  # program and all arguments, such as ipmitool sel list; empty = the log is not read
    period_s: Annotated[float, msgspec.Meta(ge=5, le=3600)] = 30.0
    within_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 20.0  # for one run: a BMC answers sensor by sensor

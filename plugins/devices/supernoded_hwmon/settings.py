"""The table `[plugins.hwmon]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

Word = Annotated[int, msgspec.Meta(ge=-1, le=255)]  # of a `pwmN_enable`; -1 = the driver has no such word


class DriverSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a driver's `pwmN_enable` says, by the numbers of Documentation/ABI/testing/sysfs-class-hwmon unless told otherwise."""

    manual: Word = 1
    auto: Word = 2
    full: Word = 0
    others: bool = True  # any other number is automatic too, as the ABI has it; false = it is nothing that we know
    tells: bool = True  # false = the file can be written, not read
    shared: bool = False  # `pwm1_enable` stands for all outputs of the chip


class HwmonSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is read, what it is called here, and which chips' outputs may be turned; all numbers are ours."""

    root: str = "/sys/class/hwmon"
    period_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 2.0
    tolerate: Annotated[int, msgspec.Meta(ge=0, le=20)] = 3  # failed reads of one file in a row over which its last value stands
    exclude: tuple[str, ...] = ()  # shell patterns over `chip`, `chip/label`, `chip/fan1`
    inlet: str = "*/inlet*"  # shell pattern over `chip/label`; the first that fits is the air at the node's inlet
    fans: Mapping[str, str] = {}  # `chip/fan1` -> subject; empty = `<node>/fan0` and on, in order
    steer: tuple[str, ...] = ()  # shell patterns over `chip`: whose outputs loops may turn; none = nobody's
    drivers: Mapping[str, DriverSettings] = {}  # by the chip's name

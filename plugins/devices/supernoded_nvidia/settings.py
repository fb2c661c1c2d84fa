"""The table `[plugins.nvidia]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

Period = Annotated[float, msgspec.Meta(ge=1, le=3600)]  # seconds


class NvidiaSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tool is asked how often, and which card is in which slot; all numbers are ours."""

    nvidia_smi: tuple[str, ...] = ("nvidia-smi",)  # program and leading arguments; empty = it is never run
    driver: str = "/proc/driver/nvidia/gpus"  # the driver's own list of its cards; none there and none in `cards` = nothing is asked
    cards: Mapping[str, str] = {}  # PCI bus id -> subject, such as "0000:a1:00.0" -> "n0/card4"
    period_s: Period = 10.0
    nvlink_period_s: Period = 10.0
    within_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 8.0  # seconds for one run of the tool
    kernel_log: bool = True  # needs CAP_SYSLOG where the kernel restricts its log
    kernel_period_s: Period = 10.0
    xid_hold_s: Annotated[float, msgspec.Meta(ge=1, le=604_800)] = 10_800.0  # how long an Xid stays a flag of its card

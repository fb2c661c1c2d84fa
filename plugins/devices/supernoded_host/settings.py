"""The table `[plugins.host]`."""

from __future__ import annotations

from typing import Annotated

import msgspec

Period = Annotated[float, msgspec.Meta(ge=0.5, le=3600)]  # seconds
Percent = Annotated[float, msgspec.Meta(gt=0, le=100)]


class HostSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is read how often, and the limits of the rules; all numbers are ours."""

    period_s: Period = 10.0  # load, memory, clock, kernel log
    disk_period_s: Period = 60.0
    process_period_s: Period = 10.0  # before a card is blamed for a silent rank a look is waited for (H3); 15 us of a core for each process
    processes: Annotated[int, msgspec.Meta(ge=1, le=100)] = 5  # how many of the busiest are named
    kernel_log: bool = True  # needs CAP_SYSLOG where the kernel restricts its log
    disk_full_percent: Percent = 95.0
    memory_low_percent: Percent = 95.0
    hysteresis_percent: Annotated[float, msgspec.Meta(ge=0, le=50)] = 3.0  # how far below its limit a share must fall to be clear
    clock_step_s: Annotated[float, msgspec.Meta(gt=0)] = 1.0  # a set of the wall clock above this is told
    hog_memory_percent: Percent = 20.0  # what a process that is no rank may take of memory before it is named (H3)
    hog_cores_percent: Percent = 50.0  # the same of all cores
    ranks: tuple[str, ...] = ()  # names of processes, as shell patterns, that are the job's though they hold no card
    notices: str = ""  # folder of the notices; empty = `notices` in the daemon's state folder
    most_notices: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 10_000  # the oldest beyond this are removed

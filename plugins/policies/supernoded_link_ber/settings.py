"""The table `[plugins.link_ber]`; the alarm itself is `limits.link.ber_alarm`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec


class LinkBerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sure the judgement of bit errors has to be; all numbers are ours."""

    # Link-years between two false alarms of a link that is always exactly at the limit, at full speed (the arithmetic is in ber/bank.py).
    false_alarm_years: Annotated[float, msgspec.Meta(gt=0, le=1e9)] = 1000.0
    false_clear: Annotated[float, msgspec.Meta(gt=0, lt=0.5)] = 0.05  # chance that a link at the limit is called better (Q5: 95 %)
    least_errors: Annotated[int, msgspec.Meta(ge=1)] = 3  # one or two errors are a near miss whatever the exposure (Q5)
    clear_s: Annotated[float, msgspec.Meta(ge=0)] = 60.0  # seconds that must be below the limit before a raised link is clear
    window_s: Annotated[float, msgspec.Meta(ge=60)] = 3600.0  # seconds for which errors and bits are remembered

    # Whether links are well, and what is done about it.
    settle_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 300.0  # after a boot or maintenance, in which links may train
    flaps: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 3  # times down within the window that are flapping
    flap_window_s: Annotated[float, msgspec.Meta(ge=10, le=3600)] = 600.0
    flap_clear_s: Annotated[float, msgspec.Meta(ge=10, le=86_400)] = 600.0  # seconds without going down after which it flaps no more
    lane_ratio: Annotated[float, msgspec.Meta(gt=1)] = 100.0  # a lane with so many times more to correct than the next is odd
    lane_counts: Annotated[int, msgspec.Meta(ge=10)] = 1000  # corrected bits of a lane from which its share of them means something
    expected_gbps: Mapping[str, Annotated[float, msgspec.Meta(gt=0)]] = {}  # shell pattern over ports -> Gb/s; first match counts
    expected_lanes: Mapping[str, Annotated[int, msgspec.Meta(ge=1, le=64)]] = {}  # the same for lanes
    # Seconds for which a notice may wait until the modules of both ends were read since the trouble began: one poll of them (30 s) and
    # some. The event itself is immediate; that of a `link.down` waits 12 s at most.
    evidence_s: Annotated[float, msgspec.Meta(ge=0, le=120)] = 35.0
    drain: bool = False  # in `act`: also drain a port that goes on failing; there is no actuator for it yet
    drain_after_s: Annotated[float, msgspec.Meta(ge=0)] = 60.0  # seconds for which it must have been failing
    order_after_s: Annotated[float, msgspec.Meta(ge=0)] = 600.0  # seconds after which, not cured, a replacement is ordered (L10)
    # Sensors, by the beginning of their names, whose bare error rates are those of their last interval: the BMC monitor's (L1).
    recent_sources: tuple[str, ...] = ("redfish",)
    design_point: Annotated[float, msgspec.Meta(gt=0, lt=0.5)] = 2e-4  # before correction by RS(544,514) (Q5)
    design_share: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.5  # of the design point, at which `link.fec` warns
    trend_s: Annotated[float, msgspec.Meta(ge=0)] = 900.0  # seconds ahead in which a rising rate that reaches its limit is told
    trend_sigmas: Annotated[float, msgspec.Meta(ge=2, le=20)] = 6.0  # of its own error, by which a slope must differ from none

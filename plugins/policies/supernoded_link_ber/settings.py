"""The table `[plugins.link_ber]`; the alarm itself is `limits.link.ber_alarm`."""

from __future__ import annotations

from typing import Annotated

import msgspec


class LinkBerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sure the judgement of bit errors has to be; all numbers are ours."""

    # Chance that a link exactly at the limit is called worse by one look. 5 s polls are 6e6 looks a year, and looks overlap:
    # 1e-10 leaves less than one false alarm in 1,000 link-years.
    false_alarm: Annotated[float, msgspec.Meta(gt=0, lt=0.1)] = 1e-10
    false_clear: Annotated[float, msgspec.Meta(gt=0, lt=0.5)] = 0.05  # chance that a link at the limit is called better (Q5: 95 %)
    least_errors: Annotated[int, msgspec.Meta(ge=1)] = 3  # one or two errors are a near miss whatever the exposure (Q5)
    clear_s: Annotated[float, msgspec.Meta(ge=0)] = 60.0  # seconds that must be below the limit before a raised link is clear
    window_s: Annotated[float, msgspec.Meta(ge=60)] = 3600.0  # seconds for which errors and bits are remembered

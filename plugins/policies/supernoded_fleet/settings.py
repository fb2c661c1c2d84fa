"""The table `[plugins.fleet]`; all numbers are ours where nothing else is said."""

from __future__ import annotations

from typing import Annotated

import msgspec


class FleetSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a node is late or gone, and what is done then."""

    late_s: Annotated[float, msgspec.Meta(ge=2.0, le=60)] = 2.25  # seconds of silence: two missed beats and a quarter of one for the way
    gone_s: Annotated[float, msgspec.Meta(ge=2.0, le=600)] = 5.0  # seconds of silence after which the second view counts
    start_s: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 60.0  # seconds that a daemon has after its machine did not answer
    settle_s: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 30.0  # seconds that a node has which was not heard since we began to hear
    notify_after_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 60.0  # seconds for which a node is late before people are told
    hold_after_s: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 30.0  # seconds for which a shared cause may show before a node is held
    probation_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 600.0  # seconds of beats after which a node that was gone is back
    drain: bool = False  # drain a node that is gone; needs something that can: plugin slurm or kubernetes, or [hooks] drain
    skew_s: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 2.0  # seconds by which the clock of a node may differ
    split_s: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 5.0  # seconds for which half of the site or less is heard

"""The table `[plugins.ring]`; the limits themselves are `limits.ring` and `limits.network.jitter_us`."""

from __future__ import annotations

from typing import Annotated

import msgspec


class RingSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How patient the judgement of rings is; all numbers are ours."""

    settle_s: Annotated[float, msgspec.Meta(ge=0)] = 300.0  # seconds after a node's boot in which its links may still be down
    jitter_factor: Annotated[float, msgspec.Meta(gt=0)] = 2.0  # jitter above this many times limits.network.jitter_us warns (N2)
    jitter_samples: Annotated[int, msgspec.Meta(ge=3)] = 8  # latencies that a jitter of our own is made of, at least
    conflict_polls: Annotated[int, msgspec.Meta(ge=1)] = 2  # readings of the library in a row that may differ from our own view

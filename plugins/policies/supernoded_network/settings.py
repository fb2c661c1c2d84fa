"""The table `[plugins.network]`; the declared numbers themselves are `limits.network`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

Bytes = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(ge=10, le=3600)]


class SwitchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is declared of one switch, where it differs from `limits.network`."""

    pfc_threshold_bytes: Bytes | None = None
    ecn_threshold_bytes: Bytes | None = None  # not set = so much below PFC as limits.network.ecn_below_pfc_bytes says


class NetworkSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How switches are meant to be set, and over which times growth is judged; numbers without another source are ours."""

    switches: Mapping[str, SwitchSettings] = {}  # by name, without `switch/`
    # How a switch is told, for the proposed change (N4, N5; syntax doubted, see Q2).
    pfc_command: str = "pfc priority {priority} buffer-size {bytes}"
    ecn_command: str = "ecn threshold {bytes}"
    ecn_on_command: str = "ecn enable"
    ecn_off_command: str = "undo ecn enable"
    loss_window_s: Seconds = 150.0  # drops, marks and pauses are compared over this; some are read once a minute
    roce: tuple[str, ...] = ()  # further subjects, as shell patterns, that carry RoCE beside ports of cards and ends of described cables
    buffer_window_s: Seconds = 300.0  # time-outs are held against the state of links over this
    buffer_timeouts: Annotated[int, msgspec.Meta(ge=1)] = 2  # fewer time-outs in it are no pattern
    buffer_mb: Annotated[int, msgspec.Meta(ge=1)] = 200  # HCCL_BUFFSIZE where it is not set (N9)
    hot_c: Annotated[float, msgspec.Meta(gt=0)] = 85.0  # from this temperature of a card on, time-outs are put down to heat (L14)

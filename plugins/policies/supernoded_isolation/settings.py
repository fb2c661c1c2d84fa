"""The table `[plugins.isolation]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec


class IsolationSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What codes mean on this site, and when a card counts as lost; all numbers are ours."""

    fault_codes: str = ""  # path of the site's own table, JSON or TOML: level -> codes; it wins over ours
    chips: Mapping[str, tuple[str, ...]] = {}  # shell pattern over card.chip -> codes and words that are normal there
    lost_polls: Annotated[int, msgspec.Meta(ge=1, le=100)] = 3  # looks in a row without a word of a card whose siblings report
    settle_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 300.0  # seconds after the boot in which a card may still be missing

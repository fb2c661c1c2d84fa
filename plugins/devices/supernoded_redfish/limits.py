"""The power limit of one card as its metrics show it, and what is to be written to get another (DSP0268, EnvironmentMetrics v1.3). Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import Effect, Sight
from supernoded_redfish.paths import read_number, read_text

LIMIT, POWER = "PowerLimitWatts", "PowerWatts"
KEPT, LIFTED = "Automatic", "Disabled"
NEAR_W = 0.5  # services round what they are told (ours)
OVER = 1.05  # times the limit that a card may be read at: governors hold a mean, meters read a moment (ours)


class Limit(msgspec.Struct, frozen=True):
    """What stands now. `mode` empty = the service tells none, and a limit that it shows is kept."""

    watts: float | None  # SetPoint
    mode: str
    low: float | None
    high: float | None
    drawn: float | None  # PowerWatts
    tag: str = ""

    @property
    def cap(self) -> float | None:
        """The limit that is kept; None = none."""
        return None if self.mode == LIFTED else self.watts

    @property
    def stands(self) -> bool:
        """Whether the card is held below what it could draw."""
        return self.cap is not None and (self.high is None or self.cap < self.high - NEAR_W)


class Before(msgspec.Struct, frozen=True):
    """What stood before we came, to be put back as long as what stands is `ours`."""

    watts: float | None
    mode: str
    ours: float


def read_limit(body: Mapping[str, object]) -> Limit | None:
    """The limit of a card; None when its metrics have none that could be set."""
    limit = body.get(LIMIT)
    if not isinstance(limit, Mapping):
        return None
    drawn = read_number(body.get(POWER))
    return Limit(
        watts=_read_watts(limit.get("SetPoint")),
        mode=read_text(limit.get("ControlMode")) or "",
        low=_read_watts(limit.get("AllowableMin")),
        high=_read_watts(limit.get("AllowableMax")),
        drawn=drawn if drawn is not None and drawn >= 0.0 else None,
        tag=read_text(body.get("@odata.etag")) or "",
    )


def _read_watts(value: object) -> float | None:
    """Of a limit; 0 and less stand for none."""
    watts = read_number(value)
    return watts if watts is not None and watts > 0.0 else None


def fit_watts(limit: Limit, watts: float) -> float:
    """As near to it as this card can be held."""
    raised = watts if limit.low is None else max(watts, limit.low)
    return raised if limit.high is None else min(raised, limit.high)


def is_capped(limit: Limit, watts: float) -> bool:
    """Whether it holds this limit or a lower one."""
    return limit.cap is not None and limit.cap <= fit_watts(limit, watts) + NEAR_W


def judge_cap(limit: Limit, watts: float) -> Sight:
    """By what is set and by what is drawn (safety rule 9: verified)."""
    wanted = fit_watts(limit, watts)
    if not is_capped(limit, watts):
        return Sight(effect=Effect.ABSENT, text=f"its limit is {_show(limit.cap)}")
    if limit.drawn is None:
        return Sight(effect=Effect.UNKNOWN, text=f"its limit is {_show(limit.cap)}, and what it draws is not told")
    if limit.drawn > wanted * OVER:
        return Sight(effect=Effect.UNKNOWN, text=f"its limit is {_show(limit.cap)}, and it still draws {limit.drawn:.0f} W")
    return Sight(effect=Effect.PRESENT, text=f"limit {_show(limit.cap)}, draws {limit.drawn:.0f} W")


def is_back(limit: Limit, before: Before) -> bool:
    """Whether what stood before stands again."""
    if before.mode == LIFTED or before.watts is None:
        return not limit.stands
    return limit.cap is not None and abs(limit.cap - before.watts) <= NEAR_W


def is_waiting(limit: Limit, before: Before) -> bool:
    """Whether our limit stands and has to go; one that another has changed since is his (safety rule 1)."""
    return limit.cap is not None and abs(limit.cap - before.ours) <= NEAR_W and not is_back(limit, before)


def write_cap(limit: Limit, watts: float) -> Mapping[str, object]:
    """The body of a PATCH that caps."""
    mode = {"ControlMode": KEPT} if limit.mode == LIFTED else {}
    return {LIMIT: {"SetPoint": fit_watts(limit, watts), **mode}}


def write_back(limit: Limit, before: Before) -> Mapping[str, object]:
    """The body of a PATCH that puts back what stood before; without a word on it the highest limit that is allowed."""
    if before.mode == LIFTED:
        return {LIMIT: {"ControlMode": LIFTED}}
    watts = before.watts if before.watts is not None else limit.high
    if watts is None:
        return {LIMIT: {"ControlMode": LIFTED}}
    return {LIMIT: {"SetPoint": watts, **({"ControlMode": before.mode} if before.mode else {})}}


def _show(watts: float | None) -> str:
    return "none" if watts is None else f"{watts:g} W"

"""The table `[plugins.power]`; the founding documents' own numbers are `limits.power`."""

from __future__ import annotations

from typing import Annotated

import msgspec

Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
Share = Annotated[float, msgspec.Meta(gt=0, le=100)]
Celsius = Annotated[float, msgspec.Meta(ge=-40, le=150)]


class PowerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How power is judged and what is done about it; a number without a source is ours."""

    site: str = "site"  # what all feeds together are called: subject and role `power/<site>`
    # the mains
    nominal_v: Annotated[float, msgspec.Meta(ge=48, le=700)] | None = None  # phase to neutral; not set = as the UPS says
    generator: bool = False  # a generator starts when the mains fail
    generator_after_s: Seconds = 5.0  # a return after a longer break is that generator, till another break
    generator_most_s: Annotated[float, msgspec.Meta(ge=60, le=604_800)] = 14_400.0  # and is taken for the mains after this
    generator_hz: Annotated[float, msgspec.Meta(gt=0, le=5)] = 0.3  # a frequency that is further off nominal is a generator's
    stable_s: Annotated[float, msgspec.Meta(ge=30, le=3600)] = 30.0  # that a return must last to be believed (safety 8, 11)
    conflict_s: Annotated[float, msgspec.Meta(ge=1, le=120)] = 10.0  # two views may differ so long: NUT alone is up to 7 s late
    silent_s: Annotated[float, msgspec.Meta(ge=1, le=600)] = 15.0  # without a word of a UPS that was on mains (NUT's DEADTIME)
    # words of a UPS
    flash_s: Annotated[float, msgspec.Meta(ge=0, le=60)] = 3.0  # LB and RB on mains count after this (nut#2347: they flash for 2 s)
    test_s: Annotated[float, msgspec.Meta(ge=10, le=7200)] = 600.0  # the longest self-test; an older TEST hides no outage
    calibration_s: Annotated[float, msgspec.Meta(ge=60, le=86_400)] = 14_400.0  # the longest calibration, the same
    ignored_flags: tuple[str, ...] = ()  # vendor words of ups.status that say nothing here, in small letters
    # energy and time
    health_percent: Share = 80.0  # of a battery whose health is not told; 80 % is where batteries are replaced
    margin_s: Annotated[float, msgspec.Meta(ge=10, le=3600)] = 30.0  # of reserve beside save and stop
    stop_s: Annotated[float, msgspec.Meta(ge=5, le=3600)] = 30.0  # from a stopped job to open outlets
    save_s: Annotated[float, msgspec.Meta(ge=1, le=7200)] = 60.0  # of a job that has not told its save time
    step_s: Annotated[float, msgspec.Meta(ge=0.1, le=3600)] = 30.0  # of a job that has not told its step time
    cap_w: Annotated[float, msgspec.Meta(ge=50, le=3000)] = 350.0  # of each card on battery (safety 9)
    capped_slowdown: Annotated[float, msgspec.Meta(ge=1, le=10)] = 1.75  # of steps and saves while capped; 600 W (T1) to 350 W is 1.71
    patience_s: Annotated[float, msgspec.Meta(ge=0.5, le=10)] = 3.0  # for a shed to be seen
    cap_patience_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 10.0  # for a cap to be set: BMCs take that long; no save waits
    # the shed
    optic_c: Celsius = 70.0  # of an optical module that does not say its own limit
    host_c: Celsius = 85.0  # of boards, NICs and memory that tell no limit of their own
    regulator_c: Celsius = 110.0  # of voltage regulators (`vrm` in their names), made for 125 C; and the most that is believed of any limit
    card_c: Celsius = 85.0  # of cards that no liquid cools
    headroom_c: Annotated[float, msgspec.Meta(ge=1, le=60)] = 10.0  # below those limits for as long as fans may stand still
    shed_most_s: Annotated[float, msgspec.Meta(ge=60, le=600)] = (
        120.0  # of standing fans in an hour (safety 7); no lease is longer than what is left
    )
    arming_grace_s: Annotated[float, msgspec.Meta(ge=30, le=3600)] = 90.0  # till an unarmed PDU is an alarm: three renewals
    # coming back
    stage_s: Annotated[float, msgspec.Meta(ge=1, le=600)] = 5.0  # between two outlets of one PDU
    branch_percent: Share = 80.0  # of its rated current, above which a branch takes no more (safety 8)
    never_off: tuple[str, ...] = ()  # subjects, as shell patterns, that are never switched off beside those of safety 6: broker, storage
    # alarms
    redundancy_h: Annotated[float, msgspec.Meta(ge=0, le=720)] = 4.0  # of lost redundancy till people are told (safety 14)
    settle_s: Annotated[float, msgspec.Meta(ge=0, le=600)] = 10.0  # an overload or an idle cord must last
    health_low_percent: Share = 80.0  # of a battery, below which it is told
    checkpoint_old_s: Annotated[float, msgspec.Meta(ge=60, le=604_800)] = 3600.0  # of the newest durable checkpoint (safety 14)
    oftener_s: Annotated[float, msgspec.Meta(ge=60, le=86_400)] = 900.0  # between checkpoints while a UPS would not ride through

    @property
    def subject(self) -> str:
        """All feeds together, as a subject; also the role that judges them."""
        return f"power/{self.site}"

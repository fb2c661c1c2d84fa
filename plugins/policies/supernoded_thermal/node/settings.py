"""The table `[plugins.thermal.node]`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]
Celsius = Annotated[float, msgspec.Meta(ge=20, le=150)]
Kelvin = Annotated[float, msgspec.Meta(gt=0, le=60)]
Seconds = Annotated[float, msgspec.Meta(ge=1, le=3600)]


class NodeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the heat of nodes is judged, and who turns their fans; a number without a source is ours.

    Fans are the BMC's unless somebody decides otherwise. It sees sensors that no driver shows, goes on while the system is down, and has
    no need of a watchdog; a daemon that is killed leaves a fan under manual control at its last duty, with nobody to notice. So `bmc`
    judges and says what is wrong, and leaves the rest to remedies, which can only ask the BMC for more. Choose `loop` where the BMC's own
    curve does not see what gets hot: modules in the cages, or dies that air alone cools.
    """

    fans: Literal["bmc", "loop"] = "bmc"  # who turns them while all is well
    # cards
    warn_c: Celsius = 85.0  # of a die, from which heat is told; time-outs are put down to heat from the same on (L14)
    critical_c: Celsius = 92.0  # of a die, just below where it slows down
    throttle_c: Celsius = 95.0  # where a card slows itself down (T1); its maker's number where that is known
    relief_c: Kelvin = 4.0  # below a limit, where what was told is clear
    peer_c: Kelvin = 15.0  # by which a die may be hotter than those beside it would be at its power
    kelvin_per_watt: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.06  # of a die over its coolant: about 33 K at 600 W (T1)
    spread_c: Kelvin = 15.0  # by which the hottest of a die's sensors stands over their median; beyond it is a sensor that is wrong (T2)
    foretell_s: Seconds = 60.0  # heat is told so long before the card would slow down
    frozen_w: Annotated[float, msgspec.Meta(ge=20, le=3000)] = (
        150.0  # a die that stays where it is while its power moves by this is not read
    )
    # what air alone cools
    optic_c: Celsius = 70.0  # of an optical module that does not say its own limit: the case limit of QSFP-DD and OSFP
    part_c: Celsius = 85.0  # of boards, NICs and memory that tell none: the limit of DIMMs without doubled refresh (JESD79-5)
    regulator_c: Celsius = 110.0  # of voltage regulators (`vrm` in their names), made for 125 C; and the most that is believed of any limit
    near_c: Kelvin = 5.0  # below a part's limit, from which it is told
    # the fan loop
    margin_c: Kelvin = 12.0  # below a limit, which the loop aims at
    least_percent: Percent = 30.0  # duty, however cool it is (T3)
    hold_s: Seconds = 30.0  # a value that is not read anew is believed for so long: three looks
    # the least duty while something is not known or not there
    lost_optics_percent: Percent = 70.0
    lost_part_percent: Percent = 60.0
    lost_die_percent: Percent = 80.0
    failed_fan_percent: Percent = 70.0
    # fans
    standing_rpm: Annotated[float, msgspec.Meta(ge=1, le=10_000)] = 300.0  # below which a fan stands
    fan_s: Annotated[float, msgspec.Meta(ge=4, le=300)] = 15.0  # for which it must: a healthy one is up within two or three (2 s lag)
    weak_share: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.45  # of what blows behind the others; neighbours alone give a third
    unclaimed_s: Seconds = 60.0  # fans may be under manual control without our doing so long: somebody may be at work

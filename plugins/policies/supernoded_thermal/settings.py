"""The table `[plugins.thermal]`; the founding documents' own numbers are `limits.coolant`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from supernoded_thermal.control.settings import ControlSettings
from supernoded_thermal.node.settings import NodeSettings

Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
Wait = Annotated[float, msgspec.Meta(ge=1, le=3600)]
Share = Annotated[float, msgspec.Meta(gt=0, le=100)]
Celsius = Annotated[float, msgspec.Meta(ge=-40, le=150)]
Kelvin = Annotated[float, msgspec.Meta(gt=0, le=60)]
Watts = Annotated[float, msgspec.Meta(ge=50, le=3000)]
Flow = Annotated[float, msgspec.Meta(gt=0, le=50_000)]


class ThermalSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How heat and coolant are judged, and what is done about it; a number without a source is ours."""

    commissioning: str = ""  # folder of what `supernodectl thermal commission` has recorded, `<loop>.toml`; empty = none
    # the coolant
    settle_s: Seconds = 5.0  # that a deviation must last to be told: a sensor lags by 2 s
    follow_s: Annotated[float, msgspec.Meta(ge=10, le=180)] = 120.0  # in which the supply may still be at an earlier setpoint
    capacity_s: Wait = 60.0  # with the valve at its stop and the supply too warm
    rated_flow: dict[str, Flow] = {}  # L/min by loop name; one that is not here is learned from the healthy loop
    low_flow_percent: Share = 70.0  # of what pump speed and pressure should give
    no_flow_percent: Share = 20.0  # of rated flow, below which there is none
    takeover_s: Seconds = 12.0  # without flow, for which a standby pump is waited for while dies have the time: 3 to 5 s and its ramp
    start_s: Wait = 4.0  # from a pump's run signal to turning; drives ramp at once, and units take over after 3 s and the ramp
    air_percent: Share = 90.0  # of the learned pressure for speed: 5 % air takes a tenth of it
    level_low_percent: Share = 25.0  # pumps draw air below 20
    leak_minor_s: Seconds = 600.0  # for which one wet detector is small (safety 20); 0 = for ever
    leak_level_percent: Share = 2.0  # of the reservoir, lost in three minutes: a large leak
    leak_sensor_s: Wait = 15.0  # for which a detector may tell nothing
    primary_low_kpa: Annotated[float, msgspec.Meta(gt=0, le=2000)] = 50.0  # a third of the 150 that exchangers are made for
    primary_near_c: Kelvin = 1.0  # below the setpoint: warmer primary water cannot cool to it
    valve_off_percent: Share = 5.0  # between command and position
    valve_still_s: Wait = 15.0  # for which a position may stand still meanwhile
    fallback_apart_k: Kelvin = 5.0  # between what a unit holds alone and what is held here
    sensors_apart_c: Kelvin = 0.3  # between two sensors in one pipe (safety 19)
    no_dew_sensor: bool = False  # none is there on purpose: the commissioned floor is this hall's, and nothing is capped for it
    sensor_s: Wait = 30.0  # that they must differ
    frozen_s: Annotated[float, msgspec.Meta(ge=60, le=300)] = 180.0  # of a return temperature that stands still while heat moves
    # the remedies
    pace_s: Wait = 30.0  # that each step of the way has to show (design, remedies in order)
    hurry_s: Wait = 60.0  # to where a die slows down: then each step has
    quick_s: Wait = 5.0  # seconds to show: a die lags by three, and a look follows
    die_near_c: Kelvin = 10.0  # below `node.throttle_c`: then cards are capped
    die_over_c: Celsius = 100.0  # of a die when nothing else has helped: then its node's cords are opened; dies break at 105
    flow_more_kpa: Annotated[float, msgspec.Meta(gt=0, le=500)] = 20.0  # more pressure difference, at the first step
    cap_w: Watts = 350.0  # of each card, as on battery
    cap_low_w: Watts = 200.0  # at the second step
    drain: bool = False  # also drain hot nodes; needs something that can: plugin slurm or kubernetes, or [hooks] drain
    cap_patience_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 10.0  # for a cap to be set: BMCs take that long
    save_s: Annotated[float, msgspec.Meta(ge=1, le=7200)] = 60.0  # of a job that has not told its save time
    step_s: Annotated[float, msgspec.Meta(ge=0.1, le=3600)] = 30.0  # of a job that has not told its step time
    capped_slowdown: Annotated[float, msgspec.Meta(ge=1, le=10)] = 1.75  # of steps and saves while capped; 600 W (T1) to 350 W is 1.71
    leak_save_s: Annotated[float, msgspec.Meta(ge=0, le=10)] = 10.0  # for a checkpoint at a large leak (safety 20)
    never_off: tuple[str, ...] = ()  # subjects, as shell patterns, that are never switched off beside those of safety 6
    # how coolant is held, and how the heat of nodes is judged
    control: ControlSettings = ControlSettings()
    node: NodeSettings = NodeSettings()

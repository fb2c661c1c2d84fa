"""The table `[plugins.thermal.control]`: how coolant is held. A number without a source is ours."""

from __future__ import annotations

from typing import Annotated

import msgspec

Celsius = Annotated[float, msgspec.Meta(ge=-20, le=60)]
Kelvin = Annotated[float, msgspec.Meta(ge=0, le=10)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


class ControlSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Setpoint, limits and gains. Gains were tuned on the reference plant alone (`benchmarks/cdu.py`)."""

    setpoint_c: Celsius = 22.0  # T5
    # dew point (safety 18)
    dew_margin_k: Kelvin = 2.0  # over the dew point, below which nothing is supplied
    dew_hold_s: Seconds = 600.0  # for which the last floor stands when humidity is unknown
    floor_c: Celsius = 19.0  # commissioned floor, when it is unknown for longer: 17 C, the highest dew point of ASHRAE class A1, and 2 K
    # supply temperature by the primary valve
    gain: Annotated[float, msgspec.Meta(ge=0, le=3)] = 0.5  # K of correction for a kelvin of error
    rate: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.08  # the same for a kelvin and second
    plain_gain: Annotated[float, msgspec.Meta(ge=0, le=50)] = 8.0  # % of stroke for a kelvin, without commissioning data
    plain_rate: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.8  # the same for a kelvin and second
    most_correction_k: Annotated[float, msgspec.Meta(gt=0, le=15)] = 5.0  # what the integral may add
    preview_s: Annotated[float, msgspec.Meta(ge=0, le=10)] = 1.0  # how far ahead of time the heat is looked at, by power
    most_preview_k: Kelvin = 0.5  # what that may add to the measured return
    sensor_lag_s: Annotated[float, msgspec.Meta(ge=0, le=30)] = 2.0  # of the temperature transmitters
    sensor_step_k: Kelvin = 0.1  # what they round to
    delay_s: Annotated[float, msgspec.Meta(ge=0, le=300)] = 20.0  # from racks to exchanger at commissioned flow, until it is known better
    lag_s: Annotated[float, msgspec.Meta(gt=0, le=300)] = 12.0  # of the racks, the same
    least_percent: Percent = 3.0  # valve opening at which the sensor still sees moving water
    slew_percent_s: Annotated[float, msgspec.Meta(gt=0, le=100)] = 10.0  # of the valve, both ways
    still_percent: Percent = 0.4  # a smaller change of the valve is not worth its wear
    follow_percent: Percent = 4.0  # between command and feedback: with more, nothing is integrated
    disagree_k: Kelvin = 0.5  # between two supply sensors
    joules_per_litre_k: Annotated[float, msgspec.Meta(ge=1000, le=5000)] = 4180.0  # water; 25 % propylene glycol has 3950
    # pumps (safety 17)
    pressure_kpa: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 100.0  # over the branches
    most_pressure_kpa: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 150.0  # of it, when a node has less flow than its floor
    floor_w: Annotated[float, msgspec.Meta(ge=0, le=3000)] = 350.0  # of a card, for which every node must have flow: capped power
    floor_rise_k: Annotated[float, msgspec.Meta(gt=0, le=40)] = 15.0  # by which that may warm the coolant
    reallocate_s: Annotated[float, msgspec.Meta(ge=60, le=3600)] = 60.0  # between two changes of the pressure that is held
    least_speed_percent: Percent = 30.0  # of a pump
    pump_slew_percent_s: Annotated[float, msgspec.Meta(gt=0, le=20)] = 1.0  # of its speed, both ways: pressure hammer
    takeover_s: Seconds = 20.0  # for which the unit's own takeover of a lost pump is let be

"""The primary valve's actuator: slew, backlash, and being stuck."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from sim_hardware.plant.cooling import design as designs


class Actuator(msgspec.Struct, frozen=True):
    """Where the valve is. All are shares of the stroke."""

    command: float
    motor: float
    stem: float  # what the water sees, and what the feedback shows
    stuck: bool = False


def step_actuator(actuator: Actuator, design: designs.Valve, seconds: float, live: bool) -> Actuator:
    """The actuator after `seconds`. Without power it stays where it is."""
    if not live or actuator.stuck:
        return actuator
    most = seconds / design.stroke_s
    motor = actuator.motor + max(-most, min(most, actuator.command - actuator.motor))
    play = design.backlash_percent / 200.0
    stem = max(0.0, min(1.0, max(motor - play, min(motor + play, actuator.stem))))
    if motor == actuator.motor and stem == actuator.stem:
        return actuator
    return replace(actuator, motor=motor, stem=stem)

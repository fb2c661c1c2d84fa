"""Pumps and their drives."""

from __future__ import annotations

import math
from typing import Literal

import msgspec
from msgspec.structs import replace

from sim_hardware.plant.cooling.design import Pumping

DriveState = Literal["off", "starting", "running", "tripped", "resetting"]

RAMP = 0.2  # share of full speed in a second; so the run-up is 5 s of the 20 s
FULL_RPM = 2900.0  # two poles at 50 Hz, with slip
_STILL = 0.01
_REACHED = 0.9  # of the commanded speed, where a drive calls itself running


class Pump(msgspec.Struct, frozen=True):
    """A pump. `speed` and `command` are shares of full speed."""

    state: DriveState
    since: float  # when it came into this state
    speed: float
    command: float
    wanted: bool  # the PLC gives it the run signal
    failed: bool = False
    signal_lost: bool = False


def step_pump(pump: Pump, design: Pumping, at: float, seconds: float, live: bool) -> Pump:
    """The pump after `seconds`, at `at`."""
    state = _find_state(pump, design, at, live)
    speed = _find_speed(pump, state, design, seconds)
    if state == pump.state:
        return pump if speed == pump.speed else replace(pump, speed=speed)
    return replace(pump, state=state, since=at, speed=speed)


def _find_state(pump: Pump, design: Pumping, at: float, live: bool) -> DriveState:
    if pump.failed or not live:
        return "tripped"
    if pump.state == "tripped":
        return "resetting"
    if pump.state == "resetting":
        return "off" if at - pump.since >= design.reset_s - 1.0 / RAMP else "resetting"
    if not pump.wanted:
        return "off"
    if pump.signal_lost or pump.state == "off":
        return "starting"  # and with the signal lost it stays there
    return "running" if pump.speed >= _REACHED * pump.command else "starting"


def _find_speed(pump: Pump, state: DriveState, design: Pumping, seconds: float) -> float:
    if state in {"starting", "running"} and not pump.signal_lost:
        most = RAMP * seconds
        return pump.speed + max(-most, min(most, pump.command - pump.speed))
    coasting = pump.speed * math.exp(-seconds / design.coast_s)
    return coasting if coasting > _STILL else 0.0

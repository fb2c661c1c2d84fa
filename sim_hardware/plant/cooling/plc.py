"""The CDU's own controller: supply temperature by the valve, pressure difference by the pumps, takeover, watchdog."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from sim_hardware.plant.cooling.design import Design, Plc
from sim_hardware.plant.cooling.drives import RAMP, Pump
from sim_hardware.plant.cooling.orders import Control

_PRESSURE_GAIN = 0.2  # share of full speed a second for a pressure difference that is wholly missing
_PRESSURE_BAND = 0.005  # share of the asked pressure difference that is let be
_LEAST_SPEED = 0.2
_RUN_UP = 1.0 / RAMP + 1.0  # s that a drive may take until it says that it runs
_RATED_COMMAND = 0.93  # share of full speed that a pump is started at


class Controller(msgspec.Struct, frozen=True):
    """What the PLC holds in mind."""

    control: Control
    asked: float  # C, last written
    setpoint: float  # C, what it holds
    integral: float  # share of stroke
    kilopascals: float  # asked
    watchdog_s: float
    until: float = math.inf  # when the watchdog bites
    up_at: float = 0.0  # when it has booted
    master: float | None = None  # C, which somebody else writes


def limit_setpoint(plc: Plc, controller: Controller, dew_point: float) -> float:
    """The effective setpoint: whoever's it is, never below the dew point and its margin."""
    return max(plc.celsius if controller.control == "auto" else controller.asked, dew_point + plc.dew_margin_kelvin)


def hear_master(plc: Plc, controller: Controller) -> Controller:
    """The other master writes its setpoint, when there is one and it is let."""
    if controller.master is None or controller.asked == controller.master:
        return controller
    if plc.arbitration == "first" and controller.control != "auto":
        return controller
    return replace(controller, asked=controller.master)


def hold_temperature(plc: Plc, controller: Controller, measured: float, command: float) -> tuple[Controller, float]:
    """One scan of the supply temperature's loop: the controller, and the valve's command.

    PI; it does not integrate against an end stop. Under `direct` it follows the valve, so that a take-over has no bump.
    """
    error = measured - controller.setpoint
    if controller.control == "direct":
        return replace(controller, integral=command - plc.gain * error), command
    if abs(error) < plc.deadband_kelvin:
        return controller, command
    integral = controller.integral + plc.rate * plc.period_s * error
    wish = integral + plc.gain * error
    if 0.0 < wish < 1.0 or (wish >= 1.0) == (error < 0.0):
        controller = replace(controller, integral=integral)
    return controller, max(0.0, min(1.0, wish))


def hold_pressure(plc: Plc, pumps: Sequence[Pump], now: float, asked: float) -> tuple[Pump, ...]:
    """One scan of the pumps' loop: one speed command for all that run."""
    running = [pump for pump in pumps if pump.state == "running"]
    if not running or asked <= 0.0:
        return tuple(pumps)
    missing = 1.0 - now / asked
    if abs(missing) < _PRESSURE_BAND or any(pump.state == "starting" for pump in pumps):
        return tuple(pumps)
    change = _PRESSURE_GAIN * plc.period_s * max(-0.5, min(0.5, missing))
    command = max(_LEAST_SPEED, min(1.0, max(pump.command for pump in running) + change))
    return tuple(replace(pump, command=command) if pump.wanted else pump for pump in pumps)


def take_over(plc: Plc, pumps: Sequence[Pump], at: float) -> tuple[Pump, ...]:
    """The pumps with a standby's run signal in place of one that has not run for the takeover's time."""
    turned = list(pumps)
    for place, pump in enumerate(pumps):
        if pump.wanted and _is_missing(pump, at, plc.takeover_s):
            standby = next((other for other, one in enumerate(turned) if not one.wanted and one.state == "off"), None)
            if standby is not None:
                turned[place] = replace(turned[place], wanted=False)
                turned[standby] = replace(turned[standby], wanted=True, command=pump.command or _RATED_COMMAND)
    return tuple(turned)


def _is_missing(pump: Pump, at: float, takeover_s: float) -> bool:
    late = takeover_s + (_RUN_UP if pump.state == "starting" else 0.0)
    return pump.state not in {"running", "off"} and at - pump.since >= late


def want_duty(design: Design, pumps: Sequence[Pump]) -> tuple[Pump, ...]:
    """The pumps with as many run signals as there are duty pumps: where too few, the first ready ones; where too many, not the last."""
    turned = list(pumps)
    wanted = [place for place, pump in enumerate(turned) if pump.wanted]
    for place in wanted[design.pumping.duty :]:
        turned[place] = replace(turned[place], wanted=False)
    spare = sorted((place for place, pump in enumerate(turned) if not pump.wanted), key=lambda place: turned[place].state != "off")
    for place in spare[: max(0, design.pumping.duty - len(wanted))]:
        turned[place] = replace(turned[place], wanted=True, command=turned[place].command or _RATED_COMMAND)
    return tuple(turned)


def change_control(controller: Controller, control: Control, at: float) -> Controller:
    """The controller in another's hands; its watchdog starts with that, and `auto` has none. To say the same again is no heartbeat."""
    if control == controller.control:
        return controller
    until = math.inf if control == "auto" else at + controller.watchdog_s
    return replace(controller, control=control, until=until)

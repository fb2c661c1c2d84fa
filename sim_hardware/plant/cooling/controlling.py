"""The CDU's gauges and its PLC's scans."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.cooling.actuator import step_actuator
from sim_hardware.plant.cooling.cdu import Cdu, Gauges
from sim_hardware.plant.cooling.design import Design
from sim_hardware.plant.cooling.plc import (
    change_control,
    hear_master,
    hold_pressure,
    hold_temperature,
    limit_setpoint,
    take_over,
    want_duty,
)
from sim_hardware.plant.cooling.site import SUBSTEP, LoopSite
from sim_hardware.plant.cooling.telling import tell_control, tell_swing
from sim_hardware.plant.words import Happening

_SECOND = round(1.0 / SUBSTEP)


def is_due(at: float, period_s: float) -> bool:
    """Whether a period begins at this substep."""
    return round(at / SUBSTEP) % max(1, round(period_s / SUBSTEP)) == 0


def measure(cdu: Cdu, design: Design, at: float) -> Cdu:
    """The gauges one substep on."""
    gauge, gauges = design.gauge, cdu.gauges
    step = 1.0 - math.exp(-SUBSTEP / gauge.lag_s)
    supply = gauges.supply + (cdu.water.outlet - gauges.supply) * step
    returned = gauges.returned + (cdu.water.inlet - gauges.returned) * step
    shown_supply, shown_return = gauges.shown_supply, gauges.shown_return
    if is_due(at, gauge.refresh_s):
        shown_supply, shown_return = round_off(supply, gauge.step_kelvin), round_off(returned, gauge.step_kelvin)
    return replace(cdu, gauges=Gauges(supply, returned, shown_supply, shown_return))


def round_off(celsius: float, step: float) -> float:
    """What a gauge with such steps shows."""
    return round(celsius / step) * step if step else celsius


def control(cdu: Cdu, loop: LoopSite, dew_point: float, at: float, told: list[Happening]) -> Cdu:
    """The PLC's scan, when it is due; and the valve."""
    plc = loop.design.plc
    if cdu.live and at >= cdu.controller.up_at:
        if is_due(at, 1.0):
            cdu = replace(cdu, controller=hear_master(plc, cdu.controller))
        if is_due(at, plc.period_s):
            cdu = _scan(cdu, loop, dew_point, at)
    if is_due(at, 1.0):
        cdu = replace(cdu, told=tell_swing(cdu.told, loop.subject, cdu.water.outlet, at, told))
    actuator = step_actuator(cdu.actuator, loop.design.valve, SUBSTEP, cdu.live)
    return cdu if actuator is cdu.actuator else replace(cdu, actuator=actuator)


def _scan(cdu: Cdu, loop: LoopSite, dew_point: float, at: float) -> Cdu:
    plc = loop.design.plc
    controller = replace(cdu.controller, setpoint=limit_setpoint(plc, cdu.controller, dew_point))
    measured = round_off(cdu.gauges.supply, loop.design.gauge.step_kelvin)
    controller, command = hold_temperature(plc, controller, measured, cdu.actuator.command)
    pumps = take_over(plc, cdu.pumps, at)
    if controller.control != "direct":
        pumps = want_duty(loop.design, hold_pressure(plc, pumps, cdu.kilopascals, controller.kilopascals))
    return replace(cdu, controller=controller, actuator=replace(cdu.actuator, command=command), pumps=pumps)


def bite(cdu: Cdu, loop: LoopSite, until: float, told: list[Happening]) -> Cdu:
    """The CDU at `until`, when its watchdog has bitten if it was due."""
    due = cdu.controller.until
    if due > until:
        return cdu
    after = change_control(cdu.controller, "auto", due)
    cause = f"no heartbeat for {cdu.controller.watchdog_s:g} s"
    tell_control(cdu.controller, after, loop.subject, due, told, cause)
    return replace(cdu, controller=after)

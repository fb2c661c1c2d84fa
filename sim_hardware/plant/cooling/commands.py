"""Orders by devices that were told to, and by hands."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.cooling import orders
from sim_hardware.plant.cooling.branches import change_branch
from sim_hardware.plant.cooling.finding import check_fan, check_pump, check_range, find_awake, find_place, put_cdu, put_node
from sim_hardware.plant.cooling.plc import change_control, limit_setpoint
from sim_hardware.plant.cooling.state import State
from sim_hardware.plant.cooling.telling import tell_control
from sim_hardware.plant.words import Happening, OrderError

COLDEST, WARMEST = 5.0, 45.0  # C that a CDU's setpoint can be
SHORTEST, LONGEST = 1.0, 600.0  # s of its watchdog
_PRESSURES = 0.2, 1.8  # of the rated pressure difference


def set_control(state: State, order: orders.SetControl) -> State:
    """Another hand at the CDU."""
    place = find_awake(state, order.cdu)
    cdu, told = state.cdus[place], list[Happening]()
    after = change_control(cdu.controller, order.control, state.at)
    after = replace(after, setpoint=limit_setpoint(state.site.loops[place].design.plc, after, state.dew_point))
    tell_control(cdu.controller, after, order.cdu, state.at, told)
    return replace(put_cdu(state, place, replace(cdu, controller=after)), happened=tuple(told))


def set_temperature(state: State, order: orders.SetTemperature) -> State:
    """Another setpoint; one below the dew point's limit is taken, and the effective one tells."""
    place = find_awake(state, order.cdu)
    asked = check_range(order.cdu, "setpoint", order.celsius, COLDEST, WARMEST, "C")
    after = replace(state.cdus[place].controller, asked=asked)
    after = replace(after, setpoint=limit_setpoint(state.site.loops[place].design.plc, after, state.dew_point))
    return put_cdu(state, place, replace(state.cdus[place], controller=after))


def _check_direct(state: State, subject: str, thing: str) -> int:
    place = find_awake(state, subject)
    control = state.cdus[place].controller.control
    if control != "direct":
        raise OrderError(f"{subject}: control is {control} and the PLC moves its {thing}; set control to direct first")
    return place


def set_valve(state: State, order: orders.SetValve) -> State:
    """Another command to the valve."""
    place = _check_direct(state, order.cdu, "valve")
    share = check_range(order.cdu, "valve", order.percent, 0.0, 100.0, "%") / 100.0
    cdu = state.cdus[place]
    return put_cdu(state, place, replace(cdu, actuator=replace(cdu.actuator, command=share)))


def set_pump(state: State, order: orders.SetPump) -> State:
    """Another speed of a pump, which takes its run signal with 0."""
    place = _check_direct(state, order.cdu, "pumps")
    check_pump(state, order.cdu, order.pump)
    share = check_range(f"{order.cdu}/pump{order.pump}", "speed", order.percent, 0.0, 100.0, "%") / 100.0
    cdu = state.cdus[place]
    pump = replace(cdu.pumps[order.pump], command=share, wanted=share > 0.0)
    return put_cdu(state, place, replace(cdu, pumps=(*cdu.pumps[: order.pump], pump, *cdu.pumps[order.pump + 1 :])))


def set_pressure(state: State, order: orders.SetPressure) -> State:
    """Another pressure difference for the pumps' own loop."""
    place = find_awake(state, order.cdu)
    rated = state.site.loops[place].design.pumping.kilopascals
    asked = check_range(order.cdu, "pressure difference", order.kilopascals, rated * _PRESSURES[0], rated * _PRESSURES[1], "kPa")
    cdu = state.cdus[place]
    return put_cdu(state, place, replace(cdu, controller=replace(cdu.controller, kilopascals=asked)))


def beat(state: State, order: orders.Beat) -> State:
    """The watchdog starts anew, where there is one."""
    place = find_awake(state, order.cdu)
    return _restart_watchdog(state, place, state.cdus[place].controller.watchdog_s)


def set_watchdog(state: State, order: orders.SetWatchdog) -> State:
    """Another time of the watchdog, from now on. To say the same again is no heartbeat."""
    place = find_awake(state, order.cdu)
    seconds = check_range(order.cdu, "watchdog", order.seconds, SHORTEST, LONGEST, "s")
    return state if seconds == state.cdus[place].controller.watchdog_s else _restart_watchdog(state, place, seconds)


def _restart_watchdog(state: State, place: int, seconds: float) -> State:
    cdu = state.cdus[place]
    until = math.inf if cdu.controller.control == "auto" else state.at + seconds
    return put_cdu(state, place, replace(cdu, controller=replace(cdu.controller, watchdog_s=seconds, until=until)))


def clear_leak(state: State, order: orders.ClearLeak) -> State:
    """The sticky bits of what is still wet stay."""
    place = find_awake(state, order.cdu)
    cdu = state.cdus[place]
    wet = cdu.told.leaking | (frozenset({order.cdu}) if cdu.told.large else frozenset())
    return put_cdu(state, place, replace(cdu, told=replace(cdu.told, wet=wet)))


def close_branch(state: State, order: orders.CloseBranch) -> State:
    """A branch's valves close or open."""
    return change_branch(state, order.node, closed=order.closed)


def set_fan(state: State, order: orders.SetFan) -> State:
    """Another duty of one fan."""
    place = check_fan(state, order.node, order.fan)
    node = state.nodes[place]
    if node.air.control != "manual":
        raise OrderError(f"{order.node}/fan{order.fan}: fan control is {node.air.control}; set it to manual first")
    duty = check_range(f"{order.node}/fan{order.fan}", "duty", order.percent, 0.0, 100.0, "%")
    duties = (*node.air.duties[: order.fan], duty, *node.air.duties[order.fan + 1 :])
    return put_node(state, place, replace(node, air=replace(node.air, duties=duties)))


def set_fan_control(state: State, order: orders.SetFanControl) -> State:
    """Another hand at a node's fans; a manual one begins with the duties as they are."""
    place, _ = find_place(state, order.node, "node")
    node = state.nodes[place]
    duties = (100.0,) * len(node.air.duties) if order.control == "full" else node.air.duties
    return put_node(state, place, replace(node, air=replace(node.air, control=order.control, duties=duties)))

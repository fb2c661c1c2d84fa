"""Orders that nobody meant."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from sim_hardware.plant.cooling import cdu as cdus
from sim_hardware.plant.cooling import orders
from sim_hardware.plant.cooling.branches import change_branch, tell_leak
from sim_hardware.plant.cooling.drives import Pump
from sim_hardware.plant.cooling.finding import check_fan, check_pump, check_range, find_loop, find_place, put_cdu, put_node
from sim_hardware.plant.cooling.plates import Spot
from sim_hardware.plant.cooling.pumping import set_flow
from sim_hardware.plant.cooling.state import State
from sim_hardware.plant.words import Happening

_MOST_LEAK = 100.0  # L/min


def fail_pump(state: State, order: orders.FailPump) -> State:
    """A drive trips, or is well again."""
    return _change_pump(state, order.cdu, order.pump, lambda pump: replace(pump, failed=order.failed))


def lose_run_signal(state: State, order: orders.LoseRunSignal) -> State:
    """A pump no longer runs when told, or does again."""
    return _change_pump(state, order.cdu, order.pump, lambda pump: replace(pump, signal_lost=order.lost))


def _change_pump(state: State, subject: str, number: int, change: Callable[[Pump], Pump]) -> State:
    place = check_pump(state, subject, number)
    cdu = state.cdus[place]
    return put_cdu(state, place, replace(cdu, pumps=(*cdu.pumps[:number], change(cdu.pumps[number]), *cdu.pumps[number + 1 :])))


def stick_valve(state: State, order: orders.StickValve) -> State:
    """The valve stands somewhere, or is free."""
    place = find_loop(state, order.cdu, "cdu")
    cdu = state.cdus[place]
    actuator = replace(cdu.actuator, stuck=order.percent is not None)
    if order.percent is not None:
        share = check_range(order.cdu, "valve", order.percent, 0.0, 100.0, "%") / 100.0
        actuator = replace(actuator, motor=share, stem=share)
    return put_cdu(state, place, replace(cdu, actuator=actuator))


def _change_faults(state: State, subject: str, faults: cdus.Faults) -> State:
    place = find_loop(state, subject, "cdu")
    return put_cdu(state, place, set_flow(replace(state.cdus[place], faults=faults), state.site.loops[place]))


def _read_faults(state: State, subject: str) -> cdus.Faults:
    return state.cdus[find_loop(state, subject, "cdu")].faults


def leak(state: State, order: orders.Leak) -> State:
    """Coolant runs out of a node's branch, or of the CDU."""
    kind = state.site.places.get(order.place, ("node", 0, 0))[0]
    number = find_loop(state, order.place, "cdu" if kind == "cdu" else "node")
    litres = check_range(order.place, "leak", order.litres_per_minute, 0.0, _MOST_LEAK, "L/min")
    cdu = state.cdus[number]
    others = tuple(one for one in cdu.faults.leaks if one[0] != order.place)
    leaks = (*others, (order.place, litres)) if litres else others
    return tell_leak(put_cdu(state, number, replace(cdu, faults=replace(cdu.faults, leaks=leaks))), number)


def lose_primary(state: State, order: orders.LosePrimary) -> State:
    """The primary water goes, or comes back."""
    faults = _read_faults(state, order.cdu)
    if faults.primary_lost == order.lost:
        return state
    kind, text = ("primary.lost", "no primary water") if order.lost else ("primary.back", "primary water again")
    state = _change_faults(state, order.cdu, replace(faults, primary_lost=order.lost))
    return replace(state, happened=(Happening(state.at, kind, order.cdu, f"{order.cdu}: {text}"),))


def shift_primary(state: State, order: orders.ShiftPrimary) -> State:
    """The primary water is otherwise than designed."""
    kelvin = check_range(order.cdu, "primary temperature", order.kelvin, -30.0, 60.0, "K")
    pressure = check_range(order.cdu, "primary pressure", order.kilopascals, -1000.0, 1000.0, "kPa")
    return _change_faults(state, order.cdu, replace(_read_faults(state, order.cdu), kelvin=kelvin, kilopascals=pressure))


def foul(state: State, order: orders.Foul) -> State:
    """The exchanger passes less heat."""
    share = check_range(order.cdu, "fouling", order.share, 0.0, 0.9, "(share of UA)")
    return _change_faults(state, order.cdu, replace(_read_faults(state, order.cdu), fouled=share))


def drain_level(state: State, order: orders.DrainLevel) -> State:
    """The reservoir's level is another."""
    place = find_loop(state, order.cdu, "cdu")
    level = check_range(order.cdu, "level", order.percent, 0.0, 100.0, "%")
    cdu = state.cdus[place]
    return put_cdu(state, place, set_flow(replace(cdu, water=replace(cdu.water, level=level)), state.site.loops[place]))


def admit_air(state: State, order: orders.AdmitAir) -> State:
    """Air in the coolant."""
    share = check_range(order.cdu, "air", order.share, 0.0, 0.5, "(share of coolant)")
    return _change_faults(state, order.cdu, replace(_read_faults(state, order.cdu), air=share))


def humidify(state: State, order: orders.Humidify) -> State:
    """Another dew point of the room."""
    return replace(state, dew_point=check_range("room", "dew point", order.celsius, -40.0, 40.0, "C"))


def add_master(state: State, order: orders.AddMaster) -> State:
    """Somebody else begins, or ends, writing the setpoint."""
    place = find_loop(state, order.cdu, "cdu")
    if order.celsius is not None:
        check_range(order.cdu, "setpoint", order.celsius, 5.0, 45.0, "C")
    cdu = state.cdus[place]
    return put_cdu(state, place, replace(cdu, controller=replace(cdu.controller, master=order.celsius)))


def stop_fan(state: State, order: orders.StopFan) -> State:
    """A fan is held, or let go."""
    place = check_fan(state, order.node, order.fan)
    node, fan = state.nodes[place], frozenset({order.fan})
    stopped = node.air.stopped | fan if order.stopped else node.air.stopped - fan
    return put_node(state, place, replace(node, air=replace(node.air, stopped=stopped)))


def block_flow(state: State, order: orders.BlockFlow) -> State:
    """A branch lets less through."""
    return change_branch(state, order.node, blocked=check_range(order.node, "blocked", order.share, 0.0, 1.0, "(share of flow)"))


def heat_spot(state: State, order: orders.HeatSpot) -> State:
    """A die stands higher."""
    card = _find_card(state, order.card)
    kelvin = check_range(order.card, "hotspot", order.kelvin, 0.0, 150.0, "K")
    tau = check_range(order.card, "time constant", order.tau_s, 0.1, 3600.0, "s")
    now = state.spots[card].now if card in state.spots else 0.0
    return replace(state, spots={**state.spots, card: Spot(kelvin, tau, now)})


def fail_die_sensor(state: State, order: orders.FailDieSensor) -> State:
    """One of 128 sensors shows something else."""
    card = _find_card(state, order.card)
    others = {place: celsius for place, celsius in state.stuck_sensors.items() if place != card}
    if order.celsius is not None:
        others[card] = check_range(order.card, "die sensor", order.celsius, -100.0, 300.0, "C")
    return replace(state, stuck_sensors=others)


def _find_card(state: State, subject: str) -> int:
    """The card's place in the rack."""
    place, slot = find_place(state, subject, "card")
    return state.site.nodes[place].first + slot

"""What is true of the cooling, by subject and quantity. Each answer is a look-up and a little arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from sim_hardware.plant.chance import draw, start_chance
from sim_hardware.plant.cooling.airing import FULL_RPM, PARTS, find_airflow
from sim_hardware.plant.cooling.cdu import Cdu
from sim_hardware.plant.cooling.dies import find_max, find_mean, find_median
from sim_hardware.plant.cooling.drives import FULL_RPM as PUMP_RPM
from sim_hardware.plant.cooling.exchanging import find_primary_flow
from sim_hardware.plant.cooling.pumping import find_air
from sim_hardware.plant.cooling.state import State
from sim_hardware.plant.words import Sensor, UnknownSensorError, Value

Sense = Callable[[State, int, int], Value]  # of the owner's place and the number in it
_OFFSET = 0.05  # K at most, between a CDU's two supply sensors (ours)


def _of_cdu(read: Callable[[Cdu], Value]) -> Sense:
    return lambda state, place, _: read(state.cdus[place])


def _sense_supply_again(state: State, place: int, _: int) -> Value:
    _, share = draw(start_chance(state.site.seed, f"{state.site.loops[place].subject} second sensor"))
    return state.cdus[place].gauges.shown_supply + (2.0 * share - 1.0) * _OFFSET


def _sense_flow(state: State, place: int, _: int) -> Value:
    return state.cdus[place].water.flow * state.site.loops[place].design.pumping.litres_per_second * 60.0


def name_cdu_serial(place: int) -> str:
    """The serial number of a CDU by the place of its loop; the same in every run, as settings name it."""
    return f"CDU{place:05d}"


def _sense_left(state: State, place: int, _: int) -> Value:
    until = state.cdus[place].controller.until
    return 0.0 if math.isinf(until) else max(0.0, until - state.at)


def _sense_primary_flow(state: State, place: int, _: int) -> Value:
    cdu, design = state.cdus[place], state.site.loops[place].design
    return find_primary_flow(design, cdu.actuator.stem, cdu.primary_kilopascals) * 60.0


def _sense_cdu_leak(state: State, place: int, _: int) -> Value:
    told = state.cdus[place].told
    return float(told.large or state.site.loops[place].subject in told.leaking)


def _sense_node_leak(state: State, place: int, _: int) -> Value:
    site = state.site.nodes[place]
    return float(site.loop >= 0 and site.name in state.cdus[site.loop].told.leaking)


def _sense_node_wet(state: State, place: int, _: int) -> Value:
    site = state.site.nodes[place]
    return float(site.loop >= 0 and site.name in state.cdus[site.loop].told.wet)


def _sense_node_flow(state: State, place: int, _: int) -> Value:
    return state.nodes[place].flow * 60.0 if state.site.nodes[place].loop >= 0 else 0.0


def _sense_room(state: State, place: int, _: int) -> Value:
    loop = state.site.nodes[place].loop
    return (state.site.loops[loop].design if loop >= 0 else state.site.air).plates.room_celsius


def _of_part(number: int) -> Sense:
    return lambda state, place, _: state.nodes[place].air.parts[number]


def _sense_pump_speed(state: State, place: int, pump: int) -> Value:
    return state.cdus[place].pumps[pump].speed * 100.0


_CDU: Mapping[str, tuple[str, Sense]] = MappingProxyType(
    {
        "coolant.supply_temperature": ("C", _of_cdu(lambda cdu: cdu.gauges.shown_supply)),
        "coolant.supply_temperature.2": ("C", _sense_supply_again),
        "coolant.return_temperature": ("C", _of_cdu(lambda cdu: cdu.gauges.shown_return)),
        "coolant.true_supply_temperature": ("C", _of_cdu(lambda cdu: cdu.water.outlet)),
        "coolant.true_return_temperature": ("C", _of_cdu(lambda cdu: cdu.water.inlet)),
        "coolant.flow": ("L/min", _sense_flow),
        "coolant.valve": ("%", _of_cdu(lambda cdu: cdu.actuator.stem * 100.0)),
        "coolant.valve_command": ("%", _of_cdu(lambda cdu: cdu.actuator.command * 100.0)),
        "coolant.pressure_difference": ("kPa", _of_cdu(lambda cdu: cdu.kilopascals)),
        "coolant.pressure_asked": ("kPa", _of_cdu(lambda cdu: cdu.controller.kilopascals)),
        "coolant.setpoint": ("C", _of_cdu(lambda cdu: cdu.controller.setpoint)),
        "coolant.setpoint_asked": ("C", _of_cdu(lambda cdu: cdu.controller.asked)),
        "coolant.control": ("text", _of_cdu(lambda cdu: cdu.controller.control)),
        "coolant.watchdog_s": ("s", _of_cdu(lambda cdu: cdu.controller.watchdog_s)),
        "coolant.watchdog_left": ("s", _sense_left),
        "coolant.primary_temperature": ("C", _of_cdu(lambda cdu: cdu.primary_celsius)),
        "coolant.primary_pressure": ("kPa", _of_cdu(lambda cdu: cdu.primary_kilopascals)),
        "coolant.primary_flow": ("L/min", _sense_primary_flow),
        "coolant.level": ("%", _of_cdu(lambda cdu: cdu.water.level)),
        "coolant.air": ("1", _of_cdu(find_air)),
        "coolant.heat": ("W", _of_cdu(lambda cdu: cdu.primary_watts)),
        "coolant.leak": ("1", _sense_cdu_leak),
        "coolant.leak_sticky": ("1", _of_cdu(lambda cdu: float(bool(cdu.told.wet)))),
        "coolant.live": ("1", lambda state, place, _: float(state.cdus[place].live and state.at >= state.cdus[place].controller.up_at)),
        "air.dew_point": ("C", lambda state, *_: state.dew_point),
        "coolant.model": ("text", lambda *_: "CDU-2000"),
        "coolant.serial": ("text", lambda _, place, __: name_cdu_serial(place)),
    }
)
_PUMP: Mapping[str, tuple[str, Sense]] = MappingProxyType(
    {
        "pump.speed": ("%", _sense_pump_speed),
        "coolant.pump_speed": ("%", _sense_pump_speed),
        "pump.rpm": ("rpm", lambda state, place, pump: state.cdus[place].pumps[pump].speed * PUMP_RPM),
        "pump.state": ("text", lambda state, place, pump: state.cdus[place].pumps[pump].state),
        "pump.command": ("%", lambda state, place, pump: state.cdus[place].pumps[pump].command * 100.0),
        "pump.wanted": ("1", lambda state, place, pump: float(state.cdus[place].pumps[pump].wanted)),
    }
)
_NODE: Mapping[str, tuple[str, Sense]] = MappingProxyType(
    {
        "coolant.supply_temperature": ("C", lambda state, place, _: state.nodes[place].inlet),
        "coolant.return_temperature": ("C", lambda state, place, _: state.nodes[place].outlet),
        "coolant.flow": ("L/min", _sense_node_flow),
        "coolant.leak": ("1", _sense_node_leak),
        "coolant.leak_sticky": ("1", _sense_node_wet),
        "coolant.closed": ("1", lambda state, place, _: float(state.nodes[place].branch.closed)),
        "air.temperature": ("C", _sense_room),
        **{f"air.temperature.{part.name}": ("C", _of_part(number)) for number, part in enumerate(PARTS)},
        "fan.control": ("text", lambda state, place, _: state.nodes[place].air.control),
    }
)
_FAN: Mapping[str, tuple[str, Sense]] = MappingProxyType(
    {
        "fan.speed": ("rpm", lambda state, place, fan: state.nodes[place].air.speeds[fan] * FULL_RPM),
        "fan.duty": ("%", lambda state, place, fan: state.nodes[place].air.duties[fan]),
    }
)
_AIR: Mapping[str, tuple[str, Sense]] = MappingProxyType(
    {"air.flow": ("m3/h", lambda state, place, fan: find_airflow(state.nodes[place].air, fan))}
)
_CARD: Mapping[str, tuple[str, Sense]] = MappingProxyType(
    {
        "card.temperature": ("C", find_max),
        "card.temperature.mean": ("C", find_mean),
        "card.temperature.median": ("C", find_median),
        "card.throttled": ("1", lambda state, place, slot: float(slot in state.nodes[place].cards.throttled)),
    }
)
_ALL: Mapping[str, Mapping[str, tuple[str, Sense]]] = MappingProxyType(
    {"cdu": _CDU, "pump": _PUMP, "node": _NODE, "fan": _FAN, "air": _AIR, "card": _CARD}
)


def sense(state: State, subject: str, quantity: str) -> Value:
    """The truth about a quantity. Raises UnknownSensorError when nothing measures it."""
    found = state.site.places.get(subject)
    if found is None:
        raise UnknownSensorError(f"{subject}: nothing of this name is cooled here, so it has no {quantity}")
    entry = _ALL[found[0]].get(quantity)
    if entry is None:
        raise UnknownSensorError(f"{subject} has no {quantity}; it has {', '.join(_ALL[found[0]])}")
    return entry[1](state, found[1], found[2])


def sensors(state: State) -> Iterator[Sensor]:
    """Everything that `sense` answers."""
    for subject, (kind, _, _) in state.site.places.items():
        for quantity, (unit, _) in _ALL[kind].items():
            yield Sensor(subject, quantity, unit)

"""What can be read of a PDU, its outlets and its breaker."""

from __future__ import annotations

import math
from types import MappingProxyType

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.gauges import Gauge, Gauges, find_heat
from sim_hardware.plant.power.spec import PHASES
from sim_hardware.plant.power.state import State
from sim_hardware.plant.power.ups import find_output
from sim_hardware.plant.words import Value


def name_pdu_serial(index: int) -> str:
    """What stands on its plate."""
    return f"P{index:05d}"


def _read_volts(state: State, index: int) -> float:
    if not state.pdus[index].closed:
        return 0.0
    return min(find_output(state, state.spec.pdus[index].feed)) * state.spec.volts


def _divide(state: State, index: int, watts: float) -> float:
    """The current of so many watts at the PDU's voltage, A."""
    volts = _read_volts(state, index)
    return watts / figures.POWER_FACTOR / volts if volts > 0.0 else 0.0


def _read_current(state: State, index: int) -> Value:
    """All phases together."""
    return _divide(state, index, state.flow.pdus[index])


def _read_phase(state: State, index: int) -> Value:
    """Loads are balanced over the phases."""
    return _divide(state, index, state.flow.pdus[index]) / len(PHASES)


def _rate_phase(state: State, index: int) -> Value:
    """What its breaker holds on each phase."""
    return state.spec.pdus[index].watts / figures.POWER_FACTOR / state.spec.volts / len(PHASES)


def _number(state: State, outlets: tuple[int, ...]) -> Value:
    return frozenset(str(state.spec.outlets[outlet][1]) for outlet in outlets)


def _read_lease(state: State, index: int) -> Value:
    pdu = state.pdus[index]
    return max(0.0, pdu.lease_until - state.at) if pdu.armed and not math.isinf(pdu.lease_until) else 0.0


PDU: Gauges = MappingProxyType(
    {
        "pdu.voltage": Gauge("V", _read_volts),
        "pdu.power": Gauge("W", lambda state, index: state.flow.pdus[index]),
        "pdu.current": Gauge("A", _read_current),
        **{f"pdu.current.{phase}": Gauge("A", _read_phase) for phase in PHASES},
        "pdu.rated_power": Gauge("W", lambda state, index: state.spec.pdus[index].watts),
        "pdu.rated_current": Gauge("A", _rate_phase),
        "pdu.on": Gauge("1", lambda state, index: float(state.pdus[index].on)),
        "pdu.emergency": Gauge("1", lambda state, index: float(state.pdus[index].emergency)),
        "pdu.armed": Gauge("1", lambda state, index: float(state.pdus[index].armed)),
        "pdu.group": Gauge("flags", lambda state, index: _number(state, state.pdus[index].group)),
        "pdu.lease_left": Gauge("s", _read_lease),
        "pdu.restore_s": Gauge("s", lambda state, index: state.pdus[index].restore_s),
        "pdu.event": Gauge("text", lambda state, index: state.pdus[index].event),
        "pdu.event_count": Gauge("1", lambda state, index: float(state.pdus[index].event_count)),
        "pdu.event_at": Gauge("s", lambda state, index: state.pdus[index].event_at),
        "pdu.opened": Gauge("flags", lambda state, index: _number(state, state.pdus[index].opened)),
        "pdu.shed_delay_ms": Gauge("ms", lambda state, index: state.pdus[index].shed_delay_ms),
        "pdu.model": Gauge("text", lambda state, index: f"Simulated PDU {len(state.spec.pdus[index].outlets)}"),
        "pdu.serial": Gauge("text", lambda _state, index: name_pdu_serial(index)),
    }
)

OUTLET: Gauges = MappingProxyType(
    {
        "outlet.state": Gauge("text", lambda state, outlet: "on" if state.closed[outlet] else "off"),
        "outlet.power": Gauge("W", lambda state, outlet: state.flow.outlets[outlet]),
        "outlet.current": Gauge("A", lambda state, outlet: _divide(state, state.spec.outlets[outlet][0], state.flow.outlets[outlet])),
        "outlet.locked": Gauge("1", lambda state, outlet: float(outlet in state.locked)),
        "outlet.load": Gauge("text", lambda state, outlet: state.spec.loads[state.spec.outlets[outlet][2]]),
        "outlet.sheddable": Gauge("1", lambda state, outlet: float(state.spec.outlets[outlet][3])),
    }
)

BREAKER: Gauges = MappingProxyType(
    {
        "breaker.closed": Gauge("1", lambda state, index: float(state.pdus[index].closed)),
        "breaker.heat": Gauge("1", find_heat),
    }
)

"""What can be read of a UPS."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.battery import find_drain, find_runtime, measure_capacity
from sim_hardware.plant.power.gauges import Gauge, Gauges, find_energy, find_ups_load
from sim_hardware.plant.power.spec import PHASES
from sim_hardware.plant.power.state import State
from sim_hardware.plant.power.ups import find_output, is_boosting, is_bypassed
from sim_hardware.plant.words import Value

_ALARMS = {  # a static switch that stays where it is shows nothing
    "earth": "Battery earth fault!",
    "inverter": "Inverter has failed!",
    "charger": "Charger has failed!",
    "battery": "Battery is disconnected!",
}


def _list_flags(state: State, index: int) -> Value:
    """The words of NUT's `ups.status`."""
    ups, flow = state.ups[index], state.flow.ups[index]
    flags = set(ups.stuck)
    if ups.path == "none":
        flags.add("OFF")
    elif ups.path == "battery":
        flags |= {"OB" if ups.test == "none" else "OL", "DISCHRG"}
    elif ups.input_ok or ups.mode != "bypass":
        flags.add("OL")
    marks = {
        "BYPASS": is_bypassed(state.spec.ups[index], ups),
        "BOOST": is_boosting(state.spec.ups[index], ups, state.feeds[state.spec.ups[index].feed].shares),
        "CHRG": flow.stored > 0.0,
        "LB": find_energy(state, index) <= figures.LOW_BATTERY * measure_capacity(state.spec.ups[index], ups),
        "RB": ups.share < figures.REPLACE_BELOW or "battery" in ups.failed,
        "CAL": ups.test == "calibration",
        "TEST": ups.test == "selftest",
        "OVER": find_ups_load(state, index) > 1.0,
        "ALARM": bool(ups.failed & _ALARMS.keys()),
        "ECO": ups.mode == "eco" and ups.path not in {"none", "battery"},
    }
    return frozenset(flags | {flag for flag, holds in marks.items() if holds})


def _read_alarm(state: State, index: int) -> Value:
    return " ".join(text for part, text in _ALARMS.items() if part in state.ups[index].failed)


def _read_live(state: State, index: int) -> Value:
    """Whether its own electronics run: on any phase of the input, or on the battery."""
    fed = max(state.feeds[state.spec.ups[index].feed].shares) >= figures.USABLE
    return float(fed or ("battery" not in state.ups[index].failed and find_energy(state, index) > 0.0))


def _read_runtime(state: State, index: int) -> Value:
    lie = state.ups[index].lie
    return find_runtime(state.spec.ups[index], find_energy(state, index), state.flow.ups[index].output) if lie is None else lie


def _read_charge(state: State, index: int) -> Value:
    capacity = measure_capacity(state.spec.ups[index], state.ups[index])
    return min(100.0, 100.0 * find_energy(state, index) / capacity) if capacity > 0.0 else 0.0


def _read_battery_volts(state: State, index: int) -> Value:
    """Falls with the charge, and under load by the battery's own resistance."""
    spec, ups, flow = state.spec.ups[index], state.ups[index], state.flow.ups[index]
    capacity = measure_capacity(spec, ups)
    if "battery" in ups.failed or capacity <= 0.0:
        return 0.0
    rest = figures.BATTERY_VOLTS * (0.9 + 0.2 * find_energy(state, index) / capacity)
    return rest * (1.0 - 0.5 * figures.BATTERY_DROP * max(0.0, -flow.stored) / find_drain(spec, spec.watts))


def _read_input(state: State, index: int) -> float:
    return min(state.feeds[state.spec.ups[index].feed].shares) * state.spec.volts


def _read_input_phase(phase: int) -> Callable[[State, int], Value]:
    return lambda state, index: state.feeds[state.spec.ups[index].feed].shares[phase] * state.spec.volts


def _read_load_phase(phase: int) -> Callable[[State, int], Value]:
    def read(state: State, index: int) -> Value:
        spec = state.spec.ups[index]
        if phase >= spec.build.phases:
            return None
        return 100.0 * state.flow.ups[index].phases[phase] / figures.POWER_FACTOR / (spec.rated_va / spec.build.phases)

    return read


def _read_frequency(state: State, index: int) -> Value:
    feed = state.feeds[state.spec.ups[index].feed]
    return feed.hertz if max(feed.shares) > 0.0 else 0.0


def _read_output(state: State, index: int) -> float:
    return min(find_output(state, state.spec.ups[index].feed)) * state.spec.volts


def _read_va(state: State, index: int) -> float:
    return state.flow.ups[index].output / figures.POWER_FACTOR


def _read_current(state: State, index: int) -> Value:
    """The mean of its phases."""
    volts = _read_output(state, index)
    return _read_va(state, index) / volts / state.spec.ups[index].build.phases if volts > 0.0 else 0.0


def _read_on_battery(state: State, index: int) -> Value:
    since = state.ups[index].battery_since
    return 0.0 if math.isinf(since) else state.at - since


def _read_model(state: State, index: int) -> Value:
    spec = state.spec.ups[index]
    kind = "DC" if spec.build.kind == "online" else "LI"
    return f"Simulated {kind} {spec.rated_va / 1000.0:.0f} kVA"


UPS: Gauges = MappingProxyType(
    {
        "ups.status": Gauge("flags", _list_flags),
        "ups.alarm": Gauge("text", _read_alarm),
        "ups.input_voltage": Gauge("V", _read_input),
        **{f"ups.input_voltage.{phase}": Gauge("V", _read_input_phase(at)) for at, phase in enumerate(PHASES)},
        "ups.input_frequency": Gauge("Hz", _read_frequency),
        "ups.output_voltage": Gauge("V", _read_output),
        "ups.output_current": Gauge("A", _read_current),
        "ups.output_power": Gauge("W", lambda state, index: state.flow.ups[index].output),
        "ups.output_va": Gauge("VA", _read_va),
        "ups.load": Gauge("%", lambda state, index: 100.0 * find_ups_load(state, index)),
        **{f"ups.load.{phase}": Gauge("%", _read_load_phase(at)) for at, phase in enumerate(PHASES)},
        "ups.charge": Gauge("%", _read_charge),
        "ups.runtime": Gauge("s", _read_runtime),
        "ups.battery_voltage": Gauge("V", _read_battery_volts),
        "ups.battery_temperature": Gauge("C", lambda _state, _index: figures.BATTERY_CELSIUS),
        "ups.battery_energy": Gauge("J", find_energy),
        "ups.on_battery_s": Gauge("s", _read_on_battery),
        "ups.test_result": Gauge("text", lambda state, index: state.ups[index].test_result),
        "ups.mode": Gauge("text", lambda state, index: state.ups[index].mode),
        "ups.rated_va": Gauge("VA", lambda state, index: state.spec.ups[index].rated_va),
        "ups.rated_power": Gauge("W", lambda state, index: state.spec.ups[index].watts),
        "ups.mains_flag": Gauge("1", lambda state, index: float(state.ups[index].flag)),
        "ups.transfer_ms": Gauge("ms", lambda state, index: state.spec.ups[index].build.transfer_ms),
        "ups.live": Gauge("1", _read_live),
        "ups.path": Gauge("text", lambda state, index: state.ups[index].path),
        "ups.firmware": Gauge("text", lambda _state, _index: "1.07"),
        "ups.model": Gauge("text", _read_model),
        "ups.serial": Gauge("text", lambda _state, index: f"U{index:05d}"),
    }
)

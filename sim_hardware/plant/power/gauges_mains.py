"""What can be read of the mains, the generator and the nodes' shelves."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from sim_hardware.plant.power.gauges import Gauge, Gauges, find_shelf
from sim_hardware.plant.power.spec import PHASES
from sim_hardware.plant.power.state import State
from sim_hardware.plant.words import Value


def _read_phase(phase: int) -> Callable[[State, int], Value]:
    return lambda state, index: state.utilities[index].shares[phase] * state.spec.volts


def _read_frequency(state: State, index: int) -> Value:
    utility = state.utilities[index]
    return utility.hertz if max(utility.shares) > 0.0 else 0.0


def _read_available(state: State, node: int) -> Value:
    return 1.0 if node < 0 else float(state.live[state.spec.nodes[node].load])


def _read_charge(state: State, node: int) -> Value:
    return 100.0 if node < 0 else 100.0 * find_shelf(state, node) / state.spec.nodes[node].shelf_j


def _read_load(state: State, node: int) -> Value:
    """What is taken from the shelf; None where nothing is known of it, for the node has no outlet."""
    if node < 0:
        return None
    spec = state.spec.nodes[node]
    own = state.watts[spec.load] if state.live[spec.load] else 0.0
    fans = state.watts[spec.fans] if state.live[spec.fans] and not state.fed[spec.fans] else 0.0
    return own + fans


UTILITY: Gauges = MappingProxyType(
    {
        "utility.voltage": Gauge("V", lambda state, index: min(state.utilities[index].shares) * state.spec.volts),
        **{f"utility.voltage.{phase}": Gauge("V", _read_phase(at)) for at, phase in enumerate(PHASES)},
        "utility.frequency": Gauge("Hz", _read_frequency),
    }
)

GENERATOR: Gauges = MappingProxyType({"generator.state": Gauge("text", lambda state, _index: state.generator.state)})

FEED: Gauges = MappingProxyType({"feed.source": Gauge("text", lambda state, index: state.feeds[index].source)})

NODE: Gauges = MappingProxyType(
    {
        "power.available": Gauge("1", _read_available),
        "shelf.charge": Gauge("%", _read_charge),
        "shelf.load": Gauge("W", _read_load),
    }
)

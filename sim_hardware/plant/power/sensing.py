"""What the plant's sensors would show if they showed the truth."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from types import MappingProxyType

from sim_hardware.plant.power.gauges import Gauges
from sim_hardware.plant.power.gauges_mains import FEED, GENERATOR, NODE, UTILITY
from sim_hardware.plant.power.gauges_pdu import BREAKER, OUTLET, PDU
from sim_hardware.plant.power.gauges_ups import UPS
from sim_hardware.plant.power.spec import Spec
from sim_hardware.plant.power.state import State
from sim_hardware.plant.words import Sensor, UnknownSensorError, Value

_KINDS = MappingProxyType({"utility": UTILITY, "feed": FEED, "ups": UPS, "breaker": BREAKER, "node": NODE})


def sense(state: State, subject: str, quantity: str) -> Value:
    """The truth of this moment. Raises UnknownSensorError."""
    gauges, number = _find(state.spec, subject)
    gauge = gauges.get(quantity)
    if gauge is None:
        near = difflib.get_close_matches(quantity, list(gauges), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UnknownSensorError(f"power: {subject} has no sensor of {quantity}{hint}")
    return gauge.read(state, number)


def sensors(state: State) -> Iterator[Sensor]:
    """Every sensor that `sense` answers."""
    for subject in ("generator", *state.spec.index):
        if not subject.startswith("load/"):
            name = subject.removeprefix("node/")
            gauges, _ = _find(state.spec, name)
            yield from (Sensor(name, quantity, gauge.unit) for quantity, gauge in gauges.items())


def live(state: State, load: str) -> bool:
    """Whether a load has power; one that has no outlet anywhere always has."""
    number = state.spec.index.get(f"load/{load}")
    return True if number is None else state.live[number]


def _find(spec: Spec, subject: str) -> tuple[Gauges, int]:
    """What is read of a subject, and its number."""
    if subject == "generator":
        return GENERATOR, 0
    number = spec.index.get(subject)
    if number is None:
        node = spec.index.get(f"node/{subject}")
        return ({}, 0) if node is None else (NODE, node)
    kind, _, rest = subject.partition("/")
    if kind == "pdu":
        return (OUTLET if "/" in rest else PDU), number
    return _KINDS.get(kind, {}), number

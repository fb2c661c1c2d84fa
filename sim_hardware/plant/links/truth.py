"""The truth about links, cables, rings and switches, by subject and quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sim_hardware.plant.chance import start_chance
from sim_hardware.plant.links.counting import count_arrivals
from sim_hardware.plant.links.hops import measure_jitter, measure_latency, measure_ring
from sim_hardware.plant.links.rings import SAR_RING
from sim_hardware.plant.links.sensing import MEASURES, Measure
from sim_hardware.plant.links.state import State
from sim_hardware.plant.links.switches import KINDS, settle_switch
from sim_hardware.plant.links.widths import saturate
from sim_hardware.plant.words import Sensor, UnknownSensorError, Value


def _count(kind: str) -> Callable[[State, int], Value]:
    place = KINDS.index(kind)

    def read(state: State, number: int) -> Value:
        switch = settle_switch(state.switches[number], state.at)
        chance = start_chance(state.site.seed, f"{state.site.switches[number]}/{kind}/{switch.epoch}")
        return float(saturate(count_arrivals(chance, switch.expected[place])))

    return read


_CABLES: Mapping[str, Measure] = {
    "cable.bend_radius": Measure("mm", lambda state, number: state.radii[number]),
    "hop.latency": Measure("us", measure_latency),
    "hop.jitter": Measure("us", measure_jitter),
}
_RINGS: Mapping[str, Measure] = {
    "ring.mode": Measure("text", lambda state, number: state.rings[number].mode),
    "ring.broken_at": Measure("text", lambda state, number: state.rings[number].broken_at),
    "ring.closed": Measure("1", lambda state, number: float(state.rings[number].mode == SAR_RING)),
    "ring.cycles": Measure("1", lambda state, number: float(state.rings[number].cycles)),
    "ring.factor": Measure("1", lambda state, number: state.factors[number]),
    "hop.latency": Measure("us", measure_ring),
}
_SWITCHES: Mapping[str, Measure] = {
    "switch.pfc_threshold": Measure("B", lambda state, number: state.switches[number].pfc_bytes),
    "switch.ecn_threshold": Measure("B", lambda state, number: state.switches[number].ecn_bytes),
    "switch.ecn": Measure("1", lambda state, number: float(state.switches[number].ecn)),
    **{kind: Measure("1", _count(kind)) for kind in KINDS},
}
_NODES: Mapping[str, Measure] = {"ring.mode": _RINGS["ring.mode"]}


def sense(state: State, subject: str, quantity: str) -> Value:
    """The truth. Raises UnknownSensorError."""
    table, number = _find(state, subject)
    measure = table.get(quantity)
    if measure is None:
        raise UnknownSensorError(f"{subject}: the links have no sensor of {quantity} there; there are {', '.join(table) or 'none at all'}")
    return measure.read(state, number)


def _find(state: State, subject: str) -> tuple[Mapping[str, Measure], int]:
    """What can be measured of a subject, and its number."""
    site = state.site
    if subject in site.ports:
        return MEASURES, site.ports[subject]
    if subject in site.cables:
        return _CABLES, site.cables[subject]
    if subject.startswith("ring/"):
        return next(((_RINGS, number) for number, ring in enumerate(site.rings) if f"ring/{ring.name}" == subject), ({}, -1))
    if subject in site.switches:
        return _SWITCHES, site.switches.index(subject)
    backplane = _find_backplane(state, subject)
    return ({}, -1) if backplane is None else (_NODES, backplane)


def _find_backplane(state: State, node: str) -> int | None:
    """The ring of a node's own cards."""
    return next((ring for ring in state.site.rings_at.get(node, ()) if state.site.rings[ring].level == "backplane"), None)


def sensors(state: State) -> Iterator[Sensor]:
    """Every sensor that `sense` answers."""
    site = state.site
    subjects = (*site.ports, *site.cables, *(f"ring/{ring.name}" for ring in site.rings), *site.switches, *site.nodes)
    for subject in subjects:
        for quantity, measure in _find(state, subject)[0].items():
            yield Sensor(subject, quantity, measure.unit)

"""The links begin, and go on in time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sim_hardware.plant.chance import start_chance
from sim_hardware.plant.links.optics import HOT
from sim_hardware.plant.links.ports import Port
from sim_hardware.plant.links.revising import Revision
from sim_hardware.plant.links.rings import RingState
from sim_hardware.plant.links.site import Site, survey
from sim_hardware.plant.links.state import Inputs, State, average_moved
from sim_hardware.plant.links.switches import Switching
from sim_hardware.plant.links.tallying import settle
from sim_hardware.rack import Rack

_QUARTERS = 4.0  # heat of modules is taken in quarters of a kelvin, so that not every breath of air is a change


def start(rack: Rack, seed: int) -> State:
    """All links up, all counters at zero, at time 0."""
    site = survey(rack, seed)
    peers, plugs = _plug(site)
    state = State(
        site=site,
        ports=tuple(Port(chance=start_chance(seed, f"drop/{place.subject}")) for place in site.places),
        peers=peers,
        plugs=plugs,
        radii=tuple(line.radius_mm for line in site.lines),
        slow=(0.0,) * len(site.lines),
        switches=(Switching(),) * len(site.switches),
        rings=tuple(RingState() for _ in site.rings),
        factors=(1.0,) * len(site.rings),
        moved=(0.0,) * site.cards,
        hot=(0.0,) * len(site.nodes),
    )
    revision = Revision(state)
    revision.refresh(range(len(site.places)))
    return msgspec.structs.replace(revision.finish(), happened=())


def _plug(site: Site) -> tuple[tuple[int, ...], tuple[int, ...]]:
    peers, plugs = [-1] * len(site.places), [-1] * len(site.places)
    for number, line in enumerate(site.lines):
        for side, end in enumerate(line.ends):
            peers[end], plugs[end] = line.ends[1 - side], 2 * number + side
    return tuple(peers), tuple(plugs)


def update(state: State, time: float, inputs: Inputs) -> State:
    """The links at `time`, when the inputs were as given since `state.at`.

    What the inputs change, they change at `state.at`. Power comes and goes with `dark`, heat with `optics`.
    """
    state = _turn(msgspec.structs.replace(state, happened=(), optics=inputs.optics), inputs)
    duration, moved = time - state.at, state.moved
    if inputs.traffic and duration > 0.0:
        moved = tuple([sent + share * duration for sent, share in zip(moved, inputs.traffic, strict=True)])
    state = msgspec.structs.replace(state, at=time, moved=moved)
    return _fall_due(state) if state.busy else state


def _turn(state: State, inputs: Inputs) -> State:
    """Power and heat as they are now."""
    hot = _warm(inputs.optics) if inputs.optics else (0.0,) * len(state.hot)
    changed = [number for number, (one, other) in enumerate(zip(state.hot, hot, strict=True)) if one != other] if hot != state.hot else []
    if inputs.dark == state.dark and not changed:
        return state
    revision = Revision(state)
    if inputs.dark != state.dark:
        revision.darken(inputs.dark)
    if changed:
        numbers = [port for node in changed for port in _list_ports(state.site, node)]
        revision.pause(numbers)
        revision.hot = hot
        revision.refresh(numbers)
    return revision.finish()


def _warm(optics: Sequence[float]) -> tuple[float, ...]:
    if max(optics) < HOT:
        return (0.0,) * len(optics)
    return tuple(max(0.0, round((celsius - HOT) * _QUARTERS)) / _QUARTERS for celsius in optics)


def _list_ports(site: Site, node: int) -> tuple[int, ...]:
    return site.owned.get(site.nodes[node], ())


def _fall_due(state: State) -> State:
    """Count what ramps, and do what is due."""
    due = [number for number, when in state.busy.items() if when <= state.at]
    if due:
        revision = Revision(state)
        revision.pause(due)
        for number in due:
            revision.ports[number] = _step(revision.ports[number], state.at)
        revision.refresh(due)
        state = revision.finish()
    ports = list(state.ports)
    for number in state.busy:
        if ports[number].faults.override:
            ports[number] = settle(ports[number], average_moved(state.site, state.moved, number, state.peers[number]), state.at)
    return msgspec.structs.replace(state, ports=tuple(ports))


def _step(port: Port, at: float) -> Port:
    """The next edge of a flapping link; the end of a ramp that was to end in nothing."""
    faults = port.faults
    if faults.flapping and faults.flapping.due <= at:
        flapping = msgspec.structs.replace(faults.flapping, edge=faults.flapping.edge + 1)
        over = flapping.edge >= 2 * flapping.times
        faults = msgspec.structs.replace(faults, flapping=None if over else flapping)
    if faults.override and faults.override.lifted and faults.override.after.end <= at:
        faults = msgspec.structs.replace(faults, override=None)
    return msgspec.structs.replace(port, faults=faults)

"""What is done to links, by order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from sim_hardware.plant.links import orders
from sim_hardware.plant.links.coding import FLOOR, uncorrect
from sim_hardware.plant.links.moving import move_plug
from sim_hardware.plant.links.optics import LANES
from sim_hardware.plant.links.ports import Faults, Flapping, Override, find_after, find_before
from sim_hardware.plant.links.ramps import Ramp
from sim_hardware.plant.links.revising import Revision
from sim_hardware.plant.links.state import State
from sim_hardware.plant.words import Order, OrderError

_SHORTEST_S = 0.01  # of a period and of a ramp


def apply(state: State, order: Order) -> State:
    """The state in which the order was obeyed, at once. Raises OrderError when it cannot be, with the limit."""
    do = _TABLE.get(type(order))
    if do is None:
        raise OrderError(f"{type(order).__name__} is no order for links; there are {', '.join(kind.__name__ for kind in _TABLE)}")
    revision = Revision(replace(state, happened=()))
    do(revision, order)
    return revision.finish()


def find_port(revision: Revision, subject: str) -> int:
    """The number of a port. Raises OrderError."""
    return _find(revision.site.ports, subject, "port")


def _find(table: Mapping[str, int], subject: str, kind: str) -> int:
    if subject not in table:
        raise OrderError(f"{subject}: there is no such {kind}; there are {', '.join(list(table)[:3]) or 'none'}...")
    return table[subject]


def _check(subject: str, what: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:  # NaN fails too
        raise OrderError(f"{subject}: {what} {value:g} is outside {low:g} to {high:g}; give one within")
    return value


def _edit(revision: Revision, subject: str, change: Callable[[Faults], Faults]) -> None:
    number = find_port(revision, subject)
    revision.edit(number, change(revision.ports[number].faults))


def _set_port(revision: Revision, order: orders.SetPort) -> None:
    _edit(revision, order.port, lambda faults: replace(faults, enabled=order.up))


def _cut(revision: Revision, order: orders.CutLink) -> None:
    _edit(revision, order.port, lambda faults: replace(faults, cut=order.cut))


def _attenuate(revision: Revision, order: orders.Attenuate) -> None:
    decibels = _check(order.port, "attenuation in dB", order.decibels, 0.0, 60.0)
    _edit(revision, order.port, lambda faults: replace(faults, decibels=decibels))


def _age(revision: Revision, order: orders.AgeLaser) -> None:
    share = _check(order.port, "lost share of the laser's power", order.share, 0.0, 0.95)
    _edit(revision, order.port, lambda faults: replace(faults, aged=share))


def _lose_lanes(revision: Revision, order: orders.LoseLanes) -> None:
    lanes = int(_check(order.port, "number of lanes", order.lanes, 0, LANES))
    _edit(revision, order.port, lambda faults: replace(faults, lanes=lanes))


def _seat(revision: Revision, subject: str, *, absent: bool, loose: bool) -> None:
    before = revision.ports[find_port(revision, subject)].faults
    _edit(revision, subject, lambda faults: replace(faults, absent=absent, loose=loose and not absent))
    if before.absent != absent:
        text = f"the module of {subject} is {'out' if absent else 'in again'}"
        revision.tell("module.absent" if absent else "module.present", subject, text)


def _unplug(revision: Revision, order: orders.Unplug) -> None:
    _seat(revision, order.port, absent=order.absent, loose=order.loose)


def _reseat(revision: Revision, order: orders.Reseat) -> None:
    _seat(revision, order.port, absent=False, loose=False)


def _flap(revision: Revision, order: orders.Flap) -> None:
    period = order.period_s and _check(order.port, "period in s", order.period_s, _SHORTEST_S, 1e6)
    share = _check(order.port, "share of time that it is down", order.down_share, 0.001, 0.999)
    times = int(_check(order.port, "number of flaps", order.times, 1, 1e9))
    flapping = Flapping(revision.at, period, share, times, edge=1) if period else None
    _edit(revision, order.port, lambda faults: replace(faults, flapping=flapping))


def _set_error_rate(revision: Revision, order: orders.SetErrorRate) -> None:
    number = find_port(revision, order.port)
    over = order.over_s and _check(order.port, "duration of the ramp in s", order.over_s, _SHORTEST_S, 1e9)
    port = revision.ports[number]
    if order.rate is None and (over == 0.0 or port.faults.override is None):
        revision.edit(number, replace(port.faults, override=None))
        return
    now = max(find_after(port, revision.at), FLOOR * 1e-3)
    last = max(port.light.after, FLOOR) if order.rate is None else _check(order.port, "bit error rate", order.rate, 1e-18, 0.5)
    least = max(*port.light.before, 1e-12)
    before = max(*find_before(port, revision.at), 1e-12), max(least, uncorrect(last))
    first = now if over else last
    override = Override(
        after=Ramp(revision.at, revision.at + over, first, last),
        before=Ramp(revision.at, revision.at + over, before[0] if over else before[1], before[1]),
        lifted=order.rate is None,
    )
    revision.edit(number, replace(port.faults, override=override))


def _bend(revision: Revision, order: orders.Bend) -> None:
    number = _find(revision.site.cables, order.cable, "cable")
    line = revision.site.lines[number]
    radius = line.radius_mm if order.radius_mm is None else _check(order.cable, "bend radius in mm", order.radius_mm, 1.0, 1e4)
    ends = [end for end, plug in enumerate(revision.plugs) if plug // 2 == number]
    revision.pause(ends)
    revision.radii[number] = radius
    revision.refresh(ends)


def _slow_hop(revision: Revision, order: orders.SlowHop) -> None:
    number = _find(revision.site.cables, order.cable, "cable")
    revision.slow[number] = _check(order.cable, "delay in us", order.microseconds, 0.0, 1e6)
    revision.touch(end for end, plug in enumerate(revision.plugs) if plug // 2 == number)


def _set_thresholds(revision: Revision, order: orders.SetThresholds) -> None:
    number = _find_switch(revision, order.switch)
    pfc = _check(order.switch, "PFC threshold in bytes", order.pfc_bytes, 0.0, 1e9)
    ecn = _check(order.switch, "ECN threshold in bytes", order.ecn_bytes, 0.0, 1e9)
    revision.turn_switch(number, replace(revision.switches[number], pfc_bytes=pfc, ecn_bytes=ecn, ecn=order.ecn))


def _congest(revision: Revision, order: orders.Congest) -> None:
    number = _find_switch(revision, order.switch)
    burst = _check(order.switch, "load as a share of capacity", order.share, 0.0, 100.0)
    revision.turn_switch(number, replace(revision.switches[number], burst=burst))


def _find_switch(revision: Revision, subject: str) -> int:
    return _find({switch: number for number, switch in enumerate(revision.site.switches)}, subject, "switch")


def _move(revision: Revision, order: orders.MovePlug) -> None:
    source, target = find_port(revision, order.source), find_port(revision, order.target)
    if revision.plugs[source] < 0:
        raise OrderError(f"{order.source}: there is no plug in it; name the port that the plug is in as the source")
    move_plug(revision, source, target)


def _clear(revision: Revision, order: orders.ClearCounters) -> None:
    revision.clear(find_port(revision, order.port))


_TABLE: Mapping[type[Order], Callable[[Revision, Any], None]] = {
    orders.SetPort: _set_port,
    orders.SetThresholds: _set_thresholds,
    orders.MovePlug: _move,
    orders.Reseat: _reseat,
    orders.Unplug: _unplug,
    orders.Bend: _bend,
    orders.Attenuate: _attenuate,
    orders.SetErrorRate: _set_error_rate,
    orders.AgeLaser: _age,
    orders.Flap: _flap,
    orders.CutLink: _cut,
    orders.LoseLanes: _lose_lanes,
    orders.SlowHop: _slow_hop,
    orders.Congest: _congest,
    orders.ClearCounters: _clear,
}

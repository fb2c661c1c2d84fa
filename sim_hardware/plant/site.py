"""The parts of the plant as one: power feeds cards, cards heat coolant, heat slows cards, cards and links carry the job.

All parts are updated together on a grid of `TICK` seconds, and whenever power comes or goes; beside that each at its own times. What a
part is given of the others is what they were at its last update, as what is given holds from there on; so a change takes a tick to be felt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any

import msgspec

from sim_hardware.plant import cards, cooling, job, links, pool, power
from sim_hardware.plant.words import Happening, Order, OrderError, Sensor, UnknownSensorError, Value
from sim_hardware.rack import Rack

TICK = 0.5  # s, ours: a tenth of what dies, fans and coolant take

PARTS: Mapping[str, ModuleType] = MappingProxyType(
    {"power": power, "cards": cards, "cooling": cooling, "links": links, "pool": pool, "job": job}
)
_AT_ONCE = frozenset({"power", "cards", "job"})  # an order to these is felt by the others at once, not at the next tick


class Site(msgspec.Struct, frozen=True):
    """The whole plant at `at` seconds. `happened` is what did since the last call, oldest first; `newest` is when the last of all did."""

    rack: Rack
    at: float
    tick: float  # the next one
    power: power.State
    cards: cards.State
    cooling: cooling.State
    links: links.State
    pool: pool.State
    job: job.State | None
    happened: tuple[Happening, ...] = ()
    newest: float = 0.0

    @property
    def next_time(self) -> float:
        """When something happens by itself."""
        own = min(self.power.next_time, self.cards.next_time, self.cooling.next_time, self.links.next_time, self.pool.next_time)
        return min(self.tick, own, self.job.next_time if self.job is not None else math.inf)


def start(rack: Rack, seed: int) -> Site:
    """A rack at rest at 0 s: warm, well, and in the middle of a training."""
    site = Site(
        rack=rack,
        at=0.0,
        tick=0.0,
        power=power.start(rack, seed),
        cards=cards.start(rack, seed),
        cooling=cooling.start(rack, seed),
        links=links.start(rack, seed),
        pool=pool.start(rack, seed),
        job=job.start(rack, seed) if rack.sim.job is not None else None,
    )
    return _update(site, 0.0, {"cards"})  # so that what they heat and what they draw is the job's from the first moment on


def advance(site: Site, time: float) -> Site:
    """The plant at `time` seconds."""
    happened: list[Happening] = []
    while site.next_time <= time:
        site = _step(site)
        happened += site.happened
    return msgspec.structs.replace(site, happened=tuple(happened))


def apply(site: Site, time: float, order: Order) -> Site:
    """The plant at `time`, after an order. Raises OrderError. To be advanced to that time first."""
    name = type(order).__module__.split(".")[-2]
    part = getattr(site, name, None)
    if part is None:
        raise OrderError(f"{type(order).__name__}: this rack has no {name}; put one under [sim] of its file")
    module = PARTS[name]
    before = module.update(part, time, _GIVEN[name](site))
    after = module.apply(before, order)
    tick = time if name in _AT_ONCE else site.tick
    changed: dict[str, Any] = {name: after, "at": time, "tick": tick}
    return _tell(msgspec.structs.replace(site, **changed), (*before.happened, *after.happened))


def sense(site: Site, subject: str, quantity: str) -> Value:
    """The truth of one sensor. Raises UnknownSensorError."""
    name = _find_part(quantity)
    state = getattr(site, name, None)
    if state is None:
        raise UnknownSensorError(f"{subject} has no sensor of {quantity}; `supernode-sim sensors` lists those that there are")
    value: Value = PARTS[name].sense(state, subject, quantity)
    return value


@cache
def _find_part(quantity: str) -> str:
    """The part that has the sensors of a quantity; empty = none has."""
    return _SENSED_BY.get(quantity) or _SENSED_BY.get(quantity.partition(".")[0], "")


def sensors(site: Site) -> Iterator[Sensor]:
    """Every sensor, part by part."""
    for name, module in PARTS.items():
        state = getattr(site, name)
        if state is not None:
            yield from module.sensors(state)


# Which part has the sensors of a quantity, or else of its family.
_SENSED_BY: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("utility", "feed", "generator", "ups", "pdu", "outlet", "breaker", "power", "shelf"), "power"),
        **dict.fromkeys(("card", "node"), "cards"),
        **dict.fromkeys(("coolant", "pump", "fan", "air", "card.throttled"), "cooling"),
        **dict.fromkeys(("card.temperature", "card.temperature.mean", "card.temperature.median"), "cooling"),
        **dict.fromkeys(("link", "cable", "hop", "ring", "switch"), "links"),
        **dict.fromkeys(("pool", "block"), "pool"),
        **dict.fromkeys(("job", "rank"), "job"),
    }
)


def _step(site: Site) -> Site:
    """To the next thing that happens. Until then each part had of the others what they were before."""
    time = site.next_time
    whole = time >= site.tick
    due = {name for name in PARTS if whole or (getattr(site, name) is not None and getattr(site, name).next_time <= time)}
    after = _update(site, time, due)
    if not any(happening.kind in _FELT_AT_ONCE for happening in after.happened):
        after = msgspec.structs.replace(after, tick=(math.floor(time / TICK) + 1) * TICK if whole else site.tick)
        return _tell(after, after.happened) if after.happened else after
    rest = _update(site, time, set(PARTS) - due)
    others = {name: getattr(rest, name) for name in PARTS if name not in due}
    return _tell(msgspec.structs.replace(after, **others, tick=time), (*after.happened, *rest.happened))


def _update(site: Site, time: float, due: set[str]) -> Site:
    """Some parts at `time`."""
    changed: dict[str, Any] = {}
    happened: list[Happening] = []
    for name, module in PARTS.items():
        state = getattr(site, name)
        if name in due and state is not None:
            changed[name] = module.update(state, time, _GIVEN[name](site))
            happened += changed[name].happened
    return msgspec.structs.replace(site, **changed, at=time, happened=tuple(happened))


def _tell(site: Site, happened: Sequence[Happening]) -> Site:
    """What happened, oldest first. What a part finds within a tick when something later is already told, is told as of that."""
    ordered = sorted(happened, key=lambda happening: happening.at)
    told = tuple(each if each.at >= site.newest else msgspec.structs.replace(each, at=site.newest) for each in ordered)
    return msgspec.structs.replace(site, happened=told, newest=told[-1].at if told else site.newest)


# What the other parts feel at once: another step follows at the same moment, in which nothing can happen again of itself.
_FELT_AT_ONCE = frozenset({"node.power_lost", "node.power_back", "load.lost", "load.back", "node.off", "node.on"})


def _list_loads(site: Site) -> Mapping[str, float]:
    """What each load draws while it is live, W."""
    figures, shared = site.rack.sim.node, site.rack.sim.power
    loads: dict[str, float] = {}
    for node, watts in zip(site.rack.nodes, cards.list_node_watts(site.cards), strict=True):
        loads[node.name] = watts
        loads[f"{node.name}/fan*"] = figures.fan_watts
    loads |= {loop.subject: shared.cdu_watts for loop in site.rack.loops}
    loads |= {f"switch/{switch.name}": shared.switch_watts for switch in site.rack.switches}
    return loads


def _feed_cards(site: Site) -> cards.Inputs:
    available = tuple([power.live(site.power, node.name) for node in site.rack.nodes])
    temperatures: list[float] = []
    throttled: list[bool] = []
    for node in site.cooling.nodes:
        temperatures += node.cards.dies
        throttled += [slot in node.cards.throttled for slot in range(len(node.cards.dies))]
    load = job.list_loads(site.job) if site.job is not None else (0.0,) * len(temperatures)
    return cards.Inputs(available, tuple(temperatures), tuple(throttled), load)


def _heat(site: Site) -> cooling.Inputs:
    watched = [*(loop.subject for loop in site.rack.loops), *(f"{node.name}/fan*" for node in site.rack.nodes)]
    dead = frozenset(load for load in watched if not power.live(site.power, load))
    other = [site.rack.sim.node.other_watts if up else 0.0 for up in cards.list_up(site.cards)]
    return cooling.Inputs(cards.list_watts(site.cards), other, dead)


def _carry(site: Site) -> links.Inputs:
    dark = [node.name for node, up in zip(site.rack.nodes, cards.list_up(site.cards), strict=True) if not up]
    dark += [f"switch/{switch.name}" for switch in site.rack.switches if not power.live(site.power, f"switch/{switch.name}")]
    traffic = job.list_traffic(site.job) if site.job is not None else ()
    optics = tuple(node.air.parts[0] for node in site.cooling.nodes)
    return links.Inputs(traffic, frozenset(dark), optics)


def _is_stepping(site: Site) -> bool:
    return site.job is not None and bool(site.job.placed) and site.job.phase == "running"


def _find_factor(site: Site) -> float:
    """The collective goes as slowly as its slowest node."""
    return max((links.ring_factor(site.links, node.name) for node in site.rack.nodes), default=1.0)


def _sync(site: Site) -> pool.Inputs:
    return pool.Inputs(cards.list_up(site.cards), cards.list_memory(site.cards), _is_stepping(site))


def _pace(site: Site) -> job.Inputs:
    hot = frozenset(number for number, throttled in enumerate(site.cards.inputs.throttled) if throttled)
    return job.Inputs(cards.list_speeds(site.cards), cards.list_alive(site.cards), _find_factor(site), hot)


# What each part is given of the others.
_GIVEN: Mapping[str, Callable[[Site], object]] = MappingProxyType(
    {
        "power": lambda site: power.Inputs(_list_loads(site)),
        "cards": _feed_cards,
        "cooling": _heat,
        "links": _carry,
        "pool": _sync,
        "job": _pace,
    }
)

"""The powers that flow between two events, from the loads up to the mains."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.battery import find_charge, find_drain, find_mark
from sim_hardware.plant.power.flows import BreakerFlow, EnergyBook, Flow, UpsFlow
from sim_hardware.plant.power.loads import Draws, settle_loads
from sim_hardware.plant.power.spec import UTILITIES, UpsSpec
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.things import Pdu, Shares, Ups
from sim_hardware.plant.power.ups import find_output


def solve(draft: Draft) -> None:
    """Settle the loads, and find all powers and the next moment at which one of them changes by itself."""
    draws = settle_loads(draft)
    pdus = [sum(draws.outlets[outlet] for outlet in spec.outlets.values()) for spec in draft.spec.pdus]
    feeds = [0.0] * len(draft.feeds)
    for spec, watts in zip(draft.spec.pdus, pdus, strict=True):
        feeds[spec.feed] += watts
    for index, watts in enumerate(pdus):
        _watch_short(draft, index, watts)
    upses = tuple(_flow_ups(draft, index, feeds[spec.feed]) for index, spec in enumerate(draft.spec.ups))
    breakers = tuple(
        _flow_breaker(draft.at, pdu, watts / spec.watts) for pdu, watts, spec in zip(draft.pdus, pdus, draft.spec.pdus, strict=True)
    )
    for index, flow in enumerate(upses):
        _watch_load(draft, index, flow)
    book = _keep_book(draft, draws, feeds, upses)
    draft.flow = Flow(tuple(draws.outlets), tuple(pdus), upses, breakers, tuple(draws.shelves), book)
    _find_next(draft)


def find_load(spec: UpsSpec, phases: Shares) -> float:
    """The load of the fullest phase, as a share of its rating."""
    return max(phases) / figures.POWER_FACTOR / (spec.rated_va / spec.build.phases)


def _find_next(draft: Draft) -> None:
    """A moment that is now already counts too."""
    flow = draft.flow
    dues = [draft.next_time]
    dues.extend(due for ups in flow.ups for due in (ups.battery_due, ups.strain_due))
    dues.extend(breaker.trip_at for breaker in flow.breakers)
    dues.extend(shelf.due for shelf in flow.shelves)
    draft.next_time = min(dues)


def _flow_ups(draft: Draft, index: int, watts: float) -> UpsFlow:
    spec, ups = draft.spec.ups[index], draft.ups[index]
    phases = _spread(spec, ups, watts, live=min(find_output(draft, spec.feed)) >= figures.USABLE)
    output = sum(phases)
    charge = find_charge(spec, ups)
    stored, drawn = charge * figures.CHARGE_EFFICIENCY, charge
    if ups.path == "battery":
        stored = -find_drain(spec, output)
    elif ups.path != "none":
        drawn += output / (spec.build.efficiency if ups.path == "double" else figures.DIRECT_EFFICIENCY)
    battery_due, battery_mark = find_mark(spec, ups, stored, draft.at)
    strain, strain_due, strain_mark = _strain(ups, find_load(spec, phases), draft.at)
    return UpsFlow(phases, output, drawn, stored, battery_due, battery_mark, strain, strain_due, strain_mark)


def _spread(spec: UpsSpec, ups: Ups, watts: float, *, live: bool) -> Shares:
    """Loads are balanced over the phases; what is added is not."""
    added = ups.added if live else (0.0, 0.0, 0.0)
    if spec.build.phases == 1:
        return (watts + added[0], 0.0, 0.0)
    return (watts / 3.0 + added[0], watts / 3.0 + added[1], watts / 3.0 + added[2])


def _strain(ups: Ups, load: float, at: float) -> tuple[float, float, float]:
    """How fast the inverter's overload counts, 1/s, when it is over the mark, and the mark."""
    carries = ups.path in ("double", "battery")
    seconds = next(seconds for most, seconds in figures.OVERLOAD if load <= most) if carries else figures.OVERLOAD[0][1]
    if seconds > 0.0:
        return 1.0 / seconds, at + max(0.0, 1.0 - ups.strain) * seconds, 1.0
    if ups.strain > 0.0:
        return 1.0 / seconds, at - ups.strain * seconds, 0.0
    return 0.0, math.inf, 0.0


def _watch_load(draft: Draft, index: int, flow: UpsFlow) -> None:
    """The edges of overload."""
    spec, ups = draft.spec.ups[index], draft.ups[index]
    load = find_load(spec, flow.phases)
    over = load > figures.OVERLOAD[0][0]
    if over == ups.over:
        return
    draft.ups[index] = replace(ups, over=over)
    if over:
        draft.tell(
            "ups.overload", f"ups/{spec.name}", f"The fullest phase of UPS {spec.name} carries {load:.0%} of its rating.", load * 100.0
        )


def _watch_short(draft: Draft, index: int, watts: float) -> None:
    """A current that opens the breaker at once has to last for a moment."""
    pdu = draft.pdus[index]
    short = watts >= draft.spec.pdus[index].short_watts
    if short == math.isinf(pdu.short_at):
        draft.pdus[index] = replace(pdu, short_at=draft.at + figures.BREAKER_SHORT_S if short else math.inf)


def _flow_breaker(at: float, pdu: Pdu, load: float) -> BreakerFlow:
    """Heat goes towards the square of the current with its time constant, and at 1 the breaker opens; a short opens it at once."""
    target = (load / figures.BREAKER_HOLDS) ** 2 if pdu.closed else 0.0
    if target <= 1.0:
        return BreakerFlow(target)
    trip_at = at + figures.BREAKER_TAU_S * math.log((target - pdu.heat) / (target - 1.0))
    return BreakerFlow(target, min(trip_at, pdu.short_at))


def _keep_book(draft: Draft, draws: Draws, feeds: list[float], upses: tuple[UpsFlow, ...]) -> EnergyBook:
    utilities, generator, delivered, lost = [0.0] * len(UTILITIES), 0.0, draws.delivered, draws.lost
    for index, (feed, watts) in enumerate(zip(draft.feeds, feeds, strict=True)):
        number = draft.spec.ups_of_feed[index]
        drawn = watts
        if number >= 0:
            flow = upses[number]
            drawn = flow.input
            delivered += flow.output - watts
            lost += _find_loss(draft.spec.ups[number], draft.ups[number], flow)
        if feed.source == "generator":
            generator += drawn
        else:
            utilities[index % len(UTILITIES)] += drawn
    return EnergyBook(
        utilities=(utilities[0], utilities[1]),
        generator=generator,
        delivered=delivered,
        lost=lost,
        batteries=sum(flow.stored for flow in upses),
        shelves=draws.stored,
    )


def _find_loss(spec: UpsSpec, ups: Ups, flow: UpsFlow) -> float:
    """The heat of a UPS: what its converters or its battery lose, and its charger."""
    if ups.path == "battery":
        return find_drain(spec, flow.output) - flow.output
    charger = max(0.0, flow.stored) * (1.0 / figures.CHARGE_EFFICIENCY - 1.0)
    if ups.path == "none":
        return charger
    efficiency = spec.build.efficiency if ups.path == "double" else figures.DIRECT_EFFICIENCY
    return charger + flow.output * (1.0 / efficiency - 1.0)

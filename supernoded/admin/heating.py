"""Readings, verdicts and loops as one row a coolant unit, and the heat map. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from supernoded.admin.linking import natural
from supernoded.admin.seeing import Sights
from supernoded.messages import CardHeat, CoolingUnit, Fan, LoopRow, NodeHeat, Pump, Thermal
from supernoded.model import Level, Reading, Severity, Verdict
from supernoded.topology import Supernode, Topology

DEW_MARGIN = 2.0  # K that the supply stays above the dew point where no policy's table says another (safety 18; the amount is ours)
_FAMILIES = ("coolant.", "fan.", "air.")
_KINDS = frozenset({"heat", "card.throttled"})
_WEIGHT = {Severity.INFO: 0, Severity.WARNING: 1, Severity.CRITICAL: 2}
_LEVELS = (Level.RAISED, Level.UNSURE, Level.CLEAR)  # the worst first
_OPEN = 100.0  # % of a valve


class Site(NamedTuple):
    """What is known beside readings: what stands where, what is asked for, who judges, and what our loops hold, by unit."""

    topology: Topology
    supply: float  # C to hold
    band: float  # K
    dew_margin: float  # K
    roles: Mapping[str, str]
    aims: Mapping[str, float]


def list_heat(readings: Iterable[Reading], verdicts: Iterable[Verdict], loops: Iterable[LoopRow], site: Site, now: float) -> Thermal:
    """All units and nodes that are described or read, and what the rules say of coolant and heat."""
    seen = Sights(readings)
    said = sorted((verdict for verdict in verdicts if is_thermal(verdict.kind)), key=_rank)
    units = {loop.subject for loop in site.topology.loops} | {subject for subject in seen.subjects() if is_unit(subject)}
    return Thermal(
        now=now,
        loops=tuple(sorted(loops, key=lambda row: natural(row.target))),
        units=tuple(_make_unit(unit, seen, site, said) for unit in sorted(units, key=natural)),
        nodes=tuple(_make_node(node, unit, seen) for node, unit in _order_nodes(site.topology)),
        verdicts=tuple(said),
    )


def find_told(plugins: Mapping[str, Mapping[str, Any]], key: str, default: float) -> float:
    """A number of the table `[plugins.<policy>.control]` of whichever policy holds the coolant."""
    told = (table["control"].get(key) for table in plugins.values() if isinstance(table.get("control"), Mapping))
    return next((float(value) for value in told if isinstance(value, int | float)), default)


def is_thermal(kind: str) -> bool:
    """Whether a verdict of this kind is about coolant, heat, fans or air."""
    return kind in _KINDS or kind.startswith(_FAMILIES)


def is_unit(subject: str) -> bool:
    """Whether a subject is a coolant distribution unit, not a part of one."""
    return subject.startswith("cdu/") and subject.count("/") == 1


def _rank(verdict: Verdict) -> tuple[int, int, str, str]:
    return _LEVELS.index(verdict.level), -_WEIGHT[verdict.severity], verdict.kind, verdict.subject


def _order_nodes(topology: Topology) -> list[tuple[Supernode, str]]:
    """Loop by loop, in the order of the topology; nodes without a loop come last."""
    subjects = {loop.name: loop.subject for loop in topology.loops}
    order = {name: place for place, name in enumerate(subjects)}
    nodes = sorted(topology.nodes, key=lambda node: order.get(node.loop, len(order)))
    return [(node, subjects.get(node.loop, "")) for node in nodes]


def _make_unit(unit: str, sights: Sights, site: Site, said: Sequence[Verdict]) -> CoolingUnit:
    seen, worst = sights.of(unit), next((verdict for verdict in said if f"{verdict.subject}/".startswith(f"{unit}/")), None)
    loop = next((loop for loop in site.topology.loops if loop.subject == unit), None)
    transmitters = (seen.number("coolant.supply_temperature"), seen.number("coolant.supply_temperature.2"))
    supplies = [value for value in transmitters if value is not None]
    warmer, colder = max(supplies, default=None), min(supplies, default=None)
    control, valve = seen.text("coolant.control"), seen.number("coolant.valve")
    dew_point = seen.number("air.dew_point")
    setpoint = _find_aim(unit, dew_point, site) if control == "direct" else seen.number("coolant.setpoint")
    return CoolingUnit(
        subject=unit,
        name=loop.name if loop is not None else "",
        authority=loop.authority.value if loop is not None else "",
        control=control,
        watchdog=seen.number("coolant.watchdog_s"),
        watchdog_left=seen.number("coolant.watchdog_left"),
        fallback=seen.number("coolant.fallback"),
        supply=warmer,
        supply_colder=colder,
        setpoint=setpoint,
        return_temperature=seen.number("coolant.return_temperature"),
        primary=seen.number("coolant.primary_temperature"),
        flow=seen.number("coolant.flow"),
        pressure_difference=seen.number("coolant.pressure_difference"),
        heat=seen.number("coolant.heat"),
        valve=valve,
        valve_command=seen.number("coolant.valve_command"),
        pumps=_list_pumps(unit, sights),
        level_percent=seen.number("coolant.level"),
        leak=seen.flag("coolant.leak"),
        leak_sticky=seen.flag("coolant.leak_sticky"),
        dew_point=dew_point,
        alarms=seen.flags("coolant.alarm"),
        band_margin=None if warmer is None or setpoint is None else site.band - abs(warmer - setpoint),
        dew_margin=None if colder is None or dew_point is None else colder - dew_point - site.dew_margin,
        valve_room=None if valve is None else _OPEN - valve,
        level=worst.level if worst is not None else Level.UNSURE,
        severity=worst.severity if worst is not None else Severity.INFO,
        text=worst.text if worst is not None else "no rule of this daemon has judged it",
        judged_by=site.roles.get(unit, ""),
    )


def _find_aim(unit: str, dew_point: float | None, site: Site) -> float:
    """What is held by turning valve and pumps: as the loop tells, else as it should be (safety 18)."""
    return site.aims.get(unit, site.supply if dew_point is None else max(site.supply, dew_point + site.dew_margin))


def _list_pumps(unit: str, sights: Sights) -> tuple[Pump, ...]:
    pumps = sorted((subject for subject in sights.below(unit) if subject.startswith(f"{unit}/pump")), key=natural)
    return tuple(Pump(subject=pump, state=sights.of(pump).text("pump.state"), speed=sights.of(pump).number("pump.speed")) for pump in pumps)


def _make_node(node: Supernode, unit: str, sights: Sights) -> NodeHeat:
    seen, subjects = sights.of(node.name), node.list_cards()
    cards = tuple(_make_card(card, sights) for card in subjects)
    known = [(card.temperature, subject) for card, subject in zip(cards, subjects, strict=True) if card.temperature is not None]
    hottest, hottest_card = max(known, key=lambda pair: pair[0], default=(None, ""))
    fans = sorted((subject for subject in sights.below(node.name) if subject.startswith(f"{node.name}/fan")), key=natural)
    return NodeHeat(
        node=node.name,
        loop=unit,
        cards=cards,
        hottest=hottest,
        hottest_card=hottest_card,
        fans=tuple(_make_fan(fan, sights) for fan in fans),
        fan_control=seen.text("fan.control"),
        fan_duty=seen.number("fan.duty"),
        flow=seen.number("coolant.flow"),
        branch_open=seen.flag("coolant.branch"),
    )


def _make_card(card: str, sights: Sights) -> CardHeat:
    seen = sights.of(card)
    return CardHeat(temperature=seen.number("card.temperature"), power=seen.number("card.power"), throttled=seen.flag("card.throttled"))


def _make_fan(fan: str, sights: Sights) -> Fan:
    seen = sights.of(fan)
    return Fan(name=fan.rpartition("/")[2], speed=seen.number("fan.speed"), duty=seen.number("fan.duty"))

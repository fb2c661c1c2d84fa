"""What `supernodectl thermal` says: a sentence first, then loops, units and the heat map. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.ctl.printing import Drawing, Sheet, Table
from supernoded.ctl.thermal_map import HeatMap, Strips
from supernoded.ctl.wording import NONE, say_count, say_duration, say_value, say_when
from supernoded.messages import CoolingUnit, Handed, LoopRow, Pump, Thermal, ThermalHistory
from supernoded.model import Level, Verdict

MOST_SAID = 6  # verdicts above the tables
FAMILIES = ("coolant.", "fan.", "air.")  # of what loops turn; others arm PDUs, which is another sheet
LONG_AGO = 15.0  # s since a value was put, after which units fall back by themselves (safety 15)
UNKNOWN = "unknown"
YES_NO = {True: "WET", False: "dry", None: UNKNOWN}


def render_thermal(told: Thermal, *, watts: bool = False) -> Sheet:
    """Lay out what is known of coolant and heat."""
    return [
        *_say_first(told),
        "",
        Table(
            ("UNIT", "SUPPLY", "SETPOINT", "RETURN", "FLOW", "VALVE", "PRIMARY", "PRESSURE", "PUMPS", "LEVEL", "LEAK"),
            [_to_measured(unit) for unit in told.units],
            "No coolant unit is described or read.",
            below=5,
        ),
        *_list_margins(told),
        "",
        Table(
            ("LOOP TURNS", "AT", "PUT", "WHO TURNS IT", "BECAUSE"),
            [_to_loop(loop) for loop in told.loops if loop.quantity.startswith(FAMILIES)],
            "No loop of this daemon turns anything of it.",
            below=1,
        ),
        *_draw_map(told, watts=watts),
    ]


def _say_first(told: Thermal) -> Iterator[str]:
    raised = [verdict for verdict in told.verdicts if verdict.level is Level.RAISED]
    yield from (f"{verdict.severity.value}: {verdict.text}" for verdict in raised[:MOST_SAID])
    if len(raised) > MOST_SAID:
        yield f"... and {say_count(len(raised) - MOST_SAID, 'verdict')} more: supernodectl incidents"
    if not raised:
        yield _say_calm(told)


def _say_calm(told: Thermal) -> str:
    unsure = [verdict for verdict in told.verdicts if verdict.level is Level.UNSURE]
    if unsure:
        return f"No trouble of coolant or heat is told; {say_count(len(unsure), 'verdict')} cannot be given now: {_say_unseen(unsure)}."
    if told.verdicts:
        return "All is well with coolant and heat" + "".join(f"; {unit.subject} {_say_hold(unit)}" for unit in told.units[:1]) + "."
    judges = {unit.judged_by: unit.subject for unit in told.units if unit.judged_by}
    where = "".join(f"; node {node} has the role {unit}" for node, unit in judges.items())
    return f"No rule of this daemon judges coolant or heat{where}."


def _say_unseen(unsure: list[Verdict]) -> str:
    return unsure[0].text if len(unsure) == 1 else f"{unsure[0].text}, for one"


def _say_hold(unit: CoolingUnit) -> str:
    if unit.supply is None or unit.setpoint is None:
        return "is not read here"
    return f"supplies {unit.supply:.2f} C where {unit.setpoint:.2f} C is asked for"


def _to_measured(unit: CoolingUnit) -> tuple[str, ...]:
    return (
        unit.subject,
        _say(unit.supply, "C", 2),
        _say(unit.setpoint, "C", 2),
        _say(unit.return_temperature, "C", 2),
        _say(unit.flow, "L/min", 0),
        _say_valve(unit),
        _say(unit.primary, "C", 2),
        _say(unit.pressure_difference, "kPa", 0),
        ", ".join(map(_say_pump, unit.pumps)) or NONE,
        _say(unit.level_percent, "%", 0),
        f"{YES_NO[unit.leak]}{' (was wet)' if unit.leak_sticky and not unit.leak else ''}",
    )


def _say(value: float | None, unit: str, digits: int) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}f} {unit}"


def _say_valve(unit: CoolingUnit) -> str:
    """Where it stands, and where it should where that is another place."""
    stands, told = unit.valve, unit.valve_command
    if told is None or (stands is not None and abs(stands - told) < 1.0):
        return _say(stands, "%", 1)
    return f"{_say(stands, '%', 1)}, told {told:.1f} %"


def _say_pump(pump: Pump) -> str:
    number = pump.subject.rpartition("/pump")[2]
    speed = "" if pump.speed is None else f" {pump.speed:.0f} %"
    return f"{number}: {pump.state or UNKNOWN}{speed}"


def _list_margins(told: Thermal) -> Iterator[str | Table]:
    if told.units:
        columns = ("UNIT", "BAND", "DEW LIMIT", "VALVE LEFT", "JUDGED", "AUTHORITY", "CONTROL", "WHAT IS SAID")
        yield ""
        yield Table(columns, [_to_margins(unit) for unit in told.units], below=3)


def _to_margins(unit: CoolingUnit) -> tuple[str, ...]:
    judged = {Level.RAISED: unit.severity.value, Level.CLEAR: "good", Level.UNSURE: "unsure"}[unit.level]
    return (
        unit.subject,
        _say_margin(unit.band_margin, "inside", "outside", 2),
        _say_margin(unit.dew_margin, "above", "too cold", 1),
        _say(unit.valve_room, "%", 0),
        judged,
        unit.authority or NONE,
        _say_control(unit),
        unit.text,
    )


def _say_margin(margin: float | None, well: str, beyond: str, digits: int) -> str:
    return UNKNOWN if margin is None else f"{abs(margin):.{digits}f} K {well if margin >= 0.0 else beyond}"


def _say_control(unit: CoolingUnit) -> str:
    """Who turns it, and how long it would wait for us."""
    if unit.watchdog_left is None or unit.control in ("", "auto"):
        return unit.control or UNKNOWN
    of = "" if unit.watchdog is None else f" of {unit.watchdog:.0f} s"
    return f"{unit.control}, {unit.watchdog_left:.0f} s{of} left"


def _to_loop(loop: LoopRow) -> tuple[str, ...]:
    at = NONE if loop.value is None else say_value(loop.value, loop.unit)
    put = NONE if loop.put_age is None else f"{loop.put_age:.1f} s ago"
    if not loop.engaged:
        return loop.target, at, put, "nobody of us", loop.idle_because
    return loop.target, at, put, _say_turner(loop), _say_note(loop)


def _say_turner(loop: LoopRow) -> str:
    if not loop.by_hand:
        return f"{loop.name}, in vain" if loop.put_age is not None and loop.put_age > LONG_AGO else loop.name
    left = "" if loop.hand_left is None else f", {say_duration(loop.hand_left)} left"
    return f"{loop.hand_by} by hand{left}"


def _say_note(loop: LoopRow) -> str:
    """Why it stands where it stands, as far as that is no matter of course."""
    held = [] if not loop.by_hand else ["silent" if loop.hand_value is None else f"held at {say_value(loop.hand_value, loop.unit)}"]
    said = [*held, *filter(None, (loop.hand_reason if loop.by_hand else "", loop.note))]
    return "; ".join(said) or NONE


def _draw_map(told: Thermal, *, watts: bool) -> Iterator[str | Drawing]:
    """Unit by unit."""
    for unit in dict.fromkeys(node.loop for node in told.nodes):
        nodes = [node for node in told.nodes if node.loop == unit]
        yield ""
        where = f"cooled by {unit}" if unit else "in no coolant loop"
        yield f"Cards of {say_count(len(nodes), 'node')} {where}, {'W' if watts else 'C'}; ! = throttled, ? = not known."
        yield HeatMap(nodes, watts)


def render_handed(told: Handed) -> Sheet:
    """Lay out what became of a device that is held by hand."""
    until = "" if told.until is None else f" The hand is on it until {say_when(told.until, told.now)}."
    return [f"{told.text}.{until}"]


def render_history(told: ThermalHistory) -> Sheet:
    """Lay out the last minutes of a unit."""
    if not told.tracks:
        return [f"Nothing was read of {told.loop} in the last {say_duration(told.now - told.since)}."]
    return [f"{told.loop}, the last {say_duration(told.now - told.since)}.", "", Strips(told.tracks, told.since, told.now)]

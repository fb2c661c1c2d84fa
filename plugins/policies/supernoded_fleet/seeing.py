"""What is known of a node's life: its beats, and the second view past the broker. Pure."""

from __future__ import annotations

import math

import msgspec

from supernoded.plugin import Reading, State, View
from supernoded_fleet.settings import FleetSettings

FLEET = "fleet"
AGE, LIFE, RIVAL, OFFSET = "node.beat_age", "node.life", "node.rival", "node.clock_offset"
REACHABLE, POWERED, HEARD = "node.reachable", "node.powered", "fleet.heard"
SIGHTS = {AGE: 60.0, LIFE: 60.0, REACHABLE: 120.0, POWERED: 120.0, HEARD: 60.0}  # what a node's life is judged by, with windows


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """One node now."""

    age: float = 0.0  # seconds of silence
    why: str = ""  # nobody can say; empty = it is known
    late: bool = False
    answers: bool | None = None  # the machine, by its own network or its BMC; None = no second view, or two that differ
    view: str = ""  # a part of a sentence on that
    answering: float = math.inf  # seconds since a probe had no answer; endless where every probe in memory had one


def is_beating(seen: View, node: str, late_s: float) -> bool | None:
    """Whether a node is known and beats in time, None = nobody can tell: a quick look, as there are thousands."""
    age = seen.number(AGE, node)
    if age is None or age > late_s:
        return None if age is None else False
    return True if seen.text(LIFE, node) else None


def look(seen: View, node: str, settings: FleetSettings) -> Sight:
    """What is seen of a node."""
    reading = seen.newest(AGE, node)
    if reading is None or reading.state is not State.GOOD or not isinstance(reading.value, int | float):
        return Sight(why=(reading.note or reading.state.value) if reading is not None else "nobody has heard it yet")
    age = float(reading.value)
    is_known = bool(seen.text(LIFE, node))
    limit = settings.late_s if is_known else max(settings.late_s, settings.settle_s)
    if age <= settings.late_s:
        return Sight(age=age) if is_known else Sight(why="its daemon was not heard yet")
    answers, view = _look_past_the_broker(seen, node, since=reading.at - age)
    return Sight(age=age, late=age > limit, answers=answers, view=view, answering=_measure_answering(seen, node))


def _look_past_the_broker(seen: View, node: str, since: float) -> tuple[bool | None, str]:
    """Whether the machine is there, by what was seen since it was heard last."""
    probe, power = _since(seen.good(REACHABLE, node), since), _since(seen.good(POWERED, node), since)
    if probe is None and power is None:
        newest = seen.newest(REACHABLE, node)
        if newest is None:
            return None, "there is no second view: no probe of it is known yet, which needs its address in [[nodes]]"
        why = newest.note if newest.state is State.UNKNOWN and newest.note and newest.at >= since else "it has not been probed since"
        return None, f"there is no second view yet: {why}"
    if probe is not None and power is not None and probe != power:
        return (
            (True, "it answers a probe though its BMC says that it is off")
            if probe
            else (None, "it answers no probe though its BMC says that it is on")
        )
    if power is not None:
        return power, "its BMC says that it is on" if power else "its BMC says that it is off"
    return probe, "the machine answers a probe" if probe else "the machine answers no probe"


def _since(reading: Reading | None, since: float) -> bool | None:
    return None if reading is None or reading.at < since else reading.value != 0.0


def _measure_answering(seen: View, node: str) -> float:
    silent = [reading.at for reading in seen.window(REACHABLE, node) if reading.value == 0.0]
    return seen.now - silent[-1] if silent else math.inf


def find_split(seen: View, nodes: int) -> str:
    """That half of the site or less is heard, as a part of a sentence; empty = more is, or it is not known."""
    heard = seen.number(HEARD, FLEET)
    return "" if heard is None or nodes < 2 or 2 * heard > nodes else f"{heard:.0f} of {nodes} nodes are heard"


def measure_beating(seen: View, node: str, late: float) -> float:
    """For how many seconds a node has beaten without being late, as far as is remembered."""
    since = math.inf
    for reading in reversed(seen.window(AGE, node)):
        if isinstance(reading.value, int | float):
            if reading.value > late:
                break
            since = reading.at
    return 0.0 if math.isinf(since) else seen.now - since

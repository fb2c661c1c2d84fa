"""Which fans turn: those that stand while others blow have failed, and when all stand it is their power. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import msgspec

from supernoded.plugin import View
from supernoded_thermal.node.looking import find_last, list_below, list_numbers, say_why
from supernoded_thermal.node.settings import NodeSettings

SPEED, DUTY, FLOW, CONTROL = "fan.speed", "fan.duty", "air.flow", "fan.control"
WINDOW = 120.0  # s (ours)
WATCHES: Mapping[str, float] = dict.fromkeys((SPEED, DUTY, FLOW), WINDOW)

LEAST_DUTY = 15.0  # %, below which many a fan may stand (ours)
TURNING = 3.0  # times the speed of a standing fan: what surely turns (ours)
LEAST_FLOW = 10.0  # m3/h behind the others, below which their share says nothing (ours)
LEAST_LOOKS = 2


class Fan(msgspec.Struct, frozen=True):
    """One fan, or one place where air is measured. `failed` None = not known; `text` says what was seen."""

    subject: str
    failed: bool | None
    text: str


class Fans(msgspec.Struct, frozen=True):
    """All of a node. `standing`: every one of them stands, though they were told to turn."""

    fans: tuple[Fan, ...]
    standing: bool = False

    @property
    def failed(self) -> list[str]:
        """Those that have."""
        return [fan.subject for fan in self.fans if fan.failed]


def look_at_fans(seen: View, node: str, settings: NodeSettings) -> Fans:
    """Every fan that was ever read."""
    subjects = [one for one in list_below(seen, SPEED, node) if one.rpartition("/")[2].startswith("fan")]
    speeds = {one: find_last(seen, SPEED, one, settings.hold_s) for one in subjects}
    known = {one: last.value for one, last in speeds.items() if last is not None}
    told = [one for one in known if (_find_duty(seen, one, node, settings) or 0.0) >= LEAST_DUTY]
    if known and set(told) == set(known) and all(rpm < settings.standing_rpm for rpm in known.values()):
        return Fans(tuple(Fan(one, None, f"{one} stands as all of {node} do") for one in subjects), standing=True)
    return Fans(tuple(_judge(seen, one, known, node, settings) for one in subjects))


def _find_duty(seen: View, fan: str, node: str, settings: NodeSettings) -> float | None:
    """Its own, else the node's; None = nobody tells."""
    last = find_last(seen, DUTY, fan, settings.hold_s) or find_last(seen, DUTY, node, settings.hold_s)
    return None if last is None else last.value


def _judge(seen: View, fan: str, known: Mapping[str, float], node: str, settings: NodeSettings) -> Fan:
    rpm, others = known.get(fan), [speed for one, speed in known.items() if one != fan]
    if rpm is None:
        return Fan(fan, None, say_why(seen, SPEED, fan))
    usual, duty = median(others) if others else 0.0, _find_duty(seen, fan, node, settings)
    asked = "" if duty is None else f" at a duty of {duty:.0f} %"
    if rpm < settings.standing_rpm:
        if duty is not None and duty < LEAST_DUTY:
            return Fan(fan, False, f"{fan} stands{asked}")
        if usual < TURNING * settings.standing_rpm or not _lasts(seen, fan, settings):
            return Fan(fan, None, f"{fan} turns at {rpm:.0f} rpm{asked}, and it is too early to say why")
        return Fan(fan, True, f"{fan} stands ({rpm:.0f} rpm){asked}, while the others turn at {usual:.0f} rpm: replace it")
    return _judge_flow(seen, fan, f"{fan} turns at {rpm:.0f} rpm{asked}", settings)


def _judge_flow(seen: View, fan: str, turns: str, settings: NodeSettings) -> Fan:
    """It turns; whether it blows, too, is for the sensor behind it to say."""
    place = name_air(fan)
    flows = {
        one: last.value for one in seen.subjects(FLOW) if _is_beside(one, place) if (last := find_last(seen, FLOW, one, settings.hold_s))
    }
    own, others = flows.get(place), [flow for one, flow in flows.items() if one != place]
    if own is None or len(others) < 2 or median(others) < LEAST_FLOW:
        return Fan(fan, False, turns)
    usual = median(others)
    begin = seen.now - settings.fan_s
    weak = [flow < settings.weak_share * usual for _, flow in list_numbers(seen, FLOW, place, begin)]
    if own >= settings.weak_share * usual or len(weak) < LEAST_LOOKS or not all(weak):
        return Fan(fan, False, turns)
    return Fan(
        fan,
        True,
        f"{turns}, and {own:.0f} m3/h come through where the others move {usual:.0f}: see whether its blades and its way are free",
    )


def name_air(fan: str) -> str:
    """The air sensor behind a fan: `n0/air2` of `n0/fan2`."""
    node, _, name = fan.rpartition("/")
    return f"{node}/air{name.removeprefix('fan')}"


def _is_beside(one: str, place: str) -> bool:
    return one.rpartition("/")[0] == place.rpartition("/")[0]


def _lasts(seen: View, fan: str, settings: NodeSettings) -> bool:
    """It has stood at every look for so long: one that has just got its power back comes up within seconds."""
    looks = list_numbers(seen, SPEED, fan, seen.now - WINDOW)
    lately = [rpm < settings.standing_rpm for at, rpm in looks if at >= seen.now - settings.fan_s]
    began = next((at for at, rpm in reversed(looks) if rpm >= settings.standing_rpm), None)
    first = looks[0][0] if looks else seen.now
    return len(lately) >= LEAST_LOOKS and all(lately) and seen.now - (first if began is None else began) >= settings.fan_s * 0.8

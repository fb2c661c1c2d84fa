"""A storm, drawn from one seed: random faults of mains, UPSes, PDUs, lines, the job and the daemons within three minutes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from random import Random

import msgspec

STORM_S = 180.0
BEGINS = 25.0  # s: by then both PDUs are armed, and the job steps
LEAST, MOST = 3, 8  # strikes
RACKS = ("single-path-2x8", "short-2x8", "lean-2x8", "rack-2x8")
KILL, CUT = "daemon.kill", "broker.cut"  # no faults of the rig: what befalls its daemons

FLAGS = ("OB", "LB", "RB", "CHRG", "DISCHRG", "BYPASS", "CAL", "TEST", "OFF", "FSD", "OVER", "TRIM", "BOOST", "ALARM")


class Strike(msgspec.Struct, frozen=True):
    """One fault on one target, `at` seconds of the play and for `lasts` seconds."""

    at: float
    lasts: float
    fault: str
    target: str
    how: Mapping[str, float | str] = {}

    @property
    def ends(self) -> float:
        """When it is over."""
        return self.at + self.lasts


class Storm(msgspec.Struct, frozen=True):
    """What is played."""

    seed: int
    rack: str
    strikes: tuple[Strike, ...]

    @property
    def ends(self) -> float:
        """When the last strike is over."""
        return max((strike.ends for strike in self.strikes), default=BEGINS)


Draw = Callable[[Random], tuple[str, str, Mapping[str, float | str]]]


def _on(family: Callable[[str], str], fault: str, **how: Callable[[Random], float | str]) -> Draw:
    """A fault on the part of a feed that `family` names."""

    def draw(chance: Random) -> tuple[str, str, Mapping[str, float | str]]:
        return fault, family(chance.choice("AB")), {name: value(chance) for name, value in how.items()}

    return draw


def _ups(feed: str) -> str:
    return f"ups/{feed}"


def _pdu(feed: str) -> str:
    return f"pdu/{feed}1"


def _line(feed: str) -> str:
    return f"line/feed-{feed}"


def _share(chance: Random) -> float:
    return round(chance.uniform(0.05, 0.9), 2)


def _draw_outlet(fault: str) -> Draw:
    return lambda chance: (fault, f"pdu/{chance.choice('AB')}1/outlet{chance.randint(1, 6)}", {})


def _draw_fixed(fault: str, *targets: str) -> Draw:
    return lambda chance: (fault, chance.choice(targets), {})


_KINDS: tuple[Draw, ...] = (
    _on(_ups, "ups.battery_dead"),
    _on(_ups, "ups.battery_low", share=_share),
    _on(_ups, "ups.runtime_lie", seconds=lambda chance: round(chance.uniform(0.0, 5000.0))),
    _on(_ups, "ups.flag_stuck", flag=lambda chance: chance.choice(FLAGS)),
    _on(_ups, "ups.calibration"),
    _on(_ups, "ups.selftest"),
    _on(_ups, "ups.bypass"),
    _on(_ups, "ups.eco"),
    _on(_ups, "ups.inverter_fail"),
    _on(_ups, "ups.charger_fail"),
    _on(_ups, "ups.static_switch_fail"),
    _on(_ups, "device.silent"),
    _on(_ups, "device.stale"),
    _on(_ups, "device.slow", seconds=lambda chance: round(chance.uniform(0.1, 5.0), 1)),
    _on(_pdu, "pdu.silent"),
    _on(_pdu, "pdu.ack_no_action"),
    _on(_pdu, "pdu.garbled", crc=_share),
    _on(_line, "line.drop", frames=_share),
    _on(_line, "line.flip", share=lambda chance: round(chance.uniform(0.001, 0.1), 3)),
    _on(_line, "line.late", seconds=lambda chance: round(chance.uniform(0.05, 3.0), 2)),
    _on(_line, "line.stuck"),
    _on(lambda feed: f"breaker/{feed}1", "power.breaker_trip"),
    _draw_outlet("outlet.locked"),
    _draw_outlet("outlet.open"),
    _draw_fixed("job.rank_silent", "job/train/rank3", "job/train/rank12"),
    _draw_fixed("job.save_fails", "job/train"),
    _draw_fixed("job.save_hangs", "job/train"),
    _draw_fixed("device.silent", "n0/bmc", "n1/bmc"),
    _draw_fixed("device.refusing", "n0/bmc", "n1/bmc", "pdu/A1", "pdu/B1"),
    _draw_fixed("power.epo", "feed/A", "feed/B"),
)
_DAEMON: tuple[Draw, ...] = (_draw_fixed(KILL, "n0", "n1"), _draw_fixed(CUT, "n0", "n1"))


def draw_storm(seed: int) -> Storm:
    """The storm of a seed."""
    chance = Random(f"power storm {seed}")
    rack = chance.choice(RACKS)
    strikes = [strike for _ in range(chance.randint(LEAST, MOST)) for strike in _draw_strike(chance)]
    return Storm(seed, rack, tuple(sorted(strikes, key=lambda strike: (strike.at, strike.target))))


def _draw_strike(chance: Random) -> Iterator[Strike]:
    """Mains fail in nearly half of all cases, most often both inputs; a failure lasts from a blink to two minutes."""
    at = round(BEGINS + chance.uniform(0.0, STORM_S), 2)
    lasts = round(math.exp(chance.uniform(math.log(0.05), math.log(120.0))), 2)
    lot = chance.random()
    if lot < 0.45:
        depth = round(chance.choice((1.0, chance.uniform(0.03, 1.0))), 2)
        for name in chance.choice(("A", "B", "AB", "AB")):
            shift = round(chance.choice((0.0, chance.uniform(0.0, 10.0))), 2)
            yield Strike(at + shift, max(lasts - shift, 0.05), "power.input_sag", f"utility/{name}", {"depth": depth})
        return
    fault, target, how = chance.choice(_KINDS if lot < 0.9 else _DAEMON)(chance)
    yield Strike(at, max(lasts, 2.0) if fault == KILL else lasts * 2.0, fault, target, how)


def draw_outages(seed: int) -> Storm:
    """One to three outages of both inputs, most of them long, over batteries that do not last, with up to five other faults beside."""
    chance = Random(f"outages {seed}")
    strikes, begins = list[Strike](), BEGINS
    for _ in range(chance.randint(1, 3)):
        at = begins + chance.uniform(5.0, 35.0)
        lasts = chance.choice((chance.uniform(0.1, 2.0), chance.uniform(20.0, 90.0), chance.uniform(60.0, 240.0)))
        for name in "AB":
            shift, longer = chance.choice((0.0, chance.uniform(0.0, 8.0))), chance.choice((0.0, chance.uniform(0.0, 40.0)))
            strikes.append(Strike(round(at + shift, 2), round(lasts + longer, 2), "power.input_sag", f"utility/{name}", {"depth": 1.0}))
        begins = at + lasts + chance.uniform(5.0, 60.0)
    for _ in range(chance.randint(0, 5)):
        fault, target, how = chance.choice(_KINDS if chance.random() < 0.6 else _DAEMON)(chance)
        strikes.append(Strike(round(chance.uniform(BEGINS, begins), 2), round(chance.uniform(2.0, 60.0), 1), fault, target, how))
    return Storm(seed, chance.choice(RACKS[:3]), tuple(sorted(strikes, key=lambda strike: (strike.at, strike.target))))

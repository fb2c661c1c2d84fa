"""The things that a power plant is made of, each as it stands at a moment."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from sim_hardware.plant.power.orders import UpsMode

Shares = tuple[float, float, float]  # of the nominal voltage, on L1, L2, L3
Path = Literal["double", "direct", "battery", "none"]  # how a UPS's output is fed: through both converters, past them, ...
FULL: Shares = (1.0, 1.0, 1.0)
DEAD: Shares = (0.0, 0.0, 0.0)


class Utility(msgspec.Struct, frozen=True):
    """A utility input; bad or good since then."""

    hertz: float
    shares: Shares = FULL
    bad_since: float = math.inf
    good_since: float = -math.inf


class Generator(msgspec.Struct, frozen=True):
    """The generator; `due` is when its state changes next."""

    state: Literal["absent", "off", "starting", "running", "failed"] = "off"
    broken: bool = False
    due: float = math.inf


class Feed(msgspec.Struct, frozen=True):
    """A feed's transfer switch, and what comes through it."""

    source: Literal["utility", "generator"] = "utility"
    broken_until: float = -math.inf
    shares: Shares = FULL
    hertz: float = 50.0


class Ups(msgspec.Struct, frozen=True):
    """A UPS. `strain` of its inverter by overload: at 1 it stops, and does not start again before 0."""

    energy: float  # J in the battery
    mode: UpsMode = "normal"
    path: Path = "double"
    input_ok: bool = True
    good_since: float = -math.inf
    bad_since: float = math.inf
    flag: bool = False
    flag_at: float = math.inf
    output_ok: bool = True
    battery_since: float = math.inf  # on battery because of the input
    failed: frozenset[str] = frozenset()
    share: float = 1.0  # of the rated energy that the battery can hold
    low: bool = False
    strain: float = 0.0
    stopped: bool = False
    over: bool = False
    test: Literal["none", "selftest", "calibration"] = "none"
    test_until: float = math.inf
    test_result: Literal["none", "running", "passed", "failed", "aborted"] = "none"
    lie: float | None = None
    stuck: frozenset[str] = frozenset()
    added: Shares = DEAD  # W on each phase


class Pdu(msgspec.Struct, frozen=True):
    """A PDU and its breaker. `shed` is what its shed holds open now, `opened` what the last firing opened."""

    fed: bool = True
    off_at: float = math.inf  # its own electronics run until then
    on: bool = True
    restart: tuple[int, ...] = ()
    emergency: bool = False
    armed: bool = False
    group: tuple[int, ...] = ()
    lease_until: float = math.inf
    restore_s: float = 0.0
    flagged: bool = False
    flagged_at: float = math.inf
    fire_at: float = math.inf
    by_order: bool = False
    restore_at: float = math.inf
    shed: tuple[int, ...] = ()
    opened: tuple[int, ...] = ()
    event: Literal["none", "armed", "fired", "restored", "expired", "disarmed"] = "none"
    event_count: int = 0
    event_at: float | None = None
    shed_delay_ms: float | None = None
    closed: bool = True  # its breaker
    heat: float = 0.0
    short_at: float = math.inf  # when it opens for a short


class Timer(msgspec.Struct, frozen=True):
    """An outlet that opens or closes later."""

    at: float
    outlet: int
    close: bool
    who: str

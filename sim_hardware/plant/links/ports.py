"""What is known of one port: what was done to it, what its link is like, and what it has counted."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.links.coding import FLOOR
from sim_hardware.plant.links.optics import LANE_SPEED, LANES
from sim_hardware.plant.links.ramps import Ramp

TIMED, BORNE = 7 + LANES, 2  # counters that go with time, and with the bits that are carried (`tallying`)
NEWEST = 50  # changes of a link that are remembered, as a card does
DEGRADED = 1e-12  # L2

_MOMENT_S, _MOMENT = 1e-6, 1e-9  # s, and a share of a ramp: far more than floats err


class Override(msgspec.Struct, frozen=True):
    """Bit error rates as ordered, after correction and before it."""

    after: Ramp
    before: Ramp
    lifted: bool = False  # at the end of the ramp light and heat decide again


class Flapping(msgspec.Struct, frozen=True):
    """A link that goes down and up: `edge` of them have been."""

    begin: float
    period: float
    down_share: float
    times: int
    edge: int = 0

    @property
    def down(self) -> bool:
        """Whether it is down now."""
        return self.edge % 2 == 1

    @property
    def due(self) -> float:
        """When it next goes down or up."""
        return self.begin + (self.edge // 2 + self.edge % 2 * self.down_share) * self.period if self.edge < 2 * self.times else math.inf


class Faults(msgspec.Struct, frozen=True):
    """What was done to a port."""

    enabled: bool = True
    absent: bool = False
    loose: bool = False
    cut: bool = False
    decibels: float = 0.0
    aged: float = 0.0
    lanes: int = LANES
    override: Override | None = None
    flapping: Flapping | None = None


class Light(msgspec.Struct, frozen=True):
    """What a port receives, lane by lane: mW, bit error rate before correction; and the rate after it."""

    received: tuple[float, ...] = (0.0,) * LANES
    before: tuple[float, ...] = (0.0,) * LANES
    after: float = FLOOR


class Tally(msgspec.Struct, frozen=True):
    """What a port has counted until `since`: exactly what is certain, and of what chance decides, what was to be expected."""

    since: float = 0.0
    moved: float = 0.0  # what the sender had sent then, in seconds at full rate
    bits: float = 0.0
    timed: tuple[float, ...] = (0.0,) * TIMED
    borne: tuple[float, ...] = (0.0,) * BORNE
    ups: int = 0
    downs: int = 0
    recovered: int = 0  # trainings that ended well
    changes: tuple[tuple[float, str], ...] = ()  # newest first
    epoch: int = 0  # times it was cleared


class Port(msgspec.Struct, frozen=True):
    """A port at a time."""

    faults: Faults = Faults()
    up: bool = False
    physical: str = "Polling"
    degraded: bool = False
    light: Light = Light()
    width: int = LANES  # lanes in use, at both ends
    crowd: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # discards, CNPs, pauses received and sent, each a second
    tally: Tally = Tally()
    dropped: bool = False  # an unsteady link that is down just now
    drop_due: float = math.inf  # when it next drops, or comes back
    chance: int = 0

    @property
    def speed(self) -> float:
        """Gb/s of the lanes in use."""
        return self.width * LANE_SPEED


def find_after(port: Port, at: float) -> float:
    """The bit error rate after correction at a time."""
    return port.faults.override.after.at(at) if port.faults.override else port.light.after


def find_soon(port: Port, at: float) -> float:
    """The same a moment later, so that a rate that just crosses a limit is on the side to which it goes."""
    ramp = port.faults.override.after if port.faults.override else None
    return port.light.after if ramp is None else ramp.at(at + _MOMENT_S + (ramp.end - ramp.begin) * _MOMENT)


def find_before(port: Port, at: float) -> tuple[float, ...]:
    """The bit error rates of the lanes before correction at a time."""
    return raise_all(port, port.faults.override.before.at(at) if port.faults.override else 0.0)


def raise_all(port: Port, least: float) -> tuple[float, ...]:
    """The bit error rates of its lanes before correction, none of those in use below `least`."""
    if least <= 0.0 and port.width == LANES:
        return port.light.before
    return tuple([max(before, least) if lane < port.width else 0.0 for lane, before in enumerate(port.light.before)])


def note_change(tally: Tally, at: float, *, up: bool, trained: bool) -> Tally:
    """Count that the link went up, or down. `trained`: it came back by itself."""
    return msgspec.structs.replace(
        tally,
        ups=tally.ups + up,
        downs=tally.downs + (not up),
        recovered=tally.recovered + (up and trained),
        changes=((at, "UP" if up else "DOWN"), *tally.changes[: NEWEST - 1]),
    )

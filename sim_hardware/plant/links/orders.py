"""What can be done to links and switches. Subjects: `n0/card3/port0`, `n0/nic/mlx5_0`, `switch/s1/port12`, `cable/<a>--<b>`."""

from __future__ import annotations

from sim_hardware.plant.words import Order

# by devices that were told to, and by hands


class SetPort(Order, frozen=True):
    """Bring a port up or down."""

    port: str
    up: bool


class SetThresholds(Order, frozen=True):
    """A switch's buffer thresholds for priority 4, in bytes (N4, N5)."""

    switch: str
    pfc_bytes: float
    ecn_bytes: float
    ecn: bool = True


class MovePlug(Order, frozen=True):
    """Take the plug out of `source` and put it into `target`; what was there comes out and goes into `source`."""

    source: str
    target: str


class Reseat(Order, frozen=True):
    """Push a module home."""

    port: str


class ClearCounters(Order, frozen=True):
    """A port's counters begin again at zero, as `perfquery -R` and a new card make them."""

    port: str


# by faults; each is lifted by its other value


class Unplug(Order, frozen=True):
    """A port's module is out (`absent`) or not fully home (it is there, with low and unsteady power); neither is well."""

    port: str
    absent: bool = False
    loose: bool = False


class Bend(Order, frozen=True):
    """A cable is bent to this radius, mm; None is as laid. Below 30 mm it loses light (L7)."""

    cable: str
    radius_mm: float | None


class Attenuate(Order, frozen=True):
    """A port receives so many dB less; 0 is none."""

    port: str
    decibels: float


class SetErrorRate(Order, frozen=True):
    """The bit error rate after correction that a port receives; None is what light and heat make of it.

    With `over_s` it goes there along a straight line in log10, from what it is.
    """

    port: str
    rate: float | None
    over_s: float = 0.0


class AgeLaser(Order, frozen=True):
    """A port's laser has lost this share (0 to 0.95) of its power, and draws more current for it; 0 is none."""

    port: str
    share: float


class Flap(Order, frozen=True):
    """A link goes down and up with this period, s, down for `down_share` of it, so many times; period 0 is none."""

    port: str
    period_s: float
    down_share: float = 0.2
    times: int = 1_000_000


class CutLink(Order, frozen=True):
    """A link is down."""

    port: str
    cut: bool


class LoseLanes(Order, frozen=True):
    """A port runs on so many of its four lanes; 4 is all."""

    port: str
    lanes: int


class SlowHop(Order, frozen=True):
    """A cable's hop takes so many microseconds more; 0 is none."""

    cable: str
    microseconds: float


class Congest(Order, frozen=True):
    """Bursts on a switch: offered load as a share of its capacity; 0 is none."""

    switch: str
    share: float

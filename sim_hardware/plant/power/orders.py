"""What can be done to the power plant. Subjects: `utility/A`, `generator`, `ups/A`, `pdu/A1`, `pdu/A1/outlet7`, `breaker/A1`."""

from __future__ import annotations

from typing import Literal

from sim_hardware.plant.words import Order

UpsMode = Literal["normal", "eco", "bypass", "off"]


# by devices that were told to, and by hands


class SwitchOutlet(Order, frozen=True):
    """Open or close an outlet after `delay_s`. A locked outlet does not close."""

    pdu: str
    outlet: int
    on: bool
    delay_s: float = 0.0


class CycleOutlet(Order, frozen=True):
    """Open an outlet, and close it after `off_s`."""

    pdu: str
    outlet: int
    off_s: float = 5.0


class LockOutlet(Order, frozen=True):
    """Lock an outlet out, or take the lock away: it stays as it is until then."""

    pdu: str
    outlet: int
    locked: bool


class ArmShed(Order, frozen=True):
    """Arm the PDU to open `outlets` when both feeds are flagged, and to close what it opened after `restore_s`; armed for `lease_s`."""

    pdu: str
    outlets: tuple[int, ...]
    restore_s: float
    lease_s: float = 120.0


class DisarmShed(Order, frozen=True):
    """Disarm the PDU, and close what its shed has open."""

    pdu: str


class FireShed(Order, frozen=True):
    """Trigger the armed shed, as the broadcast does. A second trigger does not extend the timer of the first."""

    pdu: str


class SetUpsMode(Order, frozen=True):
    """On-line or line-interactive as built, ECO, bypass, or off."""

    ups: str
    mode: UpsMode


class StartTest(Order, frozen=True):
    """A battery self-test of some seconds, or a calibration, which discharges to the low-battery mark."""

    ups: str
    kind: Literal["selftest", "calibration"]


class StopTest(Order, frozen=True):
    """End either."""

    ups: str


class ResetBreaker(Order, frozen=True):
    """Close a breaker by hand. One that is still hot opens again."""

    breaker: str


class PressEmergencyOff(Order, frozen=True):
    """Press the emergency button of a feed (all its PDUs), or pull it out again; outlets stay off until then."""

    feed: str
    pressed: bool


# by faults; each is lifted by its other value


class Sag(Order, frozen=True):
    """A utility input loses `depth` (0 to 1) of its voltage on some phases; 0 is none."""

    utility: str
    depth: float
    phases: frozenset[str] = frozenset({"L1", "L2", "L3"})


class ShiftFrequency(Order, frozen=True):
    """A utility input's frequency, Hz; None is the nominal one. Further off than 2 Hz the input counts as lost."""

    utility: str
    hertz: float | None


class FailGenerator(Order, frozen=True):
    """The generator does not start, or stops."""

    failed: bool


class TripBreaker(Order, frozen=True):
    """Open a breaker as if by overload."""

    breaker: str


class FailUps(Order, frozen=True):
    """A part of a UPS fails: the battery string opens, the static transfer switch stays where it is, a battery cell leaks to earth ..."""

    ups: str
    part: Literal["battery", "inverter", "transfer", "earth", "charger"]
    failed: bool


class AgeBattery(Order, frozen=True):
    """The battery holds this share of its rated energy (1 is new)."""

    ups: str
    share: float


class LieRuntime(Order, frozen=True):
    """The UPS claims this many seconds of runtime, whatever it has; None lifts it."""

    ups: str
    seconds: float | None


class StickFlag(Order, frozen=True):
    """A status flag (`CAL`, `LB`, `FSD` ...) is told whether or not it is so."""

    ups: str
    flag: str
    stuck: bool


class SwapCords(Order, frozen=True):
    """Both cords of a node hang on one feed (the first of its feeds)."""

    node: str
    swapped: bool


class AddLoad(Order, frozen=True):
    """More load on one phase of a UPS, in watts; 0 is none."""

    ups: str
    phase: str
    watts: float

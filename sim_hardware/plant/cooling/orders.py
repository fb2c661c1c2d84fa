"""What can be done to the cooling plant. Subjects: `cdu/0`, `cdu/0/pump0`, `n0` (its branch), `n0/fan2`, `n0/card3`."""

from __future__ import annotations

from typing import Literal

from sim_hardware.plant.words import Order

Control = Literal["auto", "setpoint", "direct"]
FanControl = Literal["auto", "manual", "full"]


# by devices that were told to, and by hands


class SetControl(Order, frozen=True):
    """Who controls a CDU: its own PLC at its own setpoint (`auto`), the PLC at ours (`setpoint`), or we its valve and pumps (`direct`)."""

    cdu: str
    control: Control


class SetTemperature(Order, frozen=True):
    """The supply temperature that the PLC is to hold under `setpoint`, C. It never goes below the dew point plus its margin."""

    cdu: str
    celsius: float


class SetValve(Order, frozen=True):
    """The primary valve's commanded position under `direct`, %."""

    cdu: str
    percent: float


class SetPump(Order, frozen=True):
    """A pump's commanded speed under `direct`, %."""

    cdu: str
    pump: int
    percent: float


class SetPressure(Order, frozen=True):
    """The pressure difference that the pumps' own loop is to hold, kPa."""

    cdu: str
    kilopascals: float


class Beat(Order, frozen=True):
    """The heartbeat of whoever controls the CDU; without one within the watchdog's time it falls back to `auto`."""

    cdu: str


class SetWatchdog(Order, frozen=True):
    """The watchdog's time, s."""

    cdu: str
    seconds: float


class ClearLeak(Order, frozen=True):
    """Clear the sticky leak bits, as a person does after looking."""

    cdu: str


class CloseBranch(Order, frozen=True):
    """Close, or open, the coolant branch of a node."""

    node: str
    closed: bool


class SetFan(Order, frozen=True):
    """A fan's duty under `manual`, %."""

    node: str
    fan: int
    percent: float


class SetFanControl(Order, frozen=True):
    """Who controls a node's fans: the BMC (`auto`), we (`manual`), or nobody, at full speed (`full`)."""

    node: str
    control: FanControl


# by faults; each is lifted by its other value


class FailPump(Order, frozen=True):
    """A pump's drive trips. When it is well again it takes 20 s to reset and run up."""

    cdu: str
    pump: int
    failed: bool


class LoseRunSignal(Order, frozen=True):
    """A pump acknowledges its start and does not run."""

    cdu: str
    pump: int
    lost: bool


class StickValve(Order, frozen=True):
    """The valve stays at a position, %, whatever is commanded; None frees it."""

    cdu: str
    percent: float | None


class Leak(Order, frozen=True):
    """Coolant runs out, L/min, at a node's branch or at the CDU itself; 0 is none."""

    place: str
    litres_per_minute: float


class LosePrimary(Order, frozen=True):
    """No primary water."""

    cdu: str
    lost: bool


class ShiftPrimary(Order, frozen=True):
    """The primary water is so many kelvin warmer, and its pressure so many kPa higher; 0 and 0 is as designed."""

    cdu: str
    kelvin: float = 0.0
    kilopascals: float = 0.0


class Foul(Order, frozen=True):
    """The heat exchanger has lost this share (0 to 0.9) of its UA."""

    cdu: str
    share: float


class DrainLevel(Order, frozen=True):
    """Set the reservoir's level, %. Below 20 the pumps draw air."""

    cdu: str
    percent: float


class AdmitAir(Order, frozen=True):
    """This share (0 to 0.5) of the coolant is air."""

    cdu: str
    share: float


class Humidify(Order, frozen=True):
    """The dew point of the room, C."""

    celsius: float


class AddMaster(Order, frozen=True):
    """Somebody else writes this setpoint once a second, C; None ends it."""

    cdu: str
    celsius: float | None


class StopFan(Order, frozen=True):
    """A fan stops turning, or turns again."""

    node: str
    fan: int
    stopped: bool


class BlockFlow(Order, frozen=True):
    """A node's branch has lost this share (0 to 1) of its flow."""

    node: str
    share: float


class HeatSpot(Order, frozen=True):
    """A card's die stands so many kelvin higher over its coolant, reached with time constant `tau_s`; 0 is none."""

    card: str
    kelvin: float
    tau_s: float = 5.0


class FailDieSensor(Order, frozen=True):
    """One of a card's 128 die sensors shows this temperature, C; None is well."""

    card: str
    celsius: float | None

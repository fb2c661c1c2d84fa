"""What the card of a UPS keeps beside its sensors: settings, the timers of a shutdown, and since when an alarm stands."""

from __future__ import annotations

from sim_hardware.devices.shutdown import Shutdown
from sim_hardware.devices.snmp.cells import Setting
from sim_hardware.devices.snmp.front import Front, Gauges
from sim_hardware.devices.snmp.words import Oid, Unknown, number, text

TREE: Oid = (1, 3, 6, 1, 2, 1, 33, 1)  # upsObjects
PHASES = ("L1", "L2", "L3")
HOT_C = 40.0  # battery temperature of an alarm; ours
INPUT_BAND = 0.1  # of the nominal voltage, outside of which the input is bad

# upsWellKnownAlarms (RFC 1628)
BATTERY_BAD, ON_BATTERY, LOW_BATTERY, DEPLETED_BATTERY, TEMP_BAD, INPUT_BAD = 1, 2, 3, 4, 5, 6
OVERLOAD, ON_BYPASS, OUTPUT_OFF, FAULT, TEST_FAILED, COMMUNICATIONS_LOST = 8, 9, 14, 18, 19, 20
SHUTDOWN_PENDING, TEST_IN_PROGRESS = 22, 24
ALARMS = tuple(range(1, 25))
_FLAGS = {
    "RB": BATTERY_BAD,
    "OB": ON_BATTERY,
    "LB": LOW_BATTERY,
    "OVER": OVERLOAD,
    "BYPASS": ON_BYPASS,
    "OFF": OUTPUT_OFF,
    "CAL": TEST_IN_PROGRESS,
    "TEST": TEST_IN_PROGRESS,
}


class UpsCard:
    """The management card of one UPS."""

    def __init__(self, front: Front, ups: str, unknown: Unknown = "minus-one", shutdown: Shutdown | None = None) -> None:
        self.front, self.ups = front, ups
        self.gauges = Gauges(front, f"ups/{ups}", unknown)
        self.power = front.rack.sim.power
        self.phases = PHASES if self.power.ups.phases == 3 else ()
        self.shutdown = shutdown or Shutdown(front.panel, ups)
        self.name, self.attached = Setting(text(f"ups-{ups}"), most=63), Setting(text(""), most=63)
        self.shutdown_type, self.auto_restart = Setting(number(1), 1, 2), Setting(number(1), 1, 2)
        self.low_battery_minutes, self.audible = Setting(number(2)), Setting(number(2), 1, 3)
        self._since: dict[int, float] = {}

    def flags(self) -> frozenset[str]:
        """The status; nothing when unknown."""
        return self.gauges.flags("ups.status") or frozenset()

    def find_alarms(self) -> dict[int, float]:
        """The alarms that stand, by number, and since when the card has known."""
        now = self.front.now()
        self._since = {alarm: self._since.get(alarm, now) for alarm in sorted(self._look())}
        return self._since

    def _look(self) -> set[int]:
        flags, gauges = self.flags(), self.gauges
        alarms = {alarm for flag, alarm in _FLAGS.items() if flag in flags}
        if "ALARM" in flags and not alarms:
            alarms.add(FAULT)
        charge, celsius, volts = (gauges.measure(f"ups.{name}") for name in ("charge", "battery_temperature", "input_voltage"))
        nominal = self.power.volts
        found = {
            DEPLETED_BATTERY: "OB" in flags and charge is not None and charge <= 0.0,
            TEMP_BAD: celsius is not None and celsius > HOT_C,
            INPUT_BAD: volts is not None and abs(volts - nominal) > INPUT_BAND * nominal,
            TEST_FAILED: gauges.read("ups.test_result") == "failed",
            COMMUNICATIONS_LOST: self.front.impairment.stale,
            SHUTDOWN_PENDING: self.shutdown.off_at < float("inf"),
        }
        return alarms | {alarm for alarm, stands in found.items() if stands}

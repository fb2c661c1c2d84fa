"""Coolant, fans, air."""

from __future__ import annotations

from supernoded.quantities.shape import Quantity, celsius, share, text

# Of a unit, `cdu/0`, its pumps, `cdu/0/pump1`, and of a node and its branch, `n0`; fans are `n0/fan2`, what blows behind them `n0/air2`.
COOLING = (
    celsius("coolant.supply_temperature", -20.0, 110.0, 5.0),
    celsius("coolant.supply_temperature.2", -20.0, 110.0, 5.0),  # of a second transmitter in the same pipe
    celsius("coolant.return_temperature", -20.0, 110.0, 5.0),
    celsius("coolant.primary_temperature", -20.0, 110.0, 5.0),  # of the building's water
    Quantity("coolant.primary_pressure", "kPa", -100.0, 5000.0),
    Quantity("coolant.primary_flow", "L/min", 0.0, 50000.0),
    Quantity("coolant.flow", "L/min", -20000.0, 20000.0),
    Quantity("coolant.heat", "W", -1e7, 1e8),  # as the unit works it out
    share("coolant.valve"),  # where it stands
    share("coolant.valve_command"),  # where it was told to go
    share("coolant.pump_speed"),
    Quantity("coolant.pressure_difference", "kPa", -1000.0, 2000.0),
    Quantity("coolant.pressure_asked", "kPa", 0.0, 2000.0),
    Quantity("coolant.setpoint", "C", -20.0, 110.0),  # that it holds
    Quantity("coolant.setpoint_asked", "C", -20.0, 110.0),  # that was written last, by whomever
    text("coolant.control", "auto", "setpoint", "direct"),  # who steers: its own controller alone, the same at our setpoint, or we
    Quantity("coolant.yielded", "1", 0.0, 1.0),  # 1 = who steered it saw another hand on it, and has let go
    Quantity("coolant.fallback", "C", -20.0, 110.0),  # the setpoint that it goes back to by itself
    Quantity("coolant.watchdog_s", "s", 0.0, 1e5),
    Quantity("coolant.watchdog_left", "s", 0.0, 1e5),
    share("coolant.level"),
    Quantity("coolant.leak", "1", 0.0, 1.0),  # of each detector: `cdu/0`, `n0`
    Quantity("coolant.leak_sticky", "1", 0.0, 1.0),  # it was wet since a person last cleared it
    Quantity("coolant.branch", "1", 0.0, 1.0),  # of a node: 0 = its branch is closed
    Quantity("coolant.alarm", "flags"),  # in the unit's own words, small, with hyphens: `supply-sensor`, `sensor-fault-3`
    text("coolant.model"),
    text("coolant.serial"),
    share("pump.speed"),
    share("pump.command"),
    Quantity("pump.rpm", "rpm", 0.0, 60000.0),
    text("pump.state", "off", "starting", "running", "tripped", "resetting"),
    Quantity("fan.speed", "rpm", 0.0, 60000.0),
    share("fan.duty"),
    text("fan.control", "auto", "manual", "full"),  # of a node: its BMC, we, or nobody at full speed
    Quantity("air.flow", "m3/h", 0.0, 1e5),
    celsius("air.temperature", -40.0, 120.0, 5.0),
    celsius("air.dew_point", -60.0, 60.0, 2.0),
)

"""What can be set at a CDU."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sim_hardware.devices.redfish.cdu_parts import CDU
from sim_hardware.devices.redfish.controls import Authority, Control, Setpoint
from sim_hardware.plant.cooling import orders
from sim_hardware.plant.words import Order

_MODES: Mapping[str, orders.Control] = {"Automatic": "auto", "Override": "setpoint", "Manual": "direct"}


def list_controls(cdu: str, pumps: int) -> tuple[Control, ...]:
    """The Controls of a CDU with so many pumps. The ranges are ours; the plant itself judges more closely."""
    return (
        Authority("Authority", "Temperature", cdu, "coolant.control", _MODES, lambda mode: orders.SetControl(cdu, _MODES[mode])),
        Setpoint("SupplyTemperature", "Temperature", "Cel", 5.0, 45.0, cdu, "coolant.setpoint_asked", partial(orders.SetTemperature, cdu)),
        Setpoint("PressureDifference", "PressurekPa", "kPa", 0.0, 500.0, cdu, "coolant.pressure_asked", partial(orders.SetPressure, cdu)),
        Setpoint("Valve", "Valve", "%", 0.0, 100.0, cdu, "coolant.valve_command", partial(orders.SetValve, cdu)),
        *(_set_pump(cdu, pump) for pump in range(pumps)),
    )


def _set_pump(cdu: str, pump: int) -> Setpoint:
    subject = f"{cdu}/pump{pump}"
    return Setpoint(
        f"Pump{pump}", "Percent", "%", 0.0, 100.0, subject, "pump.command", partial(orders.SetPump, cdu, pump), f"{CDU}/Pumps/{pump}"
    )


def make_mode_orders(cdu: str, pumps: int, *, enabled: bool) -> tuple[Order, ...]:
    """What SetMode does: enabled is the CDU's own PLC; disabled, its pumps stand still, until the PLC's watchdog takes over again."""
    if enabled:
        return (orders.SetControl(cdu, "auto"),)
    return (orders.SetControl(cdu, "direct"), *(orders.SetPump(cdu, pump, 0.0) for pump in range(pumps)))

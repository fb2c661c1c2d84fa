"""Orders, each to its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from sim_hardware.plant.cooling import commands, faults, orders
from sim_hardware.plant.cooling.state import State
from sim_hardware.plant.words import Order, OrderError

_ANSWERS: Mapping[type[Order], Callable[[State, Any], State]] = MappingProxyType(
    {
        orders.SetControl: commands.set_control,
        orders.SetTemperature: commands.set_temperature,
        orders.SetValve: commands.set_valve,
        orders.SetPump: commands.set_pump,
        orders.SetPressure: commands.set_pressure,
        orders.Beat: commands.beat,
        orders.SetWatchdog: commands.set_watchdog,
        orders.ClearLeak: commands.clear_leak,
        orders.CloseBranch: commands.close_branch,
        orders.SetFan: commands.set_fan,
        orders.SetFanControl: commands.set_fan_control,
        orders.FailPump: faults.fail_pump,
        orders.LoseRunSignal: faults.lose_run_signal,
        orders.StickValve: faults.stick_valve,
        orders.Leak: faults.leak,
        orders.LosePrimary: faults.lose_primary,
        orders.ShiftPrimary: faults.shift_primary,
        orders.Foul: faults.foul,
        orders.DrainLevel: faults.drain_level,
        orders.AdmitAir: faults.admit_air,
        orders.Humidify: faults.humidify,
        orders.AddMaster: faults.add_master,
        orders.StopFan: faults.stop_fan,
        orders.BlockFlow: faults.block_flow,
        orders.HeatSpot: faults.heat_spot,
        orders.FailDieSensor: faults.fail_die_sensor,
    }
)


def apply(state: State, order: Order) -> State:
    """The state after an order, at the same moment; what it changes in temperatures and flows shows from the next substep on.

    Raises OrderError that names thing, value and limit.
    """
    answer = _ANSWERS.get(type(order))
    if answer is None:
        raise OrderError(
            f"{type(order).__name__}: cooling takes no such order; it takes {', '.join(sorted(kind.__name__ for kind in _ANSWERS))}"
        )
    return answer(replace(state, happened=()), order)

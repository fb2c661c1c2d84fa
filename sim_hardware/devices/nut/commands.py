"""The instant commands of the UPS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from sim_hardware.devices.nut.unit import Unit
from sim_hardware.plant.power.orders import SetUpsMode, StartTest, StopTest
from sim_hardware.plant.words import Order, OrderError

LONGEST_S = 100_000  # that a delay may be; ours


class ParameterError(Exception):
    """The parameter of a command cannot be used."""


class Command(msgspec.Struct, frozen=True):
    """What it is, and what it does with its parameter (None: without)."""

    text: str
    act: Callable[[Unit, str | None], None]


def perform(unit: Unit, command: str, parameter: str | None) -> str:
    """Do it; the word by which the driver tells of it."""
    try:
        COMMANDS[command].act(unit, parameter)
    except ParameterError:
        return "ERR INVALID-ARGUMENT"
    except OrderError:
        return "ERR FAILED"
    return "SUCCESS"


def _delay(unit: Unit, parameter: str | None, setting: str) -> float:
    """Seconds of the parameter, or of a setting."""
    text = unit.settings[setting] if parameter is None else parameter
    if not (text.isascii() and text.isdigit()) or len(text) > 6 or int(text) > LONGEST_S:
        raise ParameterError(f"{text!r} is no delay: a whole number of seconds up to {LONGEST_S}")
    return float(text)


def _order(make: Callable[[str], Order]) -> Callable[[Unit, str | None], None]:
    def act(unit: Unit, _: str | None) -> None:
        unit.panel.order(make(unit.ups))

    return act


def _beep(state: str) -> Callable[[Unit, str | None], None]:
    def act(unit: Unit, _: str | None) -> None:
        unit.settings["ups.beeper.status"] = state

    return act


def _toggle_beeper(unit: Unit, _: str | None) -> None:
    unit.settings["ups.beeper.status"] = "disabled" if unit.settings["ups.beeper.status"] == "enabled" else "enabled"


def _shut_down(unit: Unit, parameter: str | None, *, back: bool) -> None:
    unit.shutdown.start(_delay(unit, parameter, "ups.delay.shutdown"), _delay(unit, None, "ups.delay.start") if back else None)


def _start(unit: Unit, parameter: str | None) -> None:
    unit.shutdown.start_on(_delay(unit, parameter, "ups.delay.start"))


def _switch_on(unit: Unit, _: str | None) -> None:
    unit.shutdown.start_on(0.0)


def _switch_off(unit: Unit, _: str | None) -> None:
    unit.shutdown.start(0.0, None)


def _stop(unit: Unit, _: str | None) -> None:
    unit.shutdown.stop()


def _return(unit: Unit, parameter: str | None) -> None:
    _shut_down(unit, parameter, back=True)


def _stay_off(unit: Unit, parameter: str | None) -> None:
    _shut_down(unit, parameter, back=False)


def _start_selftest(ups: str) -> Order:
    return StartTest(ups=ups, kind="selftest")


def _start_calibration(ups: str) -> Order:
    return StartTest(ups=ups, kind="calibration")


def _start_bypass(ups: str) -> Order:
    return SetUpsMode(ups=ups, mode="bypass")


def _stop_bypass(ups: str) -> Order:
    return SetUpsMode(ups=ups, mode="normal")


def _stop_test(ups: str) -> Order:
    return StopTest(ups=ups)


COMMANDS: Mapping[str, Command] = {
    "beeper.disable": Command("Switch the beeper off", _beep("disabled")),
    "beeper.enable": Command("Switch the beeper on", _beep("enabled")),
    "beeper.mute": Command("Silence the beeper for this alarm", _beep("muted")),
    "beeper.toggle": Command("Switch the beeper over", _toggle_beeper),
    "bypass.start": Command("Carry the load on the bypass", _order(_start_bypass)),
    "bypass.stop": Command("Carry the load on the inverter again", _order(_stop_bypass)),
    "calibrate.start": Command("Begin a runtime calibration", _order(_start_calibration)),
    "calibrate.stop": Command("End the runtime calibration", _order(_stop_test)),
    "load.off": Command("Switch the output off now", _switch_off),
    "load.off.delay": Command("Switch the output off after some seconds", _stay_off),
    "load.on": Command("Switch the output on now", _switch_on),
    "load.on.delay": Command("Switch the output on after some seconds", _start),
    "shutdown.return": Command("Switch the output off, and on when the mains is there", _return),
    "shutdown.stayoff": Command("Switch the output off for good", _stay_off),
    "shutdown.stop": Command("Forget a shutdown that counts down", _stop),
    "test.battery.start": Command("Begin a test of the battery", _order(_start_selftest)),
    "test.battery.start.deep": Command("Begin a deep test of the battery", _order(_start_calibration)),
    "test.battery.start.quick": Command("Begin a quick test of the battery", _order(_start_selftest)),
    "test.battery.stop": Command("End the test of the battery", _order(_stop_test)),
}

"""Devices in the shapes in which drivers tell of them, as `.dev` files of `dummy-ups` that we have written, and what is odd in each.

Where a file says no status and no model, `dummy-ups` has words of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from supernoded.plugin import Value


class Device(NamedTuple):
    """`wanted` is by what of the device it is and quantity; whatever else it tells is compared with the file alone."""

    text: str
    wanted: dict[tuple[str, str], Value]


def _write_outlets(count: int, off: int) -> str:
    return "".join(
        f"outlet.{number}.id: {number}\noutlet.{number}.switchable: {'no' if number == 1 else 'yes'}\n"
        f"outlet.{number}.status: {'off' if number == off else 'on'}\noutlet.{number}.current: {0.0 if number == off else 0.4:.2f}\n"
        f"outlet.{number}.realpower: {0 if number == off else 90 + number}.00\noutlet.{number}.current.high.critical: 10.00\n"
        for number in range(1, count + 1)
    )


LINE_INTERACTIVE = """\
# A comment, as recordings begin with
ups.status: OL CHRG
ups.mfr: Acme
ups.model: Acme  Line 900
ups.power.nominal: 900
ups.load: 255
battery.charge: 98
battery.runtime: 640
battery.charge.low: 100
battery.temperature: -272
input.voltage: 231.2
input.voltage.nominal: 1
input.frequency: 049.9
#CMD:load.off
#CMD:beeper.mute
"""
ACROSS = """\
ups.status: OL
input.phases: 3
input.L1-L2.voltage: 393.0
input.L2-L3.voltage: 397.0
input.L3-L1.voltage: 390.0
input.voltage: 227.0
input.frequency: 000.0
output.L1.power: 30000.0
output.L2.power: 34000.0
output.L3.power: 33000.0
output.L2.power.percent: 088.0
battery.charge: 100.0
battery.charge.low: 120
battery.runtime: 1080.0
"""
EMPTY = """\
ups.status: OL RB ALARM
ups.alarm: Battery bad!
input.phases: 3.00
input.L1-N.voltage: 231.00
input.L2-N.voltage: 232.00
input.L3-N.voltage: 232.00
input.voltage.nominal: 399.00
output.phases: 3.00
output.L1.power.percent: 12.00
output.L2.power.percent: 19.00
output.L3.power.percent: 0.00
battery.charge: 0.00
battery.runtime: 0.00
"""
AT_ODDS = "ups.status: OL DISCHRG OB\t#B\nbattery.charge: 94.00\nbattery.runtime: -60.0\nups.L1.realpower: 86.00\n"
ALWAYS_FORCED = "ups.status: ALARM OL FSD\nups.alarm: Shutdown imminent!\nups.load: 0\nups.temperature: 0.0\nbattery.charge: 100\n"
NO_WORD = 'ups.status: ""\ndevice.type: ups\ninput.voltage: 230.0\nbattery.charge: 100\n'
BOARD = (
    "ups.status: OL CHRG\ndevice.type: HAT\nbattery.charge: 53.1\nbattery.temperature: -215\nbattery.charge.low: 25\ninput.voltage: 5.025\n"
)
TRANSFER = """\
device.type: ats
device.model: Acme Transfer 16
ups.model: Acme Transfer 16
ups.status: ""
input.source: 1
input.1.voltage: 229.6
input.2.voltage: 0.0
output.voltage: 229.4
output.current: 3.10
output.frequency: 50.0
"""
STRIP = """\
device.type: pdu
device.model: Acme Strip 24
ups.model: Acme Strip 24
ups.serial: S24
device.serial: S24
ups.status: ""
input.phases: 1.00
input.voltage: 239.58
input.current: 19.63
input.realpower: 4198.00
input.L1.current: 19.63
input.L2.realpower: 4198.00
input.current.nominal: 0.00
outlet.count: 24.00
outlet.current: 196.30
outlet.group.1.status: mixed
"""
THREE_PHASES = """\
device.type: pdu
ups.model: Acme Strip 3
input.phases: 3
input.L1-N.voltage: 229.0
input.L1.current: 4.0
input.L2.current: 65535
input.L3.current: 6.0
input.L1.realpower: 900
input.L2.realpower: 1000
input.L3.realpower: 1100
"""

UPSES = {
    "line": Device(
        LINE_INTERACTIVE,
        {
            ("", "ups.status"): frozenset({"ol", "chrg"}),
            ("", "ups.load"): None,
            ("", "ups.charge.low"): None,
            ("", "ups.battery_temperature"): None,
            ("", "ups.input_voltage.nominal"): None,
            ("", "ups.input_frequency"): 49.9,
            ("", "ups.rated_va"): 900.0,
            ("", "ups.model"): "Acme Line 900",
        },
    ),
    "across": Device(
        ACROSS,
        {
            ("", "ups.input_frequency"): None,
            ("", "ups.charge.low"): None,
            ("", "ups.output_va"): 97000.0,
            ("", "ups.load.L2"): 88.0,
            ("", "ups.input_voltage"): 227.0,
        },
    ),
    "empty": Device(
        EMPTY,
        {
            ("", "ups.status"): frozenset({"ol", "rb", "alarm"}),
            ("", "ups.charge"): 0.0,
            ("", "ups.runtime"): 0.0,
            ("", "ups.load"): 19.0,
            ("", "ups.input_voltage"): 231.0,
        },
    ),
    "odd": Device(AT_ODDS, {("", "ups.status"): frozenset({"ol", "ob", "dischrg"}), ("", "ups.runtime"): None, ("", "ups.charge"): 94.0}),
    "forced": Device(ALWAYS_FORCED, {("", "ups.status"): frozenset({"ol", "fsd", "alarm"}), ("", "ups.alarm"): "Shutdown imminent!"}),
    "mute": Device(NO_WORD, {("", "ups.status"): None, ("", "ups.charge"): 100.0}),
    "board": Device(BOARD, {("", "ups.battery_temperature"): None, ("", "ups.charge"): 53.1}),
    "switch": Device(TRANSFER, {("", "ups.status"): None, ("", "ups.output_voltage"): 229.4}),
}
PDUS = {
    "strip": Device(
        STRIP + _write_outlets(24, off=7),
        {
            ("", "pdu.power"): 4198.0,
            ("", "pdu.current"): 19.63,
            ("", "pdu.voltage"): 239.58,
            ("", "pdu.rated_current"): None,
            ("/outlet1", "outlet.locked"): 1.0,
            ("/outlet7", "outlet.state"): "off",
            ("/outlet7", "outlet.power"): 0.0,
            ("/outlet24", "outlet.state"): "on",
            ("/outlet24", "outlet.power"): 114.0,
        },
    ),
    "phases": Device(THREE_PHASES, {("", "pdu.power"): 3000.0, ("", "pdu.current.L2"): None, ("", "pdu.current.L3"): 6.0}),
    "transfer": Device(TRANSFER, {("", "pdu.model"): "Acme Transfer 16"}),
}

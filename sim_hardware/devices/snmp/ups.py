"""A UPS by RFC 1628, the UPS-MIB: its scalars. What a device does not know is -1, 0 or left out, as cards do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sim_hardware.devices.snmp.cells import constant, list_system
from sim_hardware.devices.snmp.mib import Cell
from sim_hardware.devices.snmp.ups_card import INPUT_BAND, TREE, UpsCard
from sim_hardware.devices.snmp.ups_control import list_control, list_test
from sim_hardware.devices.snmp.ups_tables import list_alarms, list_bypass, list_input, list_output
from sim_hardware.devices.snmp.words import Asn, number, text

_UNKNOWN, _NORMAL, _LOW, _DEPLETED = 1, 2, 3, 4  # upsBatteryStatus


def list_ups(card: UpsCard) -> Iterator[Cell]:
    """The system group, and of upsObjects what the plant has; without it are upsInputLineBads and upsBatteryCurrent."""
    yield from list_system(card.front, f"Simulated UPS of feed {card.ups}", (1, 3, 6, 1, 2, 1, 33), f"ups-{card.ups}")
    yield from _list_ident(card)
    yield from _list_battery(card)
    yield from list_input(card)
    yield from list_output(card)
    yield from list_bypass(card)
    yield from list_alarms(card)
    yield from list_test(card)
    yield from list_control(card)
    yield from _list_config(card)


def _list_ident(card: UpsCard) -> Iterator[Cell]:
    ident = (*TREE, 1)
    yield constant((*ident, 1, 0), text("Simulated"))
    yield Cell((*ident, 2, 0), partial(card.gauges.text, "ups.model"))
    yield Cell((*ident, 3, 0), partial(card.gauges.text, "ups.firmware"))
    yield constant((*ident, 4, 0), text("1"))
    yield card.name.cell((*ident, 5, 0))
    yield card.attached.cell((*ident, 6, 0))


def _list_battery(card: UpsCard) -> Iterator[Cell]:
    battery, show = (*TREE, 2), card.gauges.number
    yield Cell((*battery, 1, 0), partial(_find_battery_status, card))
    yield Cell((*battery, 2, 0), partial(show, "ups.on_battery_s"))
    yield Cell((*battery, 3, 0), partial(show, "ups.runtime", 1 / 60))
    yield Cell((*battery, 4, 0), partial(show, "ups.charge"))
    yield Cell((*battery, 5, 0), partial(show, "ups.battery_voltage", 10.0))
    yield Cell((*battery, 7, 0), partial(show, "ups.battery_temperature"))


def _find_battery_status(card: UpsCard) -> Asn:
    flags = card.gauges.flags("ups.status")
    if flags is None:
        return number(_UNKNOWN)
    charge = card.gauges.measure("ups.charge")
    if "OB" in flags and charge is not None and charge <= 0.0:
        return number(_DEPLETED)
    return number(_LOW if "LB" in flags else _NORMAL)


def _list_config(card: UpsCard) -> Iterator[Cell]:
    config, power, gauges = (*TREE, 9), card.power, card.gauges
    for column, value in (
        (1, power.volts),
        (2, power.hertz * 10.0),
        (3, power.volts),
        (4, power.hertz * 10.0),
        (9, power.volts * (1.0 - INPUT_BAND)),
        (10, power.volts * (1.0 + INPUT_BAND)),
    ):
        yield constant((*config, column, 0), number(round(value)))
    yield Cell((*config, 5, 0), partial(gauges.number, "ups.rated_va"))
    yield Cell((*config, 6, 0), partial(gauges.number, "ups.rated_power"))
    yield card.low_battery_minutes.cell((*config, 7, 0))
    yield card.audible.cell((*config, 8, 0))

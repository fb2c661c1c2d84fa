"""APC's newer tree of a rack PDU (PowerNet-MIB rPDU2, 318.1.1.26): `off(1) on(2)` to read, and `on(1) off(2)` to tell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sim_hardware.devices.snmp.cells import constant
from sim_hardware.devices.snmp.mib import Cell
from sim_hardware.devices.snmp.outlets import Command, Outlets
from sim_hardware.devices.snmp.pdu import APC, FIRMWARE, find_load_state, obey, show_pending, show_state
from sim_hardware.devices.snmp.words import Asn, number, text

TREE = (*APC, 1, 1, 26)
_OFF, _ON = 1, 2  # to read
_TOLD_ON, _TOLD_OFF, _TOLD_UNKNOWN = 1, 2, 4  # a command that is read back
_COMMANDS = {
    1: Command.ON,
    2: Command.OFF,
    3: Command.REBOOT,
    5: Command.DELAYED_ON,
    6: Command.DELAYED_OFF,
    7: Command.DELAYED_REBOOT,
    8: Command.CANCEL,
}
_LOAD_STATES = (2, 3, 4)  # normal, near overload, overload
_KILOWATT_HUNDREDTHS = 0.1  # of a watt


def list_pdu2(outlets: Outlets) -> Iterator[Cell]:
    """The tree; all rows are of module 1."""
    gauges = outlets.gauges
    ident, device = (*TREE, 2, 1), (*TREE, 4, 3, 1)
    for table in (ident, device):
        yield constant((*table, 1, 1), number(1))
        yield constant((*table, 2, 1), number(1))
        yield Cell((*table, 3, 1), lambda: outlets.name.value)
    yield constant((*ident, 4, 1), text(""))
    yield constant((*ident, 5, 1), text("1"))
    yield constant((*ident, 6, 1), text(FIRMWARE))
    yield Cell((*ident, 8, 1), partial(gauges.text, "pdu.model"))
    yield Cell((*ident, 9, 1), partial(gauges.text, "pdu.serial"))
    yield Cell((*device, 4, 1), lambda: number(find_load_state(outlets, _find_highest(outlets), _LOAD_STATES)))
    yield Cell((*device, 5, 1), partial(gauges.number, "pdu.power", _KILOWATT_HUNDREDTHS))
    for phase in (1, 2, 3):
        yield from _list_phase(outlets, phase)
    for outlet in outlets.plugs:
        yield from _list_outlet(outlets, outlet)


def _find_highest(outlets: Outlets) -> float | None:
    """The amperes of the phase with most."""
    known = [current for phase in (1, 2, 3) if (current := outlets.gauges.measure(f"pdu.current.L{phase}")) is not None]
    return max(known, default=None)


def _list_phase(outlets: Outlets, phase: int) -> Iterator[Cell]:
    row, gauges = (*TREE, 6, 3, 1), outlets.gauges
    current = f"pdu.current.L{phase}"

    def power() -> Asn | None:
        volts, amperes = gauges.measure("pdu.voltage"), gauges.measure(current)
        return gauges.show(None if volts is None or amperes is None else volts * amperes * _KILOWATT_HUNDREDTHS)

    yield constant((*row, 1, phase), number(phase))
    yield constant((*row, 2, phase), number(1))
    yield constant((*row, 3, phase), number(phase))
    yield Cell((*row, 4, phase), lambda: number(find_load_state(outlets, gauges.measure(current), _LOAD_STATES)))
    yield Cell((*row, 5, phase), partial(gauges.number, current, 10.0))
    yield Cell((*row, 6, phase), partial(gauges.number, "pdu.voltage"))
    yield Cell((*row, 7, phase), power)


def _list_outlet(outlets: Outlets, outlet: int) -> Iterator[Cell]:
    plug, branch = outlets.plugs[outlet], (*TREE, 9)
    config, status, control, metered = (*branch, 2, 1, 1), (*branch, 2, 3, 1), (*branch, 2, 4, 1), (*branch, 4, 3, 1)
    for table in (config, status, control, metered):
        yield constant((*table, 1, outlet), number(outlet))
        yield constant((*table, 2, outlet), number(1))
        yield constant((*table, 4, outlet), number(outlet))
    yield plug.name.cell((*config, 3, outlet))
    for table in (status, control, metered):
        yield Cell((*table, 3, outlet), lambda: plug.name.value)
    yield plug.on_time.cell((*config, 5, outlet))
    yield plug.off_time.cell((*config, 6, outlet))
    yield plug.reboot_time.cell((*config, 7, outlet))
    yield Cell((*status, 5, outlet), partial(show_state, outlets, outlet, _ON, _OFF, None))
    yield Cell((*status, 6, outlet), partial(show_pending, outlets, outlet))
    told = partial(show_state, outlets, outlet, _TOLD_ON, _TOLD_OFF, _TOLD_UNKNOWN)
    yield Cell((*control, 5, outlet), told, partial(obey, outlets, outlet, _COMMANDS))
    yield constant((*metered, 5, outlet), number(_ON))  # on whatever the relay does, as real ones say
    yield Cell((*metered, 6, outlet), partial(plug.gauges.number, "outlet.current", 10.0))
    yield Cell((*metered, 7, outlet), partial(plug.gauges.number, "outlet.power"))

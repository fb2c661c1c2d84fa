"""APC's older tree of a rack PDU (PowerNet-MIB rPDU, 318.1.1.12). Its outlets are `on(1) off(2)` to read and to tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sim_hardware.devices.snmp.cells import constant, list_system, ordering, take_whole
from sim_hardware.devices.snmp.mib import Cell, Commit, SetError, Status
from sim_hardware.devices.snmp.outlets import Command, Outlets
from sim_hardware.devices.snmp.words import Asn, number, text

APC = (1, 3, 6, 1, 4, 1, 318)
TREE = (*APC, 1, 1, 12)
_PRODUCT = (*APC, 1, 3, 4, 5)  # what NUT too knows as such a PDU
FIRMWARE = "v6.5.6"
RATING_A = 32.0  # of a common strip, where the breaker behind it is unknown
NEAR = 0.75  # of the rating, from which it is warned of; ours
_ON, _OFF = 1, 2
_COMMANDS = {
    1: Command.ON,
    2: Command.OFF,
    3: Command.REBOOT,
    4: Command.DELAYED_ON,
    5: Command.DELAYED_OFF,
    6: Command.DELAYED_REBOOT,
    7: Command.CANCEL,
}
_LOAD_STATES = (1, 3, 4)  # normal, near overload, overload


def list_pdu(outlets: Outlets) -> Iterator[Cell]:
    """The system group and the tree."""
    yield from list_system(outlets.panel, f"Simulated switched rack PDU {outlets.pdu}", _PRODUCT, f"pdu-{outlets.pdu}")
    yield from _list_ident(outlets)
    for phase in (1, 2, 3):
        yield from _list_phase(outlets, phase)
    for place, outlet in enumerate(outlets.plugs, start=1):
        yield from _list_outlet(outlets, outlet, place % 3 + 1)


def _list_ident(outlets: Outlets) -> Iterator[Cell]:
    ident, gauges = (*TREE, 1), outlets.gauges
    yield outlets.name.cell((*ident, 1, 0))
    yield constant((*ident, 2, 0), text("1"))
    yield constant((*ident, 3, 0), text(FIRMWARE))
    yield Cell((*ident, 5, 0), partial(gauges.text, "pdu.model"))
    yield Cell((*ident, 6, 0), partial(gauges.text, "pdu.serial"))
    yield Cell((*ident, 7, 0), lambda: number(round(find_rating(outlets))))
    yield constant((*ident, 8, 0), number(len(outlets.plugs)))
    yield constant((*ident, 9, 0), number(3))
    yield Cell((*ident, 15, 0), partial(gauges.number, "pdu.voltage"))
    yield Cell((*ident, 16, 0), partial(gauges.number, "pdu.power"))


def _list_phase(outlets: Outlets, phase: int) -> Iterator[Cell]:
    row, gauges = (*TREE, 2, 3, 1, 1), outlets.gauges
    current = f"pdu.current.L{phase}"
    yield constant((*row, 1, phase), number(phase))
    yield Cell((*row, 2, phase), partial(gauges.number, current, 10.0, "gauge"))
    yield Cell((*row, 3, phase), lambda: number(find_load_state(outlets, gauges.measure(current), _LOAD_STATES)))
    yield constant((*row, 4, phase), number(phase))
    yield constant((*row, 5, phase), number(0))


def find_rating(outlets: Outlets) -> float:
    """Amperes of each phase: those of its breaker."""
    return outlets.gauges.measure("pdu.rated_current") or RATING_A


def find_load_state(outlets: Outlets, amperes: float | None, states: tuple[int, int, int]) -> int:
    """Normal, near overload or overload; normal too when nobody knows, as with a card that has just started."""
    rating = find_rating(outlets)
    if amperes is None or amperes < NEAR * rating:
        return states[0]
    return states[1] if amperes < rating else states[2]


def show_state(outlets: Outlets, outlet: int, on: int, off: int, unknown: int | None) -> Asn | None:
    """The state of an outlet in the numbers of a tree."""
    state = outlets.is_on(outlet)
    shown = unknown if state is None else on if state else off
    return None if shown is None else number(shown)


def show_pending(outlets: Outlets, outlet: int) -> Asn:
    """`1` while a command waits, else `2`: the same in both trees."""
    return number(1 if outlets.is_pending(outlet) else 2)


def obey(outlets: Outlets, outlet: int, commands: Mapping[int, Command], value: Asn) -> Commit:
    """The commit of a command in the numbers of a tree. Raises SetError."""
    command = commands.get(take_whole(value, min(commands), max(commands)))
    if command is None:
        raise SetError(Status.WRONG_VALUE)
    return ordering(partial(outlets.tell, outlet, command))


def _list_outlet(outlets: Outlets, outlet: int, phase: int) -> Iterator[Cell]:
    plug, branch = outlets.plugs[outlet], (*TREE, 3)
    read = partial(show_state, outlets, outlet, _ON, _OFF, None)
    control, config, status = (*branch, 3, 1, 1), (*branch, 4, 1, 1), (*branch, 5, 1, 1)
    for table in (control, config, status):
        yield constant((*table, 1, outlet), number(outlet))
        yield constant((*table, 3, outlet), number(phase))
    yield Cell((*control, 2, outlet), lambda: plug.name.value)
    yield Cell((*control, 4, outlet), read, partial(obey, outlets, outlet, _COMMANDS))
    yield constant((*control, 5, outlet), number(1))
    yield plug.name.cell((*config, 2, outlet))
    yield plug.on_time.cell((*config, 4, outlet))
    yield plug.off_time.cell((*config, 5, outlet))
    yield plug.reboot_time.cell((*config, 6, outlet))
    yield constant((*config, 7, outlet), number(1))
    yield Cell((*status, 2, outlet), lambda: plug.name.value)
    yield Cell((*status, 4, outlet), read)
    yield Cell((*status, 5, outlet), partial(show_pending, outlets, outlet))
    yield constant((*status, 6, outlet), number(1))

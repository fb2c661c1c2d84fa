"""The tables of the UPS-MIB: lines of input, output and bypass, and alarms, whose table grows and shrinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sim_hardware.devices.snmp.cells import constant
from sim_hardware.devices.snmp.mib import Cell
from sim_hardware.devices.snmp.ups_card import ALARMS, TREE, UpsCard
from sim_hardware.devices.snmp.words import Asn, number, ticks

# upsOutputSource
_OTHER, _NONE, _SOURCE_NORMAL, _BYPASS, _BATTERY, _BOOSTER, _REDUCER = range(1, 8)
_SOURCES = (("OFF", _NONE), ("BYPASS", _BYPASS), ("OB", _BATTERY), ("BOOST", _BOOSTER), ("TRIM", _REDUCER), ("OL", _SOURCE_NORMAL))


def list_input(card: UpsCard) -> Iterator[Cell]:
    """Lines, with frequency and voltage; current and power have no sensor and are unknown."""
    group, show = (*TREE, 3), card.gauges.number
    yield constant((*group, 2, 0), number(len(card.phases) or 1))
    for line, volts in _list_lines(card, "ups.input_voltage"):
        row = (*group, 3, 1)
        yield Cell((*row, 2, line), partial(show, "ups.input_frequency", 10.0))
        yield Cell((*row, 3, line), partial(show, volts))
        for column in (4, 5):
            yield Cell((*row, column, line), partial(card.gauges.show, None))


def _list_lines(card: UpsCard, quantity: str) -> list[tuple[int, str]]:
    """The lines, from 1, and the quantity of each."""
    return [(line, f"{quantity}.{phase}") for line, phase in enumerate(card.phases, start=1)] or [(1, quantity)]


def list_output(card: UpsCard) -> Iterator[Cell]:
    """Source, frequency and lines. The whole load is shared out to the lines by their percentages."""
    group = (*TREE, 4)
    yield Cell((*group, 1, 0), lambda: number(_find_source(card)))
    yield Cell((*group, 2, 0), lambda: card.gauges.show(_find_frequency(card)))
    yield constant((*group, 3, 0), number(len(card.phases) or 1))
    for line, load in _list_lines(card, "ups.load"):
        row = (*group, 4, 1)
        yield Cell((*row, 2, line), partial(card.gauges.number, "ups.output_voltage"))
        yield Cell((*row, 3, line), _share(card, load, _find_current))
        yield Cell((*row, 4, line), _share(card, load, _find_power))
        yield Cell((*row, 5, line), partial(card.gauges.number, load))


def _find_source(card: UpsCard) -> int:
    flags = card.flags()
    return next((source for flag, source in _SOURCES if flag in flags), _OTHER)


def _find_frequency(card: UpsCard) -> float | None:
    """Tenths of a hertz: the inverter's own, the input's on bypass, none when off."""
    source = _find_source(card)
    if source == _BYPASS:
        hertz = card.gauges.measure("ups.input_frequency")
        return None if hertz is None else hertz * 10.0
    return None if source == _OTHER else 0.0 if source == _NONE else card.power.hertz * 10.0


def _find_power(card: UpsCard) -> float | None:
    return card.gauges.measure("ups.output_power")


def _find_current(card: UpsCard) -> float | None:
    """Tenths of an ampere, if all were on one line."""
    volts, voltamperes = card.gauges.measure("ups.output_voltage"), card.gauges.measure("ups.output_va")
    if volts is None or voltamperes is None:
        return None
    return voltamperes / volts * 10.0 if volts > 1.0 else 0.0


def _share(card: UpsCard, load: str, whole: Callable[[UpsCard], float | None]) -> Callable[[], Asn | None]:
    def read() -> Asn | None:
        all_of_it, percent = whole(card), card.gauges.measure(load)
        percents = [card.gauges.measure(quantity) or 0.0 for _, quantity in _list_lines(card, "ups.load")]
        if all_of_it is None or percent is None:
            return card.gauges.show(None)
        return card.gauges.show(all_of_it * percent / sum(percents) if sum(percents) > 0.0 else 0.0)

    return read


def list_bypass(card: UpsCard) -> Iterator[Cell]:
    """The bypass hangs on the input."""
    group, show = (*TREE, 5), card.gauges.number
    yield Cell((*group, 1, 0), partial(show, "ups.input_frequency", 10.0))
    yield constant((*group, 2, 0), number(len(card.phases) or 1))
    for line, volts in _list_lines(card, "ups.input_voltage"):
        yield Cell((*group, 3, 1, 2, line), partial(show, volts))


def list_alarms(card: UpsCard) -> Iterator[Cell]:
    """One row for each alarm that stands; its number is that of the well-known alarm."""
    group = (*TREE, 6)

    def describe(alarm: int) -> Asn | None:
        return Asn("oid", (*group, 3, alarm)) if alarm in card.find_alarms() else None

    def date(alarm: int) -> Asn | None:
        since = card.find_alarms().get(alarm)
        return None if since is None else ticks(since)

    yield Cell((*group, 1, 0), lambda: number(len(card.find_alarms()), "gauge"))
    for alarm in ALARMS:
        yield Cell((*group, 2, 1, 2, alarm), partial(describe, alarm))
        yield Cell((*group, 2, 1, 3, alarm), partial(date, alarm))

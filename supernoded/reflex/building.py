"""Settings become a bridge."""

from __future__ import annotations

import logging
from collections.abc import Callable

from supernoded.reflex.bridge import Bridge, Shed
from supernoded.reflex.deciding import Flag, Trip
from supernoded.reflex.frames import build_shed
from supernoded.reflex.lending import Lending
from supernoded.reflex.line import OwnedLine
from supernoded.reflex.looks import ContactLook, RegisterLook
from supernoded.reflex.opening import Opener
from supernoded.reflex.port import Port, SerialPort
from supernoded.reflex.record import Firing
from supernoded.settings.reflex import Reflex, ReflexLine, Trigger


def build_bridge(
    reflex: Reflex, took: Callable[[Firing], None], log: logging.Logger, open_port: Callable[[ReflexLine], Port] = SerialPort
) -> Bridge:
    """Everything in its place; nothing is open yet. The settings have been found consistent."""
    lines = {line.name: OwnedLine(line, reflex.scheduling_ms / 1e3) for line in reflex.lines}
    frames = {frame.line: build_shed(frame) for frame in reflex.frames}
    flags = [_make_flag(trigger, reflex) for trigger in reflex.triggers]
    pairs = list(zip(reflex.triggers, flags, strict=True))
    return Bridge(
        lines=list(lines.values()),
        registers=[RegisterLook(one, lines[one.line], flag) for one, flag in pairs if one.contact is None],
        contacts=[ContactLook(one, lines[one.line], flag) for one, flag in pairs if one.contact is not None],
        trip=Trip(flags, reflex.deadline_ms / 1e3, reflex.refractory_s),
        sheds=[Shed(lines[name], frame) for name, frame in frames.items()],
        lendings=[Lending(line, frames.get(name)) for name, line in lines.items()],
        opener=Opener(open_port, log),
        took=took,
        log=log,
    )


def _make_flag(trigger: Trigger, reflex: Reflex) -> Flag:
    """A look is good for as long as the whole may take: what is older may have changed meanwhile."""
    debounce = trigger.debounce_ms / 1e3 if trigger.contact is not None else 0.0
    return Flag(trigger.frames, debounce, reflex.deadline_ms / 1e3)

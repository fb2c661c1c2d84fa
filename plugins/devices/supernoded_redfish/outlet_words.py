"""What outlets and PDUs say, and how an outlet wants to be told (Outlet, PowerDistribution and Circuit of DSP0268). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from supernoded.plugin import OutletSight, Reading, Value, judge_drawing, make_reading
from supernoded_redfish.paths import read_link, read_number, read_text, walk_mappings

ACTION, PARAMETER = "#Outlet.PowerControl", "PowerState"
STATES: Mapping[str, str] = {"On": "on", "Off": "off"}  # PoweringOn and PoweringOff are neither
METERS = ("PowerWatts", "CurrentAmps")
_LINES = ("Line1", "Line2", "Line3")


class Command(NamedTuple):
    """How an outlet is told. `states` empty = the service tells them elsewhere, at `info`, or not at all."""

    target: str
    states: tuple[str, ...]
    info: str


def read_command(outlet: Mapping[str, object]) -> Command | None:
    """As the outlet itself says; None when it cannot be switched."""
    actions = outlet.get("Actions")
    action = actions.get(ACTION) if isinstance(actions, Mapping) else None
    target = read_text(action.get("target")) if isinstance(action, Mapping) else None
    if target is None or not isinstance(action, Mapping):
        return None
    info = action.get("@Redfish.ActionInfo")
    return Command(
        target, _list_texts(action.get(f"{PARAMETER}@Redfish.AllowableValues")), info if isinstance(info, str) else read_link(info)
    )


def read_states(info: Mapping[str, object]) -> tuple[str, ...]:
    """The allowable states out of an ActionInfo."""
    for parameter in walk_mappings(info.get("Parameters")):
        if parameter.get("Name") == PARAMETER:
            return _list_texts(parameter.get("AllowableValues"))
    return ()


def _list_texts(values: object) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def is_locked(outlet: Mapping[str, object]) -> bool:
    """Whether it says that nobody may switch it."""
    return outlet.get("PowerControlLocked") is True


def look_at(outlet: Mapping[str, object]) -> OutletSight:
    """State and current."""
    state = outlet.get("PowerState")
    watts, amperes = (read_number(outlet.get(meter)) for meter in METERS)
    metered = any(meter in outlet for meter in METERS)
    known = STATES.get(state) if isinstance(state, str) else None
    notes = [
        "" if known else f"PowerState is {_show(state)}",
        "" if not metered or watts is not None or amperes is not None else "its meters have no number",
    ]
    return OutletSight(state=known, drawing=judge_drawing(watts, amperes), metered=metered, note="; ".join(filter(None, notes)))


def tell_outlet(outlet: Mapping[str, object], subject: str, at: float) -> Iterator[Reading]:
    """Its readings."""
    state = outlet.get("PowerState")
    known = STATES.get(state) if isinstance(state, str) else None
    yield make_reading(subject, "outlet.state", known, "text", at, "" if known else f"PowerState is {_show(state)}")
    for key, quantity, unit in (("PowerWatts", "outlet.power", "W"), ("CurrentAmps", "outlet.current", "A")):
        if key in outlet:
            yield _tell(outlet, key, subject, quantity, unit, at)
    locked = outlet.get("PowerControlLocked")
    if isinstance(locked, bool):
        yield make_reading(subject, "outlet.locked", float(locked), "1", at)


def tell_pdu(
    pdu: Mapping[str, object], metrics: Mapping[str, object], mains: Mapping[str, object], subject: str, at: float
) -> Iterator[Reading]:
    """The readings of the whole: its metrics, and its first mains circuit."""
    yield _tell(metrics if "PowerWatts" in metrics else mains, "PowerWatts", subject, "pdu.power", "W", at)
    volts = mains.get("PolyPhaseVoltage")
    phased = volts.get("Line1ToNeutral") if isinstance(volts, Mapping) else None
    yield _tell({"Voltage": mains.get("Voltage") or phased}, "Voltage", subject, "pdu.voltage", "V", at)
    yield _tell(mains, "CurrentAmps", subject, "pdu.current", "A", at)
    amperes = mains.get("PolyPhaseCurrentAmps")
    for number, line in enumerate(_LINES, start=1):
        if isinstance(amperes, Mapping) and line in amperes:
            yield _tell(amperes, line, subject, f"pdu.current.L{number}", "A", at)
    if read_number(mains.get("RatedCurrentAmps")) is not None:
        yield _tell(mains, "RatedCurrentAmps", subject, "pdu.rated_current", "A", at)
    for key, quantity in (("Model", "pdu.model"), ("SerialNumber", "pdu.serial")):
        text: Value = read_text(pdu.get(key))
        yield make_reading(subject, quantity, text, "text", at, "" if text else f"{key} is {_show(pdu.get(key))}")


def _tell(body: Mapping[str, object], key: str, subject: str, quantity: str, unit: str, at: float) -> Reading:
    number = read_number(body.get(key))
    return make_reading(subject, quantity, number, unit, at, "" if number is not None else f"{key} is {_show(body.get(key))}")


def _show(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("Reading")
    return "missing" if value is None else repr(value)[:40] if isinstance(value, str | int | float) else type(value).__name__

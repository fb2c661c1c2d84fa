"""Faults of serial lines, and of a PDU on one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any, Literal

from sim_hardware.bus.faults import LineFaults
from sim_hardware.devices.modbus import SerialDevice
from sim_hardware.faults.kind import WIRE, Kind, Nothing, Parameters, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.talking import Talk, any_talk, ask_nonsense, ask_serial, find_line, list_units
from sim_hardware.plant.words import OrderError

_WELL = LineFaults()
_LATE_LIMIT_S = 0.7  # later answers are not waited for

Which = Annotated[int, about("id of the unit; 0 is all that are there", "1", 0, 247)]


class Dropped(Parameters, frozen=True):
    """Of what is lost."""

    frames: Annotated[float, about("share of answers that are never said", "1", 0.0, 1.0)] = 0.5
    characters: Annotated[float, about("share of bytes that are lost on the wire", "1", 0.0, 1.0)] = 0.0


class Flipped(Parameters, frozen=True):
    """Of flipped bits."""

    share: Annotated[float, about("share of bytes with a flipped bit", "1", 0.001, 1.0)] = 0.05


class Gap(Parameters, frozen=True):
    """Of split answers."""

    seconds: Annotated[float, about("gap within an answer", "s", 0.02, 5.0)] = 0.05


class Share(Parameters, frozen=True):
    """Of answers."""

    share: Annotated[float, about("share of answers that it befalls", "1", 0.02, 1.0)] = 1.0


class Lateness(Parameters, frozen=True):
    """Of late answers."""

    seconds: Annotated[float, about("so much later", "s", 0.02, 60.0)] = 0.2
    share: Annotated[float, about("share of answers that are late", "1", 0.02, 1.0)] = 1.0


class OneUnit(Parameters, frozen=True):
    """Of units."""

    unit: Which = 0


class Stuck(Parameters, frozen=True):
    """Of a driver that does not let go."""

    how: Annotated[Literal["held", "babble"], about("the line is held and nothing passes, or noise passes without end", "text")] = "held"


class Adapter(Parameters, frozen=True):
    """Of a USB adapter."""

    milliseconds: Annotated[float, about("latency timer", "ms", 1.0, 255.0)] = 16.0


class GarbledPdu(Parameters, frozen=True):
    """Of a PDU that answers wrongly."""

    crc: Annotated[float, about("share of answers with a changed byte", "1", 0.0, 1.0)] = 0.5
    wrong_unit: Annotated[bool, about("answers carry the next unit's id", "flag")] = False
    late_s: Annotated[float, about("answers of its line come so much later", "s", 0.0, 60.0)] = 0.0
    echo: Annotated[bool, about("masters of its line hear themselves", "flag")] = False


def _change(**faults: Any) -> Callable[[Place], None]:
    def change(place: Place) -> None:
        line = find_line(place)
        line.faults = replace(line.faults, **faults)

    return change


def _units(place: Place, unit: int) -> frozenset[int]:
    return frozenset({unit}) if unit else frozenset(device.number for device in list_units(place))


def _choose(place: Place, parameters: Any) -> list[SerialDevice]:
    unit = getattr(parameters, "unit", 0)
    return [device for device in list_units(place) if not unit or device.number == unit]


# what an exchange shows


def _shows_loss(talk: Talk, _: Dropped) -> bool:
    """Bytes said and not heard, or no answer at all."""
    answered = any(piece.talker.startswith("unit ") for piece in talk.pieces)
    return not answered or any(len(piece.data) < len(piece.said) for piece in talk.pieces)


def _shows_flips(talk: Talk, _: Flipped) -> bool:
    return any(len(piece.data) == len(piece.said) and piece.data != piece.said for piece in talk.pieces)


def _shows_gap(talk: Talk, parameters: Gap) -> bool:
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(talk.chunks)]
    return talk.is_good and max(gaps, default=0.0) > parameters.seconds / 2.0


def _shows_double(talk: Talk, _: Share) -> bool:
    half = len(talk.heard) // 2
    return half > 0 and talk.heard[:half] == talk.heard[half:]


def _shows_late(talk: Talk, parameters: Lateness) -> bool:
    """A good answer that is late; one that is later than we wait does not come."""
    if parameters.seconds > _LATE_LIMIT_S:
        return not talk.heard
    return talk.is_good and talk.chunks[0][0] - talk.begun > 0.9 * parameters.seconds


def _shows_silence(talk: Talk, _: OneUnit) -> bool:
    return not talk.heard


def _shows_other_unit(talk: Talk, _: OneUnit) -> bool:
    """An answer that begins with another id; who has that id may answer in turn."""
    return talk.heard[1:2] == talk.request[1:2] and talk.heard[0] != talk.unit


def _shows_twins(talk: Talk, _: OneUnit) -> bool:
    """Two talk at once where one was asked."""
    spans = sorted((piece.start, piece.end, piece.talker) for piece in talk.pieces if piece.talker.startswith("unit "))
    return any(later[0] < earlier[1] and later[2] != earlier[2] for earlier, later in pairwise(spans))


def _shows_stuck(talk: Talk, parameters: Stuck) -> bool:
    """Nothing passes, not even our own words; or noise that nobody asked for."""
    if parameters.how == "held":
        return bool(talk.pieces) and not any(piece.data for piece in talk.pieces)
    return len(talk.heard) > 256


def _shows_bare(talk: Talk, _: Share) -> bool:
    """An exception that ends without CRC."""
    return talk.answer is None and len(talk.heard) == 3 and talk.heard[:2] == bytes((talk.unit, talk.request[1] | 0x80))


def _describe(
    name: str,
    text: str,
    parameters: type[Parameters],
    faults: Callable[[Place, Any], dict[str, Any]],
    shows: Callable[[Talk, Any], bool],
    ask: Callable[[SerialDevice], bytes] = ask_serial,
    tries: int = 1,
) -> Kind[Any]:
    """A fault of a line: the fields of its table, and what an exchange shows of it."""

    def lift(place: Place, given: Any) -> None:
        _change(**{field: getattr(_WELL, field) for field in faults(place, given)})(place)

    async def probe(place: Place, given: Any) -> bool:
        devices = _choose(place, given)[:1]
        wait_s = 0.3 if name != "line.late" else min(given.seconds, _LATE_LIMIT_S) + 0.3
        return await any_talk(devices, ask, lambda talk: shows(talk, given), tries, min(wait_s, 0.8))

    return Kind(
        kind=name,
        text=text,
        parameters=parameters,
        targets=("line",),
        inject=lambda place, given: _change(**faults(place, given))(place),
        lift=lift,
        probe=probe,
        layers=WIRE,
        shows_within=5.0,
    )


def _pdu(place: Place) -> SerialDevice:
    device = place.rig.find_device(place.target)
    if not isinstance(device, SerialDevice):
        raise OrderError(f"{place.target}: is on no line")
    return device


def _garble(place: Place, parameters: GarbledPdu) -> None:
    device = _pdu(place)
    others = device.line.faults.wrong_unit - {device.number}
    wrong = others | {device.number} if parameters.wrong_unit else others
    device.impairment.garbled = parameters.crc
    device.line.faults = replace(device.line.faults, wrong_unit=wrong, late_s=parameters.late_s, echo=parameters.echo)


def _ungarble(place: Place, _: GarbledPdu) -> None:
    _garble(place, GarbledPdu(crc=0.0))


async def _see_garbled(place: Place, parameters: GarbledPdu) -> bool:
    """One of several exchanges that is not good, late, or echoed."""
    wait_s = min(0.3 + parameters.late_s, 0.8)
    return await any_talk([_pdu(place)], ask_serial, lambda talk: not talk.is_good or talk.echoed or _is_late(talk, parameters), 10, wait_s)


def _is_late(talk: Talk, parameters: GarbledPdu) -> bool:
    return parameters.late_s > 0.0 and talk.chunks[0][0] - talk.begun > 0.9 * parameters.late_s


def _drop(_: Place, parameters: Dropped) -> dict[str, Any]:
    return {"drop_frames": parameters.frames, "drop_bytes": parameters.characters}


KINDS: tuple[Kind[Any], ...] = (
    _describe("line.echo", "A master hears what it says itself.", Nothing, lambda *_: {"echo": True}, lambda talk, _: talk.echoed),
    _describe("line.drop", "Answers, or bytes, are lost.", Dropped, _drop, _shows_loss, tries=6),
    _describe("line.flip", "Bits are flipped on the wire.", Flipped, lambda _, it: {"flip": it.share}, _shows_flips, tries=12),
    _describe("line.split", "Answers come in two pieces.", Gap, lambda _, it: {"split_s": it.seconds}, _shows_gap),
    _describe("line.duplicate", "Answers are said twice.", Share, lambda _, it: {"duplicate": it.share}, _shows_double, tries=6),
    _describe(
        "line.late",
        "Answers come late, whole and correct.",
        Lateness,
        lambda _, it: {"late_s": it.seconds, "late_share": it.share},
        _shows_late,
    ),
    _describe("line.silence", "Units answer nothing.", OneUnit, lambda place, it: {"silent": _units(place, it.unit)}, _shows_silence),
    _describe(
        "line.wrong_unit",
        "Units answer under the next id.",
        OneUnit,
        lambda place, it: {"wrong_unit": _units(place, it.unit)},
        _shows_other_unit,
    ),
    _describe("line.twins", "Two units have one id.", OneUnit, lambda place, it: {"twins": _units(place, it.unit)}, _shows_twins),
    _describe("line.stuck", "A driver does not let go of the line.", Stuck, lambda _, it: {"stuck": it.how}, _shows_stuck),
    _describe(
        "line.usb",
        "The USB adapter hands on what it hears in bursts.",
        Adapter,
        lambda _, it: {"usb_ms": it.milliseconds},
        lambda talk, _: talk.bursts > 0,
    ),
    _describe(
        "line.no_crc",
        "Exceptions are answered without CRC.",
        Share,
        lambda _, it: {"no_crc": it.share},
        _shows_bare,
        ask_nonsense,
        tries=6,
    ),
    Kind(
        kind="pdu.garbled",
        text="A PDU answers wrongly on its line: changed bytes, another unit's id, too late, or behind an echo.",
        parameters=GarbledPdu,
        targets=("pdu",),
        inject=_garble,
        lift=_ungarble,
        probe=_see_garbled,
        takes_out=False,
        layers=WIRE,
        shows_within=5.0,
    ),
)

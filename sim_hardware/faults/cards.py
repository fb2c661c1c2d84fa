"""Faults of cards."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import combine, differs, hangs, sees
from sim_hardware.faults.views import card_page, card_sensor, require_on, tool_number, tool_row
from sim_hardware.plant.cards import orders

_ECC = ("-t", "ecc")
_USAGES = ("-t", "usages")


class EccStorm(Parameters, frozen=True):
    """Of memory errors."""

    corrected_per_s: Annotated[float, about("corrected errors a second", "1/s", 0.0, 100_000.0)] = 50.0
    uncorrectable: Annotated[int, about("uncorrectable errors that it has had", "1", 0, 100_000)] = 0


class Slowness(Parameters, frozen=True):
    """Of a straggler."""

    percent: Annotated[float, about("so much slower", "%", 5.0, 95.0)] = 30.0


class Code(Parameters, frozen=True):
    """Of a health code."""

    code: Annotated[str, Meta(pattern="^[0-9A-F]{8}$", description="the health code", extra={"unit": "text"})] = "80E01801"


class MemoryLeak(Parameters, frozen=True):
    """Of a process."""

    bytes_per_s: Annotated[float, about("so much more memory is in use each second", "B/s", 1e6, 1e11)] = 2e9


class NewCard(Parameters, frozen=True):
    """Of a card in a slot."""

    serial: Annotated[
        str, Meta(pattern="^[!-~]{0,32}$", description="its serial number; empty: made from the old one's", extra={"unit": "text"})
    ] = ""


async def _see_storm(place: Place, parameters: EccStorm) -> bool:
    """Counters of corrected errors move, or uncorrectable ones are there."""
    double = await tool_number("HBM Double Bit Error Count", *_ECC)(place)
    single = await tool_number("HBM Single Bit Error Count", *_ECC)(place)
    before = place.replace("single", single)
    rises = before is not None and single > before
    return rises if not parameters.uncorrectable else double >= parameters.uncorrectable


_busy = combine(*(tool_number("Aicore Usage Rate(%)", *_USAGES, further=further) for further in (0, 1, 2)))


def _is_straggling(usages: tuple[float, ...], parameters: Slowness) -> bool:
    """It is busy while two others of its node wait for it."""
    own, *others = usages
    return own - max(others) > 0.5 * parameters.percent


def _raise_code(place: Place, parameters: Code) -> None:
    _clear_code(place, parameters)
    place.replace("code", parameters.code)
    place.order(orders.RaiseCode(place.target, parameters.code, present=True))


def _clear_code(place: Place, _: Code) -> None:
    code = place.recall("code")
    place.forget("code")
    if code:
        place.order(orders.RaiseCode(place.target, code, present=False))


def _shows_code(conditions: object, parameters: Code) -> bool:
    return isinstance(conditions, list) and any(parameters.code in one.get("MessageArgs", ()) for one in conditions)


def _swap(place: Place, parameters: NewCard) -> None:
    old = place.remember("serial", f"{place.rig.world.truth(place.target, 'card.serial')}")
    new = parameters.serial or f"{old}-{place.target.replace('/', '-')}"
    if place.rig.world.truth(place.target, "card.serial") != new:
        place.order(orders.ReplaceCard(place.target, new))


def _swap_back(place: Place, _: NewCard) -> None:
    old = place.recall("serial")
    place.forget("serial")
    if old:
        place.order(orders.ReplaceCard(place.target, old))


def _has_other_serial(before: object, now: object, parameters: NewCard) -> bool:
    return now is not None and now != before and parameters.serial in ("", now)


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="card.ecc_storm",
        text="A card corrects many memory errors a second, and has had uncorrectable ones.",
        parameters=EccStorm,
        targets=("card",),
        inject=give(lambda place, it: orders.StormEcc(place.target, it.corrected_per_s, it.uncorrectable)),
        lift=lift(lambda place: orders.StormEcc(place.target)),
        probe=_see_storm,
        takes_out=False,
    ),
    Kind(
        kind="card.hang",
        text="A card answers no query and computes nothing.",
        parameters=Nothing,
        targets=("card",),
        inject=give(lambda place, _: orders.HangCard(place.target, hung=True)),
        lift=lift(lambda place: orders.HangCard(place.target, hung=False)),
        probe=hangs(tool_row("NPU Temperature (C)", "-t", "temp"), require_on),
        shows_within=4.0,
    ),
    Kind(
        kind="card.fell_off_bus",
        text="A card has fallen off its bus.",
        parameters=Nothing,
        targets=("card",),
        inject=give(lambda place, _: orders.FallOff(place.target, off=True)),
        lift=lift(lambda place: orders.FallOff(place.target, off=False)),
        probe=sees(card_page("Status", "State"), lambda state, _: state == "Absent"),
    ),
    Kind(
        kind="card.straggler",
        text="A card computes slower, and its peers wait for it.",
        parameters=Slowness,
        targets=("card",),
        inject=give(lambda place, parameters: orders.SlowCard(place.target, parameters.percent)),
        lift=lift(lambda place: orders.SlowCard(place.target, 0.0)),
        probe=sees(_busy, _is_straggling),
        takes_out=False,
    ),
    Kind(
        kind="card.code",
        text="A card shows a health code.",
        parameters=Code,
        targets=("card",),
        inject=_raise_code,
        lift=_clear_code,
        probe=sees(card_page("Status", "Conditions"), _shows_code),
        takes_out=False,
        danger="telemetry",
    ),
    Kind(
        kind="card.power_brake",
        text="The power brake of a card holds its clock at 30 %, as after an input that was out of range.",
        parameters=Nothing,
        targets=("card",),
        inject=give(lambda place, _: orders.BrakePower(place.target, on=True)),
        lift=lift(lambda place: orders.BrakePower(place.target, on=False)),
        probe=differs(card_sensor("Power"), lambda before, now, _: now < before / 2.0),
        takes_out=False,
    ),
    Kind(
        kind="card.memory_leak",
        text="A process on a card takes more memory every second.",
        parameters=MemoryLeak,
        targets=("card",),
        inject=give(lambda place, parameters: orders.LeakMemory(place.target, parameters.bytes_per_s)),
        lift=lift(lambda place: orders.LeakMemory(place.target, 0.0)),
        probe=differs(tool_number("HBM Usage Rate(%)", *_USAGES), lambda before, now, _: now > before + 1.0),
        takes_out=False,
    ),
    Kind(
        kind="card.swap",
        text="Another card is in a slot; ended, the old one is put back.",
        parameters=NewCard,
        targets=("card",),
        inject=_swap,
        lift=_swap_back,
        probe=differs(card_page("SerialNumber"), _has_other_serial),
        danger="physical",
    ),
)
